"""What an airframe's rotors can do around hover."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyrig.checks import Numbers
from skyrig.constants import GRAVITY
from skyrig.vehicles.airframe import Airframe


@dataclass(frozen=True)
class Hover:
    """An airframe that hovers alone."""

    possible: bool
    thrusts: Numbers
    """Of each rotor (N)."""
    speeds: Numbers
    """Of each rotor (rad/s)."""
    moments: Numbers
    """Largest roll, pitch and yaw moment at this thrust, none about the others, 3 entries (N m)."""
    accelerations: Numbers
    """The same as angular accelerations (rad/s^2)."""


def hover(frame: Airframe, failed: tuple[int, ...] = (), carried: float = 0.0) -> Hover:
    """How an airframe hovers, and what moments it has left.

    Args:
        frame: The airframe.
        failed: Rotors that give nothing.
        carried: What it carries besides itself (kg).

    With failed rotors it is what physics allows: thrusts within limits that hold the weight with no moment,
    the hardest working rotor spared as far as can be; `possible` says whether there are any.
    """
    from scipy.optimize import linprog

    on = np.array([k not in failed for k in range(frame.rotor_count)])
    low, high = (np.where(on, each * frame.shares, 0.0) for each in (frame.thrust_min, frame.thrust_max))
    weight = (frame.mass + carried) * GRAVITY
    bounds = list(zip(low, high, strict=True))
    wanted = np.array([weight, 0.0, 0.0, 0.0])
    # least of the largest share of its greatest thrust, over all rotors
    count = frame.rotor_count
    cost = np.append(np.zeros(count), 1.0)
    most = np.where(on, np.maximum(high, 1e-12), 1.0)
    found = linprog(
        cost,
        A_ub=np.hstack([np.diag(1 / most), -np.ones((count, 1))]),
        b_ub=np.zeros(count),
        A_eq=np.hstack([frame.mixing, np.zeros((4, 1))]),
        b_eq=wanted,
        bounds=[*bounds, (0, None)],
    )
    nothing = np.full(count, np.nan)
    if not found.success:
        return Hover(False, nothing, nothing, np.zeros(3), np.zeros(3))
    moments = np.zeros(3)
    for axis in range(3):
        others = [k for k in range(4) if k != axis + 1]
        best = linprog(-frame.mixing[axis + 1], A_eq=frame.mixing[others], b_eq=wanted[others], bounds=bounds)
        moments[axis] = -best.fun if best.success else 0.0
    thrusts = found.x[:count]
    speeds = np.sqrt(np.maximum(thrusts, 0.0) / (frame.thrust_coefficient * frame.shares))
    quick = np.asarray(np.linalg.solve(frame.inertia, moments), dtype=np.float64)
    return Hover(True, thrusts, speeds, moments, quick)
