"""What an impact did: velocities just before and just after a cable came to its length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from skyrig.flight.flight import Flight, FlightEvent, Impact
from skyrig.turns import turn

NEAR = 1e-6
"""Distance in time of the samples from which one-sided limits are drawn (s)."""
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


def impacts(
    rig: Any, events: Sequence[Any], until: float, fly_at: Callable[[np.ndarray], Any]
) -> tuple[Impact, ...]:
    """The impacts among `events` that have a moment of quiet on either side, the first hundred at most.

    Args:
        rig: A `Slung` rig.
        events: Those of a roll-out.
        until: When the roll-out ends (s).
        fly_at: The same roll-out again, reported at the times it is given. Limits from either side are drawn
            from two samples a microsecond apart, which leaves an error of about 1e-12 of the acceleration.
    """
    times = np.array([event.time for event in events])
    hits = []
    for event in events:
        quiet = np.sum(np.abs(times - event.time) < 3 * NEAR) <= sum(event.time == times)
        if event.kind == "impact" and quiet and 2 * NEAR < event.time < until - 2 * NEAR:
            hits.append(event)
    hits = hits[:MOST]
    if not hits:
        return ()
    offsets = NEAR * np.array([-2, -1, 1, 2])
    flown = fly_at(np.concatenate([event.time + offsets for event in hits]))
    masses = np.asarray(rig.mass), float(rig.payload_mass)
    return tuple(_impact(rig, event, flown, slice(4 * k, 4 * k + 4), masses) for k, event in enumerate(hits))


def _impact(rig: Any, event: Any, flown: Any, rows: slice, masses: tuple[np.ndarray, float]) -> Impact:
    k = event.cable
    payload, vehicles = flown.payload, flown.vehicles
    arm = np.asarray(rig.attachment)[:, k]
    hook = np.zeros(3) if rig.hook is None else np.asarray(rig.hook)[:, k]
    end, end_velocity = _point(payload, rows, (), arm)
    start, start_velocity = _point(vehicles, rows, (k,), hook)
    xi = _limits(end - start)
    xi = xi / np.linalg.norm(xi, axis=1, keepdims=True)
    relative = _limits(end_velocity - start_velocity)
    along = np.einsum("ti,ti->t", relative, xi)
    across = np.linalg.norm(relative - along[:, None] * xi, axis=1)
    payload_velocity = _limits(np.asarray(payload.velocity)[rows])
    velocities = _limits(np.asarray(vehicles.velocity)[rows])
    return Impact(
        time=float(event.time),
        cable=int(k),
        impulse=float(event.impulse),
        along=along,
        across=across,
        payload_velocity=payload_velocity,
        vehicle_velocity=velocities[:, k],
        momentum=masses[1] * payload_velocity + np.einsum("k,tki->ti", masses[0], velocities),
    )


def _point(
    bodies: Any, rows: slice, which: tuple[int, ...], arm: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity of a point fixed to a body, at the given rows."""
    place = (rows, *which)
    position, velocity, attitude, rate = (
        np.asarray(leaf)[place] for leaf in (bodies.position, bodies.velocity, bodies.attitude, bodies.rate)
    )
    return position + turn(attitude, arm), velocity + turn(attitude, np.cross(rate, arm))


def _limits(samples: np.ndarray) -> np.ndarray:
    """Values just before and just after, from samples at -2, -1, 1 and 2 small steps."""
    return np.stack([2 * samples[1] - samples[0], 2 * samples[2] - samples[3]])
