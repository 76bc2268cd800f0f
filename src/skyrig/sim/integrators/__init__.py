"""Integrators: how a plant gets from one instant to the next, one file each.

An integrator is a function `(plant, t, state, effort, dt, fence) -> Trial`. It knows nothing of events:
those are found by `skyrig.sim.stepping` around it. Their names are in `skyrig.sim.known`.
"""

from skyrig.sim.integrators.rk4 import rk4
from skyrig.sim.integrators.sdirk2 import sdirk2
from skyrig.sim.integrators.trial import Trial

__all__ = ["Trial", "rk4", "sdirk2"]
