"""SDIRK2: a diagonally implicit method of second order, L-stable and stiffly accurate, for stiff rigs.

Two stages with the same gamma = 1 - 1/sqrt(2) (Alexander 1977):

    k1 = f(t + gamma h, y + gamma h k1)
    k2 = f(t + h, y + (1 - gamma) h k1 + gamma h k2)        y' = y + h ((1 - gamma) k1 + gamma k2)

Each stage is solved by Newton's method with the exact Jacobian of the motion, formed anew in every turn.
L-stable means that what is far too fast for the step is damped out instead of blowing up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jax.typing import ArrayLike
from jaxtyping import Array

from skyrig.sim.integrators.trial import Trial, same

GAMMA = 1 - 2**-0.5
MOST_TURNS = 8
"""Newton steps in a stage before it counts as failed."""


def sdirk2(
    plant: Any, t: ArrayLike, state: Any, effort: Any, dt: ArrayLike, fence: Callable[[Any], Any] = same
) -> Trial:
    """One step of `dt` (s) from `t`."""
    batch = plant.like(state).shape
    start, first, due = plant.rates(t, state, effort)
    if batch:
        # flights of a batch solve their equations each for itself

        def wide(leaf: Array) -> Array:
            return jnp.broadcast_to(leaf, (*leaf.shape[:-1], *batch))

        parts = jax.tree.map(wide, (plant, state, effort, start))
        span = jnp.broadcast_to(t, batch), jnp.broadcast_to(dt, batch)
        end, k2, failed = jax.vmap(_step, -1, -1)(*span, *parts)
    else:
        end, k2, failed = _step(t, dt, plant, state, effort, start)
    if not plant.jumps:
        return Trial(end, None, None, None, failed)
    # halfway by the cubic through values and slopes at both ends
    gap = jax.tree.map(lambda a, b: b - a, (state.rig.motion, state.rotors), (end.rig.motion, end.rotors))
    halfway = jax.tree.map(lambda whole, a, b: whole / 2 + dt * (a - b) / 8, gap, start, k2)
    _, middle, _ = plant.rates(t + dt / 2, state.moved(halfway, 1.0), effort)
    return Trial(end, first, due, middle, failed)


def _step(t: Any, dt: Any, plant: Any, state: Any, effort: Any, start: Any) -> tuple[Any, Any, Array]:
    """The end of a step, the slope there, and whether a stage failed; one flight."""
    guess, tree = ravel_pytree(start)
    fixed = jax.lax.stop_gradient((t, dt, plant, state, effort))

    def slope(given: Any, share: float, base: Array, k: Array) -> Array:
        t, dt, plant, state, effort = given
        at = state.moved(tree(base + GAMMA * dt * k), 1.0)
        return ravel_pytree(plant.derivative(t + share * dt, at, effort))[0]

    def stage(share: float, base: Array, guess: Array) -> tuple[Array, Array]:
        still = jax.lax.stop_gradient((base, guess))
        k, failed = _solved(lambda k: slope(fixed, share, still[0], k), still[1])
        # one more Newton step from the solution: exact derivatives, whatever turns it took to get there
        return _newton(lambda k: slope((t, dt, plant, state, effort), share, base, k), k), failed

    k1, bad1 = stage(GAMMA, jnp.zeros_like(guess), guess)
    base = (1 - GAMMA) * dt * k1
    k2, bad2 = stage(1.0, base, k1)
    return state.moved(tree(base + GAMMA * dt * k2), 1.0), tree(k2), bad1 | bad2


def _newton(f: Callable[[Array], Array], k: Array) -> Array:
    """One Newton step towards k = f(k)."""
    slope = jax.lax.stop_gradient(jax.jacfwd(f)(k)) - jnp.eye(k.shape[0], dtype=k.dtype)
    return k - jnp.linalg.solve(slope, f(k) - k)


def _solved(f: Callable[[Array], Array], guess: Array) -> tuple[Array, Array]:
    """The k with k = f(k), and whether it was not found."""
    tolerance = jnp.sqrt(jnp.finfo(guess.dtype).eps)

    def unsolved(carry: Any) -> Array:
        _, miss, turn = carry
        return ~(miss <= tolerance) & (turn < MOST_TURNS)

    def turn(carry: Any) -> Any:
        k, _, count = carry
        better = _newton(f, k)
        return better, jnp.max(jnp.abs(better - k) / (1.0 + jnp.abs(k))), count + 1

    k, miss, _ = jax.lax.while_loop(unsolved, turn, (guess, jnp.asarray(jnp.inf, guess.dtype), 0))
    return k, ~(miss <= tolerance)
