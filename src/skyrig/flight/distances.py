"""How close things come: vehicles to each other, cables to vehicles that are not their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyrig.flight.flight import Flight
from skyrig.turns import turn


@dataclass(frozen=True)
class Closest:
    """The closest approach of two things."""

    distance: float
    """Between their surfaces (m); below zero they would have touched."""
    time: float
    """When (s)."""
    first: int
    """A vehicle, or the cable."""
    second: int
    """The (other) vehicle."""


def vehicles(flight: Flight) -> Closest | None:
    """Closest approach of two vehicles, each a ball of its radius with propellers; None for one vehicle."""
    place, radius = flight.vehicles.position, flight.rig.vehicle_radius
    found: Closest | None = None
    for j in range(flight.rig.count):
        for k in range(j + 1, flight.rig.count):
            apart = np.linalg.norm(place[:, j] - place[:, k], axis=1) - radius[j] - radius[k]
            found = _closer(found, apart, flight.times, j, k)
    return found


def cables(flight: Flight) -> Closest | None:
    """Closest approach of a cable, straight from hook to attachment, to a vehicle that it does not hang on.

    A cut cable counts no more from when it was cut. None for one vehicle and for rigid links.
    """
    if flight.rig.mechanism != "cables":
        return None
    start, end = cable_ends(flight)
    severed = {event.cable: event.time for event in flight.events if event.kind == "cut"}
    found: Closest | None = None
    for j in range(flight.rig.count):
        there = flight.times < severed.get(j, np.inf)
        for k in range(flight.rig.count):
            if k == j or not there.any():
                continue
            apart = to_segment(flight.vehicles.position[:, k], start[:, j], end[:, j])
            surface = np.where(there, apart - flight.rig.vehicle_radius[k], np.inf)
            found = _closer(found, surface, flight.times, j, k)
    return found


def cable_ends(flight: Flight) -> tuple[np.ndarray, np.ndarray]:
    """Hooks and attachments in the world, (T, n, 3) each (m)."""
    hooks = flight.vehicles.position + turn(flight.vehicles.attitude, flight.rig.hooks)
    payload = flight.payload
    ends = payload.position[:, None] + turn(payload.attitude[:, None], flight.rig.attachments[None])
    return hooks, ends


def to_segment(point: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Distance from points to segments, (T,) (m)."""
    along = end - start
    size = np.einsum("ti,ti->t", along, along)
    share = np.einsum("ti,ti->t", point - start, along) / np.maximum(size, 1e-300)
    nearest = start + np.clip(share, 0.0, 1.0)[:, None] * along
    return np.linalg.norm(point - nearest, axis=1)


def _closer(found: Closest | None, apart: np.ndarray, times: np.ndarray, j: int, k: int) -> Closest:
    row = int(np.argmin(apart))
    if found is None or apart[row] < found.distance:
        return Closest(float(apart[row]), float(times[row]), j, k)
    return found
