"""The classical Runge-Kutta method of fourth order (Kutta 1901): explicit, for all that is not stiff."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from skyrig.sim.integrators.trial import Trial, same


def rk4(
    plant: Any, t: ArrayLike, state: Any, effort: Any, dt: ArrayLike, fence: Callable[[Any], Any] = same
) -> Trial:
    """One step of `dt` (s) from `t`.

    `fence` is put around every stage; a barrier there keeps XLA from fusing derivatives without bound. One
    flight loops over the stages, which keeps the compiled code small; in a batch they are written out, which
    is faster there.
    """
    if plant.like(state).ndim == 0:
        return _looped(plant, t, state, effort, dt, fence)
    half = t + dt / 2
    k1, first, due = plant.rates(t, state, effort)
    k1 = fence(k1)
    k2 = fence(plant.rates(half, fence(state.moved(k1, dt / 2)), effort)[0])
    k3, middle, _ = plant.rates(half, fence(state.moved(k2, dt / 2)), effort)
    k3 = fence(k3)
    k4 = fence(plant.rates(t + dt, fence(state.moved(k3, dt)), effort)[0])
    mean = jax.tree.map(lambda a, b, c, d: (a + 2 * b + 2 * c + d) / 6, k1, k2, k3, k4)
    return Trial(fence(state.moved(mean, dt)), first, due, middle)


def _looped(
    plant: Any, t: ArrayLike, state: Any, effort: Any, dt: ArrayLike, fence: Callable[[Any], Any]
) -> Trial:
    """The same with one copy of the derivative, in a loop over the stages."""
    real = plant.like(state).dtype
    shape = jax.eval_shape(lambda: plant.rates(t, state, effort)[0])
    still = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shape)

    def stage(carry, at):
        slope, total = carry
        reach, weight = at
        slope, guards, due = plant.rates(t + reach * dt, fence(state.moved(slope, reach * dt)), effort)
        slope = fence(slope)
        return (slope, jax.tree.map(lambda a, b: a + weight * b, total, slope)), (guards, due)

    along = (jnp.array([0, 0.5, 0.5, 1], real), jnp.array([1, 2, 2, 1], real))
    (_, total), seen = jax.lax.scan(stage, (still, still), along)
    mean = jax.tree.map(lambda leaf: leaf / 6, total)
    (first, due), (middle, _) = (jax.tree.map(lambda leaf, k=k: leaf[k], seen) for k in (0, 2))
    return Trial(fence(state.moved(mean, dt)), first, due, middle)
