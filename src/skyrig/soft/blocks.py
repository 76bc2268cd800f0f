"""Systems that couple neighbours only, solved block by block."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float


class Blocks(NamedTuple):
    """A symmetric block tridiagonal matrix."""

    diagonal: Float[Array, "... blocks size size"]
    below: Float[Array, "... blocks size size"]
    """Rows of block k, columns of block k - 1; the first is not used."""


class Factor(NamedTuple):
    """Its Cholesky factor, not a number where it is not positive definite."""

    diagonal: Float[Array, "... blocks size size"]
    below: Float[Array, "... blocks size size"]


def factor(matrix: Blocks) -> Factor:
    """L with L L^T = matrix."""
    first = jnp.zeros_like(matrix.diagonal[..., 0, :, :])

    def one(before: Array, at: tuple[Array, Array]) -> tuple[Array, tuple[Array, Array]]:
        diagonal, below = at
        left = jnp.swapaxes(solve_triangular(before, jnp.swapaxes(below, -1, -2), lower=True), -1, -2)
        made = jnp.linalg.cholesky(diagonal - left @ jnp.swapaxes(left, -1, -2))
        return made, (made, left)

    eye = jnp.broadcast_to(jnp.eye(first.shape[-1], dtype=first.dtype), first.shape)
    below = matrix.below.at[..., 0, :, :].set(0.0)
    rows = (jnp.moveaxis(matrix.diagonal, -3, 0), jnp.moveaxis(below, -3, 0))
    _, (diagonal, left) = jax.lax.scan(one, eye, rows)
    return Factor(jnp.moveaxis(diagonal, 0, -3), jnp.moveaxis(left, 0, -3))


def solve(parts: Factor, right: Float[Array, "... blocks size columns"]) -> Array:
    """The matrix's inverse times `right`."""

    def down(before: Array, at: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        diagonal, left, own = at
        made = solve_triangular(diagonal, own - left @ before, lower=True)
        return made, made

    def up(after: Array, at: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        diagonal, left, own = at
        made = solve_triangular(diagonal, own - after, lower=True, trans=1)
        return jnp.swapaxes(left, -1, -2) @ made, made

    diagonal, left, rows = (jnp.moveaxis(it, -3, 0) for it in (parts.diagonal, parts.below, right))
    start = jnp.zeros_like(rows[0])
    _, half = jax.lax.scan(down, start, (diagonal, left, rows))
    _, whole = jax.lax.scan(up, start, (diagonal, left, half), reverse=True)
    return jnp.moveaxis(whole, 0, -3)
