"""What impacts did: velocities just before and just after cables came to their lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyrig.flight.flight import Flight, FlightEvent, Impact
from skyrig.turns import turn

MOST = 100
LEAST_CHANGE = 0.01
"""Impacts that change the payload's speed by less than this are left out of tables and plots (m/s)."""
AROUND = 0.1
"""How far the picture of the hardest impact goes to either side of it (s)."""


def least_impulse(flight: Flight) -> float:
    """The smallest impulse of an impact that tables and plots show (N s)."""
    return LEAST_CHANGE * flight.rig.payload_mass


def shown_impacts(flight: Flight) -> tuple[list[Impact], int]:
    """The impacts that tables show, in order of time, and how many are too small for them."""
    least = least_impulse(flight)
    large = [impact for impact in flight.impacts if impact.impulse >= least]
    return large, len(flight.impacts) - len(large)


def shown_events(flight: Flight) -> tuple[list[FlightEvent], int]:
    """The events without impacts that are too small for tables, and how many these are."""
    least = least_impulse(flight)
    found = [event for event in flight.events if event.kind != "impact" or event.impulse >= least]
    return found, len(flight.events) - len(found)


def hardest(flight: Flight) -> Impact | None:
    """The impact with the largest impulse of those that tables show; None without any."""
    return max(shown_impacts(flight)[0], key=lambda it: it.impulse, default=None)


def impacts(rig: Any, flown: Any) -> tuple[Impact, ...]:
    """The first hundred impacts of a flight, from both sides of each jump as its log has them.

    Args:
        rig: What was flown.
        flown: With `events` and a `log` that kept both sides of every reset.
    """
    hits = [event for event in flown.events if event.kind == "impact" and event.owner == "cable"][:MOST]
    return tuple(_impact(rig, event, flown.log.sides) for event in hits)


def _impact(rig: Any, event: Any, sides: Any) -> Impact:
    k, row = event.index, event.row
    hook = np.zeros(3) if rig.hook is None else np.asarray(rig.hook)[:, k]
    bodies = [{group: _rows(it, row) for group, it in side.items()} for side in (sides.before, sides.after)]
    ends = [_point(side["payload"], 0, np.asarray(rig.attachment)[:, k]) for side in bodies]
    hooks = [_point(side["vehicles"], k, hook) for side in bodies]
    xi = np.stack([end[0] - start[0] for end, start in zip(ends, hooks, strict=True)])
    xi = xi / np.linalg.norm(xi, axis=1, keepdims=True)
    relative = np.stack([end[1] - start[1] for end, start in zip(ends, hooks, strict=True)])
    along = np.einsum("ti,ti->t", relative, xi)
    across = np.linalg.norm(relative - along[:, None] * xi, axis=1)
    load = np.stack([side["payload"][1][0] for side in bodies])
    velocities = np.stack([side["vehicles"][1] for side in bodies])
    masses = np.asarray(rig.mass), float(rig.payload_mass)
    return Impact(
        time=float(event.time),
        cable=int(k),
        impulse=float(event.value),
        along=along,
        across=across,
        payload_velocity=load,
        vehicle_velocity=velocities[:, k],
        momentum=masses[1] * load + np.einsum("k,tki->ti", masses[0], velocities),
    )


def _rows(bodies: Any, row: int) -> tuple[np.ndarray, ...]:
    """Position, velocity, attitude and rate of a group at a row of the log, bodies first."""
    leaves = (bodies.position, bodies.velocity, bodies.attitude, bodies.rate)
    return tuple(np.asarray(leaf)[row].T for leaf in leaves)


def _point(bodies: tuple[np.ndarray, ...], which: int, arm: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity of a point fixed to a body."""
    position, velocity, attitude, rate = (leaf[which] for leaf in bodies)
    return position + turn(attitude, arm), velocity + turn(attitude, np.cross(rate, arm))
