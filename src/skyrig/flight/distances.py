"""How close things come: vehicles to each other, cables to vehicles that are not their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyrig.flight.flight import Flight
from skyrig.flight.records import TEAM

Closest = dict[str, Any]
"""The distance between two surfaces (m), below zero where they would have touched, when, and whose."""


def closest(flight: Flight) -> dict[str, Closest | None]:
    """The closest approaches of a flight, as its metrics hold them."""
    return {"closest_vehicles": _vehicles(flight), "closest_cable": _cable(flight)}


def _vehicles(flight: Flight) -> Closest | None:
    """Closest approach of two vehicles, each a ball of its radius with propellers; None for one vehicle."""
    place, radius = flight.vehicles.position, flight.rig.vehicle_radius
    found: Closest | None = None
    for j in range(flight.rig.count):
        for k in range(j + 1, flight.rig.count):
            apart = np.linalg.norm(place[:, j] - place[:, k], axis=1) - radius[j] - radius[k]
            found = _closer(found, apart, flight.times, j, k)
    return found


def _cable(flight: Flight) -> Closest | None:
    """Closest approach of a cable (or another tether), taken as straight, to a vehicle it does not hang on.

    A cut cable counts no more from when it was cut. None for one vehicle and where there are no tethers.
    """
    severed = flight.rig.severed(flight.events)
    radius = flight.rig.vehicle_radius
    found: Closest | None = None
    for j, tether in enumerate(flight.rig.tethers):
        there = flight.times < severed.get(j, np.inf)
        own = {end.index for end in (tether.start, tether.end) if end.group == TEAM}
        others = [k for k in range(flight.rig.count) if k not in own]
        if not there.any() or not others:
            continue
        (start, _), (end, _) = tether_ends(flight, j)
        for k in others:
            apart = to_segment(flight.vehicles.position[:, k], start, end)
            surface = np.where(there, apart - radius[k], np.inf)
            found = _closer(found, surface, flight.times, j, k)
    return found


Motion = tuple[np.ndarray, np.ndarray]
"""Position (T, 3) (m) and velocity (T, 3) (m/s) of a point."""


def tether_ends(flight: Flight, number: int) -> tuple[Motion, Motion]:
    """How both ends of a tether move in the world: of a cable the hook, then the attachment."""
    tether = flight.rig.tethers[number]
    start, end = (flight.bodies[it.group].one(it.index).point(it.point) for it in (tether.start, tether.end))
    return start, end


def to_segment(point: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Distance from points to segments, (T,) (m)."""
    along = end - start
    size = np.einsum("ti,ti->t", along, along)
    share = np.einsum("ti,ti->t", point - start, along) / np.maximum(size, 1e-300)
    nearest = start + np.clip(share, 0.0, 1.0)[:, None] * along
    return np.linalg.norm(point - nearest, axis=1)


def _closer(found: Closest | None, apart: np.ndarray, times: np.ndarray, j: int, k: int) -> Closest:
    row = int(np.argmin(apart))
    if found is None or apart[row] < found["distance"]:
        return {"distance": float(apart[row]), "time": float(times[row]), "pair": [j, k]}
    return found
