"""Integrators: how a plant gets from one instant to the next, one file each.

An integrator is a function `(plant, t, state, effort, dt, fence) -> Trial`. It knows nothing of events:
those are found by `skyrig.sim.stepping` around it.
"""

from collections.abc import Callable

from skyrig.sim.integrators.rk4 import rk4
from skyrig.sim.integrators.sdirk2 import sdirk2
from skyrig.sim.integrators.trial import Trial

INTEGRATORS: dict[str, Callable[..., Trial]] = {"rk4": rk4, "sdirk2": sdirk2}
"""By name; add your own."""

__all__ = ["INTEGRATORS", "Trial", "rk4", "sdirk2"]
