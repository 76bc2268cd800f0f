"""Small positive definite systems in which only some rows count, and the pull-only problem on top of them.

Both work on matrices (n, n, *batch) with the batch behind, as everything in the physics does.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


def masked_solve(
    matrix: Float[Array, "n n *batch"], sides: Float[Array, "k n *batch"], mask: Bool[Array, "n *batch"]
) -> Float[Array, "k n *batch"]:
    """Solve the rows and columns in `mask` for k right-hand sides at once; zero elsewhere.

    Right-looking LDL^T written out over the rows: for the sizes of a team (n up to a few dozen) it beats a
    library call by far, and it is the same arithmetic alone and in a batch.
    """
    n = matrix.shape[0]
    both = mask[:, None] & mask[None]
    identity = jnp.eye(n, dtype=matrix.dtype).reshape((n, n) + (1,) * (matrix.ndim - 2))
    rest = jnp.where(both, matrix, identity)
    side = jnp.where(mask, sides, 0.0)
    columns, scaled = [], []
    for _ in range(n):
        pivot = 1 / rest[0, 0]
        column = rest[1:, 0] * pivot
        columns.append(column)
        scaled.append(side[:, 0] * pivot)
        side = side[:, 1:] - column * side[:, :1]
        rest = rest[1:, 1:] - column[:, None] * rest[None, 0, 1:]
    found = [scaled[-1]]
    for column, value in zip(columns[-2::-1], scaled[-2::-1], strict=True):
        found.insert(0, value - sum(column[i] * found[i] for i in range(len(found))))
    return jnp.stack(found, axis=1)


def apply_matrix(
    matrix: Float[Array, "n n *batch"], vector: Float[Array, "n *batch"]
) -> Float[Array, "n *batch"]:
    """Matrix times vector over the two leading axes."""
    return (matrix * vector[None]).sum(1)


class Complementarity(NamedTuple):
    """The solution of 0 <= z perp (A z - q) >= 0."""

    value: Float[Array, "n *batch"]
    active: Bool[Array, "n *batch"]
    solved: Bool[Array, "*batch"]


def complementarity(
    matrix: Float[Array, "n n *batch"], side: Float[Array, "n *batch"], allowed: Bool[Array, "n *batch"]
) -> Complementarity:
    """Pull-only solution over the `allowed` rows: 0 <= z  perp  (A z - q) >= 0, A positive definite.

    Block principal pivoting (Judice and Pires, 1994): all offending rows change sides while that makes
    progress, else only the last of them (Murty's rule), which is finite for positive definite A.
    The active set is found outside of differentiation; the value is one solve and differentiates exactly.
    """
    fixed, q = jax.lax.stop_gradient((matrix, side))
    n = q.shape[0]
    batch = q.shape[1:]
    precision = jnp.finfo(q.dtype).eps
    tolerance = 64 * precision * jnp.max(jnp.abs(jnp.where(allowed, q, 0.0)), axis=0)
    softest = 1 / jnp.max(_diagonal(fixed), axis=0)

    def offending(active):
        z = masked_solve(fixed, q[None], active)[0]
        w = apply_matrix(fixed, z) - q
        return allowed & jnp.where(active, z < -tolerance * softest, w < -tolerance)

    def unsolved(carry):
        _, offence, _, _, turn = carry
        return jnp.any(offence) & (turn < 20 * n + 100)

    def pivot(carry):
        active, offence, fewest, patience, turn = carry
        count = offence.sum(0)
        better = count < fewest
        block = better | (patience > 0)
        last = offence & (jnp.cumsum(offence[::-1], axis=0)[::-1] == 1)
        active = active ^ jnp.where(block, offence, last)
        patience = jnp.where(better, 3, patience - 1)
        return active, offending(active), jnp.minimum(fewest, count), patience, turn + 1

    start = allowed & (q > 0)
    carry = (start, offending(start), jnp.full(batch, n + 1), jnp.full(batch, 3), 0)
    active, offence, *_ = jax.lax.while_loop(unsolved, pivot, carry)
    value = jnp.maximum(masked_solve(matrix, side[None], active)[0], 0.0)
    return Complementarity(value, active, ~jnp.any(offence, axis=0))


def _diagonal(matrix: Array) -> Array:
    """Diagonal over the two leading axes."""
    return jnp.stack([matrix[i, i] for i in range(matrix.shape[0])])
