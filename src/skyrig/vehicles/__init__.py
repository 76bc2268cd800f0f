"""Vehicles and payloads as data: mass, inertia, rotors, limits, attachments. Free of JAX."""

from skyrig.vehicles.airframe import Airframe, airframe, airframe_names
from skyrig.vehicles.payload import Payload, payload, payload_names
from skyrig.vehicles.shapes import Ball, Box, Cylinder, Polyhedron, Prism, Shape

__all__ = [
    "Airframe",
    "Ball",
    "Box",
    "Cylinder",
    "Payload",
    "Polyhedron",
    "Prism",
    "Shape",
    "airframe",
    "airframe_names",
    "payload",
    "payload_names",
]
