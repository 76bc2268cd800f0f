"""Which points of vehicles and payloads may touch something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from skyrig.scenario.mechanisms import RigParts
    from skyrig.vehicles import Airframe, Payload

MOST_SIDES = 8
"""Of a round or many-sided payload that may touch, at each face."""


def payload_points(load: Payload) -> tuple[np.ndarray, float, int]:
    """Corners (p, 3), radius of the ball around each (m), and how many of them stand on a floor at once."""
    if load.is_point:
        return np.zeros((1, 3)), float(getattr(load.shape, "radius", 0.0)), 1
    corners = np.asarray(load.shape.corners)
    half = len(corners) // 2
    if half > MOST_SIDES and not half % MOST_SIDES:
        corners = corners[:: half // MOST_SIDES]
    elif half > MOST_SIDES:
        keep = np.unique(np.linspace(0, half, MOST_SIDES, endpoint=False).astype(int))
        corners = np.concatenate([corners[:half][keep], corners[half:][keep]])
    return corners, 0.0, len(corners) // 2


def vehicle_points(frame: Airframe) -> tuple[np.ndarray, float, int]:
    """Feet below the rotors, then the outermost points of the propellers; as `payload_points`."""
    height = frame.height or 0.05
    hubs = frame.rotor_positions
    feet = np.stack([hubs[:, 0], hubs[:, 1], np.full(len(hubs), -height / 2)], axis=1)
    reach = np.linalg.norm(hubs[:, :2], axis=1)[:, None]
    tips = hubs.copy()
    tips[:, :2] *= 1 + (frame.rotor_radius or 0.0) / np.maximum(reach, 1e-9)
    tips[:, 2] += height / 2
    return np.concatenate([feet, tips]), 0.0, len(hubs)


def hulls_of(parts: RigParts) -> dict[str, Any]:
    """The hulls of all bodies, by group."""
    from skyrig.algebra import as_jax
    from skyrig.elements.contact import DAMPING, SPEED, Hull
    from skyrig.elements.points import Points

    every = {group: [(it.mass, *payload_points(it)) for it in them] for group, them in parts.loads.items()}
    every["vehicles"] = [(it.mass, *vehicle_points(it)) for it in parts.airframes]
    found = {}
    for group, them in every.items():
        body = [k for k, (_, points, _, _) in enumerate(them) for _ in points]
        arms = np.concatenate([points for _, points, _, _ in them])
        rows = np.array(
            [
                (radius, mass * SPEED**2 / count, 2 * DAMPING * SPEED * mass / count)
                for mass, points, radius, count in them
                for _ in points
            ]
        ).T
        reach = [radius + np.linalg.norm(points, axis=1).max() for _, points, radius, _ in them]
        numbers = (*(row.copy() for row in rows), np.array(reach))
        found[group] = Hull(Points.of(group, body, arms), *(as_jax(each) for each in numbers))
    return found
