"""A step of an elastic rig: smooth where it can be, rough where it must be, chosen by the step itself."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

from skyrig.rigs.elastic.parameters import ElasticParameters, ElasticState
from skyrig.rigs.elastic.rough import rough
from skyrig.rigs.elastic.smooth import LoadsAt, smooth


def step(
    rig: ElasticParameters, state: ElasticState, loads: LoadsAt, dt: Array
) -> tuple[ElasticState, Bool[Array, "*batch"]]:
    """The state after `dt` (s), and whether it makes no sense; a step of no length changes nothing.

    The rough step stands behind a branch that is taken only if some flight of the batch needs it.
    """
    moves = dt > 0
    span = jnp.where(moves, dt, 1e-3)
    tried = smooth(rig, state, loads, span)
    lanes = moves & jax.lax.stop_gradient(tried.rough | ~_sound(tried.state))

    def again(_: None) -> ElasticState:
        other = rough(rig, state, loads, span, lanes).state
        return jax.tree.map(lambda a, b: jnp.where(lanes, a, b), other, tried.state)

    end = jax.lax.cond(lanes.any(), again, lambda _: tried.state, None)
    end = jax.tree.map(lambda a, b: jnp.where(moves, a, b), end, state)
    return end, ~_sound(end)


def _sound(state: ElasticState) -> Bool[Array, "*batch"]:
    """Whether all numbers are finite."""
    motion = state.motion
    total = motion.payload.position.sum(0) + motion.vehicles.rate.sum((0, 1))
    return jnp.isfinite(total + motion.nodes.velocity.sum((0, 1, 2)) + motion.payload.rate.sum(0))
