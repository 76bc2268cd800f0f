"""A problem of optimal control: how an agent moves, what it would like, and what bounds its inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Method = TypeVar("Method", bound=Callable[..., Any])


def traced_once(method: Method) -> Method:
    """The method, compiled by itself, so that arrays of the same shapes are traced once."""
    return cast(Method, jax.jit(method))


class Problem(eqx.Module):
    """What an agent plans: how it moves, and what it would like. Stages differ by their parameters alone."""

    def advance(self, x: Array, u: Array, stage: Any) -> Array:
        """The state one step later."""
        raise NotImplementedError

    def residual(self, x: Array, u: Array, stage: Any) -> tuple[Array, Array]:
        """What a stage costs: residuals and their weights."""
        raise NotImplementedError

    def final(self, x: Array, stage: Any) -> tuple[Array, Array]:
        """What the last state costs: residuals and their weights."""
        raise NotImplementedError

    def moved(self, x: Array, d: Array) -> Array:
        """A state moved by a tangent vector."""
        return x + d

    def between(self, x: Array, y: Array) -> Array:
        """The tangent vector from x to y, to first order."""
        return y - x

    def tangents(self, x: Array) -> int:
        """Length of a tangent vector."""
        return x.shape[-1]


class Bounds(eqx.Module):
    """Of the inputs, and how soft they are."""

    low: Float[Array, "..."]  # (nu)
    high: Float[Array, "..."]  # (nu)
    barrier: Float[Array, "..."]
    """Weight of the logarithmic barrier: the cost that bounds are smoothed by."""

    def inside(self, u: Array) -> Array:
        """Inputs at least a thousandth of the range away from the bounds."""
        margin = 1e-3 * (self.high - self.low)
        return jnp.clip(u, self.low + margin, self.high - margin)

    def cost(self, u: Array) -> Array:
        """Of the barrier."""
        return -self.barrier * jnp.sum(jnp.log(u - self.low) + jnp.log(self.high - u))


def rolled(problem: Problem, start: Array, inputs: Array, stages: Any) -> Array:
    """The states that inputs lead to, (N+1, nx)."""

    def step(x: Array, now: Any) -> tuple[Array, Array]:
        after = problem.advance(x, *now)
        return after, after

    _, states = jax.lax.scan(step, start, (inputs, jax.tree.map(lambda leaf: leaf[:-1], stages)))
    return jnp.concatenate([start[None], states])


def total_cost(problem: Problem, bounds: Bounds, states: Array, inputs: Array, stages: Any) -> Array:
    """Of a plan, barrier included."""
    before, last = parted(stages)
    r, w = jax.vmap(problem.residual)(states[:-1], inputs, before)
    end, weight = problem.final(states[-1], last)
    return 0.5 * (jnp.sum(w * r * r) + jnp.sum(weight * end * end)) + bounds.cost(inputs)


def parted(stages: Any) -> tuple[Any, Any]:
    """Parameters of the stages, and of the end."""
    return jax.tree.map(lambda leaf: leaf[:-1], stages), jax.tree.map(lambda leaf: leaf[-1], stages)
