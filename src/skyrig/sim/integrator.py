"""The fixed-step integrator between events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from skyrig.rigs.bodies import Inputs, Watch


def runge_kutta(
    rig: Any, state: Any, inputs: Inputs, dt: ArrayLike, fence: Callable[[Any], Any] = lambda tree: tree
) -> tuple[Any, Watch, Array, Watch]:
    """The classical fourth-order step, unsettled.

    Returns the end state, the guards at the start and whether a reset is due there, and the guards at the
    third stage. `fence` is put around every stage; a barrier there keeps XLA from fusing derivatives
    without bound. One flight loops over the stages, which keeps the compiled code small; in a batch they are
    written out, which is faster there.
    """
    if state.side.ndim == 0:
        return _looped_runge_kutta(rig, state, inputs, dt, fence)
    k1, first, due = rig.rates(state, inputs)
    k1 = fence(k1)
    k2 = fence(rig.rates(fence(k1.advance(state, dt / 2)), inputs)[0])
    k3, middle, _ = rig.rates(fence(k2.advance(state, dt / 2)), inputs)
    k3 = fence(k3)
    k4 = fence(rig.rates(fence(k3.advance(state, dt)), inputs)[0])
    mean = jax.tree.map(lambda a, b, c, d: (a + 2 * b + 2 * c + d) / 6, k1, k2, k3, k4)
    return fence(mean.advance(state, dt)), first, due, middle


def _looped_runge_kutta(
    rig: Any, state: Any, inputs: Inputs, dt: ArrayLike, fence: Callable[[Any], Any]
) -> tuple[Any, Watch, Array, Watch]:
    """The same with one copy of the derivative, in a loop over the stages."""
    real = state.side.dtype
    shape = jax.eval_shape(lambda: rig.rates(state, inputs)[0])
    still = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shape)

    def stage(carry, at):
        slope, total = carry
        reach, weight = at
        slope, guards, due = rig.rates(fence(slope.advance(state, reach * dt)), inputs)
        slope = fence(slope)
        return (slope, jax.tree.map(lambda a, b: a + weight * b, total, slope)), (guards, due)

    along = (jnp.array([0, 0.5, 0.5, 1], real), jnp.array([1, 2, 2, 1], real))
    (_, total), seen = jax.lax.scan(stage, (still, still), along)
    mean = jax.tree.map(lambda leaf: leaf / 6, total)
    (first, due), (middle, _) = (jax.tree.map(lambda leaf, k=k: leaf[k], seen) for k in (0, 2))
    return fence(mean.advance(state, dt)), first, due, middle
