"""What an impact did, to the last digit: both sides of the jump, drawn from the same inputs flown again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import skyrig
from skyrig.flight import Flight
from skyrig.flight.distances import tether_ends
from skyrig.runs.assembly import track
from skyrig.scenario import Scenario
from skyrig.turns import turn

NEAR = 1e-6
"""Distance in time of the samples from which one-sided limits are drawn (s)."""
MOST = 4
"""Impacts of a flight that are looked at."""


@dataclass(frozen=True)
class Jolt:
    """One cable's impact; pairs are just before and just after."""

    time: float
    """When (s)."""
    cable: int
    """Which cable, counted from 0."""
    impulse: float
    """Along the cable (N s)."""
    along: tuple[float, float]
    """Speed of the cable's ends apart (m/s)."""
    across: tuple[float, float]
    """Their speed against each other across the cable (m/s)."""
    across_jump: float
    """Size of the jump in their relative velocity across the cable (m/s)."""
    vehicle_across_jump: float
    """Size of the jump in the vehicle's velocity across the cable (m/s)."""
    across_unexplained: float
    """What is left of that jump (m/s) when the blows that the vehicles felt are dealt to a free payload."""
    momentum_jump: float
    """Size of the jump in the momentum of payload and vehicles together (kg m/s)."""


@dataclass(frozen=True)
class Series:
    """The ends of one cable over time; an impact has two rows, before and after."""

    time: np.ndarray
    """(T,) s."""
    distance: np.ndarray
    """(T,) between the ends (m)."""
    along: np.ndarray
    """(T,) speed apart (m/s)."""
    across: np.ndarray
    """(T,) speed against each other across the cable (m/s)."""
    length: float
    """Of the cable (m)."""


def jolts(flight: Flight, known: Scenario) -> tuple[Jolt, ...]:
    """The first few impacts of a flight whose inputs alone act on the rig, pokes aside."""
    if not flight.impacts:
        return ()
    built, inputs = known.build(), flight.inputs
    hits = flight.impacts[:MOST]
    flown = skyrig.rollout(
        built.rig,
        built.state,
        np.append(inputs.times, flight.times[-1]),
        inputs.thrust,
        inputs.moment,
        happenings=built.happenings,
        at=np.concatenate([hit.time + NEAR * np.array([-2, -1, 1, 2]) for hit in hits]),
        step=built.step,
        max_events=4096,
    )
    found = []
    for row, hit in enumerate(hits):
        rows, k = slice(4 * row, 4 * row + 4), hit.cable
        load, craft = track(flown.bodies["payload"]).one(), track(flown.vehicles).one(k)
        velocity = craft.velocity[rows]
        end, speed = load.at(rows).point(flight.rig.attachments[k])
        start, drift = craft.at(rows).point(flight.rig.hooks[k])
        apart = _limits(end - start)
        xi = apart / np.linalg.norm(apart, axis=1, keepdims=True)
        relative = _limits(speed - drift)
        across = _across(relative, xi)
        left = np.diff(relative, axis=0) - _blown(built.rig, flown, rows, k)
        found.append(
            Jolt(
                time=hit.time,
                cable=k,
                impulse=hit.impulse,
                along=_pair(np.einsum("ti,ti->t", relative, xi)),
                across=_pair(np.linalg.norm(across, axis=1)),
                across_jump=_size(across[1] - across[0]),
                vehicle_across_jump=_size(np.diff(_across(_limits(velocity), xi), axis=0)),
                across_unexplained=_size(_across(left, xi[:1])),
                momentum_jump=_size(hit.momentum[1] - hit.momentum[0]),
            )
        )
    return tuple(found)


def _blown(rig: Any, flown: Any, rows: slice, k: int) -> np.ndarray:
    """Jump of the relative velocity at cable `k` (m/s), by Newton's laws from the vehicles' jumps alone.

    Each vehicle's change of momentum is the blow through its cable, dealt back to the payload where that
    cable is fastened. Hooks are taken to be at the vehicles' centres.
    """
    jumps = np.diff(_limits(np.asarray(flown.vehicles.velocity)[rows]), axis=0)[0]
    blows = -np.asarray(rig.mass)[:, None] * jumps
    attitude = _limits(np.asarray(flown.payload.attitude)[rows])[0]
    back = attitude * [1.0, -1.0, -1.0, -1.0]
    arms = np.asarray(rig.attachment).T
    spin = np.asarray(rig.payload_inverse_inertia) @ np.cross(arms, turn(back, blows)).sum(0)
    payload = blows.sum(0) / float(rig.payload_mass) + turn(attitude, np.cross(spin, arms[k]))
    return (payload - jumps[k])[None]


def series(flight: Flight, k: int) -> Series:
    """How the ends of cable `k` moved against each other."""
    (start, drift), (end, speed) = tether_ends(flight, k)
    apart = end - start
    distance = np.linalg.norm(apart, axis=1)
    xi = apart / np.maximum(distance, 1e-12)[:, None]
    relative = speed - drift
    along = np.einsum("ti,ti->t", relative, xi)
    across = np.linalg.norm(_across(relative, xi), axis=1)
    own = [hit for hit in flight.impacts if hit.cable == k]
    rows = np.repeat(np.searchsorted(flight.times, [hit.time for hit in own]), 2)
    length = float(flight.cables.length[0, k])
    return Series(
        time=np.insert(flight.times, rows, np.repeat([hit.time for hit in own], 2)),
        distance=np.insert(distance, rows, length),
        along=np.insert(along, rows, [value for hit in own for value in hit.along]),
        across=np.insert(across, rows, [value for hit in own for value in hit.across]),
        length=length,
    )


def _limits(samples: np.ndarray) -> np.ndarray:
    """Values just before and just after, from samples at -2, -1, 1 and 2 small steps."""
    return np.stack([2 * samples[1] - samples[0], 2 * samples[2] - samples[3]])


def _across(vectors: np.ndarray, xi: np.ndarray) -> np.ndarray:
    return vectors - np.einsum("ti,ti->t", vectors, xi)[:, None] * xi


def _pair(values: np.ndarray) -> tuple[float, float]:
    return float(values[0]), float(values[1])


def _size(vector: np.ndarray) -> float:
    return float(np.linalg.norm(vector))
