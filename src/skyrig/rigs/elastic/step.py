"""A step of an elastic rig: smooth where it can be, rough where it must be, chosen by the step itself."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from equinox.internal import unvmap_any
from jaxtyping import Array, Bool, Float

from skyrig.rigs.elastic.parameters import ElasticParameters, ElasticState
from skyrig.rigs.elastic.rough import rough
from skyrig.rigs.elastic.smooth import LoadsAt, smooth

PART = 0.5
"""How far a load that bounces on its cable may swing in a part of a step that is not smooth (rad)."""
MOST_PARTS = 10
"""Into which such a step is cut at most."""


def step(
    rig: ElasticParameters, state: ElasticState, loads: LoadsAt, dt: Array
) -> tuple[ElasticState, Bool[Array, "*batch"]]:
    """The state after `dt` (s), and whether it makes no sense; a step of no length changes nothing.

    What is not smooth stands behind a branch that is taken only if some flight of the batch needs it, under
    `jax.vmap` too.
    """
    moves = dt > 0
    span = jnp.where(moves, dt, 1e-3)
    tried = smooth(rig, state, loads, span)
    lanes = moves & jax.lax.stop_gradient(tried.rough | ~_sound(tried.state))

    def again(_: None) -> ElasticState:
        return _chosen(lanes, _in_parts(rig, state, loads, span, lanes), tried.state)

    end = jax.lax.cond(unvmap_any(lanes), again, lambda _: tried.state, None)
    end = _chosen(moves, end, state)
    return end, ~_sound(end)


def _in_parts(
    rig: ElasticParameters, state: ElasticState, loads: LoadsAt, dt: Array, lanes: Bool[Array, "*batch"]
) -> ElasticState:
    """A step of `dt` (s) for the flights in `lanes`, in parts that are smooth or rough each by itself.

    A bounce on a stiff cable that lasts less than a step is so seen as it would be with shorter steps; where
    the cables are too soft for that, there is but one part.
    """
    count = jnp.clip(jnp.ceil(dt * bounce_rate(rig, state) / PART), 1, MOST_PARTS)
    count = jax.lax.stop_gradient(count)

    def part(state: ElasticState, number: Array) -> tuple[ElasticState, None]:
        due = lanes & (number < count)

        def acting(share: Any, there: ElasticState) -> Any:
            return loads((number + share) / count, there)

        def go(state: ElasticState) -> ElasticState:
            tried = smooth(rig, state, acting, dt / count, 1 / count)
            hard = due & jax.lax.stop_gradient(tried.rough | ~_sound(tried.state))

            def roughly(_: None) -> ElasticState:
                return _chosen(hard, rough(rig, state, acting, dt / count, hard).state, tried.state)

            end = jax.lax.cond(unvmap_any(hard), roughly, lambda _: tried.state, None)
            return _chosen(due, end, state)

        return jax.lax.cond(unvmap_any(due), go, lambda same: same, state), None

    numbers = jnp.arange(MOST_PARTS, dtype=count.dtype)
    return jax.lax.scan(jax.checkpoint(part), state, numbers)[0]


def bounce_rate(rig: ElasticParameters, state: ElasticState) -> Float[Array, "*batch"]:
    """Natural frequency of payload and vehicle on the cable between them, the highest of all (rad/s)."""
    softness = 1 / rig.mass + 1 / rig.payload_mass
    return jnp.sqrt((rig.axial / state.length * softness).max(0))


def _chosen(lanes: Array, new: Any, old: Any) -> Any:
    """`new` for the flights in `lanes`, `old` for the others."""
    return jax.tree.map(lambda a, b: jnp.where(lanes, a, b), new, old)


def _sound(state: ElasticState) -> Bool[Array, "*batch"]:
    """Whether all numbers are finite."""
    motion = state.motion
    total = motion.payload.position.sum(0) + motion.vehicles.rate.sum((0, 1))
    return jnp.isfinite(total + motion.nodes.velocity.sum((0, 1, 2)) + motion.payload.rate.sum(0))
