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

    The first stage stands alone, since only there all guards count; the others are a loop, which keeps the
    compiled code small. `fence` is put around every stage; a barrier there keeps XLA from fusing derivatives
    without bound, and whoever asks for one gets a single copy of the stage.
    """
    real = plant.like(state).dtype
    if fence is not same:
        return _looped(plant, t, state, effort, dt, fence)
    k1, first, due = plant.rates(t, state, effort)

    def stage(carry: Any, at: Any) -> tuple[Any, None]:
        slope, total, middle = carry
        reach, weight, third = at
        slope, guards, _ = plant.rates(t + reach * dt, state.moved(slope, reach * dt), effort)
        middle = jax.tree.map(lambda new, old: jnp.where(third, new, old), guards, middle)
        return (slope, jax.tree.map(lambda a, b: a + weight * b, total, slope), middle), None

    stages = (jnp.array([0.5, 0.5, 1], real), jnp.array([2, 2, 1], real), jnp.array([False, True, False]))
    (_, total, middle), _ = jax.lax.scan(stage, (k1, k1, first), stages)
    mean = jax.tree.map(lambda leaf: leaf / 6, total)
    return Trial(state.moved(mean, dt), first, due, middle)


def _looped(
    plant: Any, t: ArrayLike, state: Any, effort: Any, dt: ArrayLike, fence: Callable[[Any], Any]
) -> Trial:
    """The same with one copy of the derivative, in a loop over all stages."""
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
