"""Rotors that stop: when, which, and how a mixer that knows of it shares its work among the rest.

Thrust, roll and pitch moments come first, from the least thrusts that make them. Yaw moment is what else
the rest of the rotors can do without changing those: asked for on top, and given up where it does not fit.
Six rotors of alternating spin, one of which has stopped, so hold their place while yaw goes its own way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skyrig.checks import Numbers
from skyrig.vehicles.airframe import Airframe

SMALL = 1e-6
"""Share below which a number is rounding."""


class RotorLoss(NamedTuple):
    """A rotor that stops for good."""

    time: float
    """When (s)."""
    vehicle: int
    rotor: int
    noticed: float
    """When the mixer learns of it (s); infinite for never."""


def allocation(frame: Airframe, lost: Sequence[int]) -> tuple[Numbers, Numbers]:
    """From thrust and moments to thrusts of the rotors left, rx4, and the yaw that comes along, 3 entries."""
    on = np.array([k not in lost for k in range(frame.rotor_count)])
    mixing = np.where(on, frame.mixing, 0.0)
    upright, spin = mixing[:3], mixing[3]
    inverse = np.zeros((frame.rotor_count, 4))
    inverse[:, :3] = np.linalg.pinv(upright)
    inverse[np.abs(inverse[:, 0]) < SMALL, 0] = 0.0
    free = np.where(on, spin - inverse[:, :3] @ (upright @ spin), 0.0)  # of no thrust, roll or pitch
    gain = free @ spin
    if gain > SMALL * (spin @ spin):
        inverse[:, 3] = free / gain
    return inverse, spin @ inverse[:, :3]


def alive(losses: Sequence[RotorLoss], times: npt.ArrayLike, rotors: int, count: int) -> Numbers:
    """One for every rotor that turns at `times` (s), zero for one that has stopped, (rotors, count, T)."""
    clock = np.asarray(times, dtype=np.float64)
    found = np.ones((rotors, count, len(clock)))
    for it in losses:
        found[it.rotor, it.vehicle, clock >= it.time - 1e-9] = 0.0
    return found


def noticed(losses: Sequence[RotorLoss], times: npt.ArrayLike, count: int) -> Numbers:
    """Of how many losses each vehicle's mixer knows at `times` (s), (count, T)."""
    clock = np.asarray(times, dtype=np.float64)
    found = np.zeros((count, len(clock)))
    for it in losses:
        found[it.vehicle] += clock >= it.noticed - 1e-9
    return found
