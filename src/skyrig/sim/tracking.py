"""How far a closed-loop flight is from its reference, as a function that JAX can differentiate.

A `Tracking` holds everything a flight is made of as one pytree: exchange a part (gains, a mass, the lengths
of cables) and ask for the cost, inside `jax.grad` if you like. The flight is flown once with events located
and once more along the steps found, every step's inside thrown away and computed again on the way back
(checkpoints), so that memory grows with the number of steps and not with what happens in them.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from skyrig.algebra import apply, as_jax, rotation_matrix
from skyrig.control.interface import Controller
from skyrig.errors import InputError
from skyrig.planning import Reference
from skyrig.sim.derivative import Driven, fly_plan
from skyrig.sim.log import Log
from skyrig.sim.pilot import Pilot
from skyrig.sim.plant import Plant, PlantState
from skyrig.sim.preparation import prepare
from skyrig.sim.schedule import StepPlan

ROOM = 32
"""Room for events in a differentiated flight."""
QUICK: Any = {"xla_backend_optimization_level": 0}
"""Compiler options for `jax.jit`: derivatives compile several times faster, and run a few times slower."""


class Tracking(eqx.Module):
    """A payload's flight along its reference; make one with `tracking`."""

    plant: Plant
    state: PlantState
    """Where it starts."""
    pilot: Pilot
    plan: StepPlan
    wanted_position: Float[Array, "steps 3"]
    """Of the payload at the end of every step (m)."""
    wanted_attitude: Float[Array, "steps 4"]
    counts: Bool[Array, " steps"]
    """Steps that are no padding."""
    log: Log
    """Empty: the room for events."""

    @property
    def controller(self) -> Any:
        """Who flies."""
        return self.pilot.controller

    def with_controller(self, controller: Any) -> Tracking:
        """The same flight with another controller of the same kind, or other gains in it."""
        return eqx.tree_at(lambda it: it.pilot.controller, self, controller)

    def with_lengths(self, length: Float[Array, " n"]) -> Tracking:
        """The same flight with cables of other lengths (m), the vehicles moved along them.

        What the controller computed ahead still belongs to the old lengths; in the loop it sees the new ones.
        """
        rig, state = self.plant.rig, self.state.rig
        ends = apply(rotation_matrix(state.payload.attitude)[..., None], rig.attachment)
        along = state.vehicles.position - state.payload.position[:, None] - ends
        xi = along / jnp.sqrt((along**2).sum(0))
        moved = state.vehicles.position + (length - state.length) * xi
        return eqx.tree_at(
            lambda it: (it.plant.rig.length, it.state.rig.mode.length, it.state.rig.vehicles.position),
            self,
            (length, length, moved),
        )

    def fly(self) -> Driven:
        """The flight itself."""
        return fly_plan(self.plant, self.state, self.pilot, self.plan, self.log)

    def cost(self, attitude: float = 0.0) -> Float[Array, ""]:
        """Mean over time of the squared distance from the reference (m^2).

        Args:
            attitude: How much a squared radian of attitude error counts (m^2).
        """
        flown = self.fly().record.bodies["payload"]
        away = ((flown.position[..., 0] - self.wanted_position) ** 2).sum(1)
        if attitude:
            # 4 (1 - <q, q'>^2) is the squared angle for small ones, and smooth for all
            away = away + attitude * 4 * (1 - (flown.attitude[..., 0] * self.wanted_attitude).sum(1) ** 2)
        lengths = jnp.where(self.counts, self.plan.dt, 0.0)
        return (lengths * jnp.where(self.counts, away, 0.0)).sum() / lengths.sum()


def tracking(
    rig: Any, state: Any, controller: Controller, airframes: Any, payload: Reference, **loop: Any
) -> Tracking:
    """The flight of a payload along its reference, ready to be differentiated.

    Arguments are those of `skyrig.closed_loop`, but the controller is one that is compiled into the loop.
    """
    if not isinstance(controller, Controller):
        raise InputError(
            "controller must be one of skyrig.control, not a plain callable, which has no derivative."
        )
    job, pilot = prepare(rig, state, controller, airframes, payload, **loop)
    times = job.planned.times
    wanted = payload.sample(times)
    rows = np.minimum(np.arange(job.planned.plan.dt.shape[0]), len(times) - 1)
    return Tracking(
        plant=job.plant,
        state=job.state,
        pilot=jax.tree.map(as_jax, pilot),
        plan=jax.tree.map(as_jax, job.planned.plan),
        wanted_position=as_jax(np.asarray(wanted.position)[rows, 0]),
        wanted_attitude=as_jax(np.asarray(wanted.attitude)[rows]),
        counts=as_jax(np.arange(len(rows)) < len(times)),
        log=Log.ready(job.plant, job.state, ROOM),
    )
