"""The rig's own step, for mechanisms that know better than any general method how to be integrated.

The rig writes `step(state, loads, dt) -> (state, failed)`; `loads(share, state)` is what acts on it at
that share of the step in that state of the rig: rotors that lag are followed exactly there, elements
asked at that instant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from skyrig.rigs.protocol import Loads
from skyrig.sim.integrators.trial import Trial, same
from skyrig.sim.plant import PlantState


def own(
    plant: Any, t: ArrayLike, state: Any, effort: Any, dt: ArrayLike, fence: Callable[[Any], Any] = same
) -> Trial:
    """One step of `dt` (s) from `t`, by a rig that never jumps."""
    assert not plant.jumps, "the integrator `own` is for rigs without events"
    like = plant.like(state)
    span = jnp.broadcast_to(jnp.asarray(dt, like.dtype), like.shape)

    def rotors(share: Any) -> Array | None:
        """Speeds of lagging rotors at a share of the step (rad/s), approaching what is wanted."""
        if state.rotors is None:
            return None
        assert effort.rotors is not None
        return plant.motors.after(state.rotors, plant.motors.speeds(effort.rotors), share * span)

    def loads(share: Any, rig: Any) -> Loads:
        return plant.loads(t + share * span, PlantState(rig, rotors(share), state.memories), effort)

    end, failed = plant.rig.step(state.rig, loads, span)
    return Trial(PlantState(fence(end), rotors(1.0), state.memories), None, None, None, failed)
