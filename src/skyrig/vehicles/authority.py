"""What an airframe's rotors can do around hover."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyrig.checks import Numbers
from skyrig.constants import GRAVITY
from skyrig.vehicles.airframe import Airframe

LEAST = 0.02
"""Roll and pitch moment both ways, over weight times arm, below which nothing is steered."""


@dataclass(frozen=True)
class LoneHover:
    """An airframe that hovers alone."""

    possible: bool
    """Whether it stands still."""
    stays: bool
    """Whether it stays in its place with roll and pitch to steer both ways, yaw being given up if need be."""
    thrusts: Numbers
    """Of each rotor (N)."""
    speeds: Numbers
    """Of each rotor (rad/s)."""
    moments: Numbers
    """Largest roll, pitch and yaw moment at this thrust, none about the others, 3 entries (N m)."""
    accelerations: Numbers
    """The same as angular accelerations (rad/s^2)."""


def hover(frame: Airframe, failed: tuple[int, ...] = (), carried: float = 0.0) -> LoneHover:
    """How an airframe hovers, and what moments it has left.

    Args:
        frame: The airframe.
        failed: Rotors that give nothing.
        carried: What it carries besides itself (kg).

    With failed rotors it is what physics allows: thrusts within limits that hold the weight with no moment,
    the hardest working rotor spared as far as can be; `possible` says whether there are any.
    """
    on = np.array([k not in failed for k in range(frame.rotor_count)])
    low, high = (np.where(on, each * frame.shares, 0.0) for each in (frame.thrust_min, frame.thrust_max))
    weight = (frame.mass + carried) * GRAVITY
    thrusts = _spared(frame.mixing, weight, low, high)
    tilts = [_most(frame.mixing[:3], weight, sign * axis, low, high) for axis in (1, 2) for sign in (1, -1)]
    stays = min(tilts) > LEAST * weight * frame.arm
    if thrusts is None:
        nothing = np.full(frame.rotor_count, np.nan)
        return LoneHover(False, stays, nothing, nothing, np.zeros(3), np.zeros(3))
    moments = np.array([_most(frame.mixing, weight, axis, low, high) for axis in (1, 2, 3)])
    speeds = np.sqrt(np.maximum(thrusts, 0.0) / (frame.thrust_coefficient * frame.shares))
    quick = np.asarray(np.linalg.solve(frame.inertia, moments), dtype=np.float64)
    return LoneHover(True, stays, thrusts, speeds, moments, quick)


def _spared(mixing: Numbers, weight: float, low: Numbers, high: Numbers) -> Numbers | None:
    """Rotor thrusts (N) that hold the weight, the largest share of its greatest being least; None if none."""
    from scipy.optimize import linprog

    count = mixing.shape[1]
    most = np.where(high > 0, np.maximum(high, 1e-12), 1.0)
    found = linprog(
        np.append(np.zeros(count), 1.0),
        A_ub=np.hstack([np.diag(1 / most), -np.ones((count, 1))]),
        b_ub=np.zeros(count),
        A_eq=np.hstack([mixing, np.zeros((len(mixing), 1))]),
        b_eq=weight * np.eye(len(mixing))[0],
        bounds=[*zip(low, high, strict=True), (0, None)],
    )
    return found.x[:count] if found.success else None


def _most(mixing: Numbers, weight: float, way: int, low: Numbers, high: Numbers) -> float:
    """Largest moment (N m) about an axis, 1 to 3 or the other way round, with none about the others."""
    from scipy.optimize import linprog

    others = [k for k in range(len(mixing)) if k != abs(way)]
    best = linprog(
        -np.sign(way) * mixing[abs(way)],
        A_eq=mixing[others],
        b_eq=weight * np.eye(len(mixing))[0][others],
        bounds=list(zip(low, high, strict=True)),
    )
    return -best.fun if best.success else 0.0
