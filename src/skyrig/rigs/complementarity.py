"""Small positive definite systems in which only some rows count, and the pull-only problem on top of them.

A system is a matrix (n, n, *batch) with the batch behind, as everything in the physics does, or what makes
one: rows that meet only through one body (`Coupled`) take the same small solve however many they are.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from skyrig.algebra import anywhere, largest, total


class Dense(NamedTuple):
    """A system written out."""

    matrix: Float[Array, "n n *batch"]

    def solve(self, sides: Array, mask: Array) -> Array:
        """The rows and columns in `mask` solved for k right-hand sides at once; zero elsewhere."""
        return masked_solve(self.matrix, sides, mask)

    def times(self, vector: Array) -> Array:
        """The matrix times a vector."""
        return total(self.matrix * vector[None], 1)

    def diagonal(self) -> Array:
        """Of the matrix."""
        return jnp.stack([self.matrix[i, i] for i in range(self.matrix.shape[0])])


class Coupled(NamedTuple):
    """Rows that meet only through one body of inertia M: A = D + V^T M^-1 V.

    Solving it takes one system of the body's coordinates for any number of rows (Woodbury's identity; y is
    the body's motion under the pulls z): (M + V D^-1 V^T) y = V D^-1 q, then z = D^-1 (q - V^T y).
    """

    own: Float[Array, "n *batch"]
    """D: what each row has for itself."""
    reach: Float[Array, "m n *batch"]
    """V: how each row takes hold of the body."""
    answer: Float[Array, "m n *batch"]
    """M^-1 V."""
    inertia: Float[Array, "m m *batch"]
    """M."""

    def solve(self, sides: Array, mask: Array) -> Array:
        """The rows and columns in `mask` solved, as `Dense.solve` does."""
        stiff = jnp.where(mask, 1 / self.own, 0.0)
        held = stiff * self.reach
        matrix = self.inertia + total(held[:, None] * self.reach[None], 2)
        motion = _solve(matrix, total(sides[:, None] * held[None], 2))
        return stiff * (sides - total(motion[:, :, None] * self.reach[None], 1))

    def times(self, vector: Array) -> Array:
        """The matrix times a vector."""
        moved = total(self.answer * vector[None], 1)
        return self.own * vector + total(self.reach * moved[:, None])

    def diagonal(self) -> Array:
        """Of the matrix."""
        return self.own + total(self.reach * self.answer)


System = Dense | Coupled
"""A positive definite matrix, whatever it is kept as."""


def masked_solve(
    matrix: Float[Array, "n n *batch"], sides: Float[Array, "k n *batch"], mask: Bool[Array, "n *batch"]
) -> Float[Array, "k n *batch"]:
    """Solve the rows and columns in `mask` for k right-hand sides at once; zero elsewhere."""
    n = matrix.shape[0]
    both = mask[:, None] & mask[None]
    identity = jnp.eye(n, dtype=matrix.dtype).reshape((n, n) + (1,) * (matrix.ndim - 2))
    return _solve(jnp.where(both, matrix, identity), jnp.where(mask, sides, 0.0))


def _solve(rest: Array, side: Array) -> Array:
    """A positive definite system (n, n, *batch) for right-hand sides (k, n, *batch).

    Right-looking LDL^T written out over the rows: for a handful of rows it beats a library call by far, and
    it is the same arithmetic alone and in a batch.
    """
    columns, scaled = [], []
    for _ in range(rest.shape[0]):
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


class Complementarity(NamedTuple):
    """The solution of 0 <= z perp (A z - q) >= 0."""

    value: Float[Array, "n *batch"]
    active: Bool[Array, "n *batch"]
    solved: Bool[Array, "*batch"]


def complementarity(
    system: System, side: Float[Array, "n *batch"], allowed: Bool[Array, "n *batch"]
) -> Complementarity:
    """Pull-only solution over the `allowed` rows: 0 <= z  perp  (A z - q) >= 0, A positive definite.

    Block principal pivoting (Judice and Pires, 1994): all offending rows change sides while that makes
    progress, else only the last of them (Murty's rule), which is finite for positive definite A.
    The active set is found outside of differentiation; the value is one solve and differentiates exactly.
    """
    fixed, q = jax.lax.stop_gradient((system, side))
    n = q.shape[0]
    batch = q.shape[1:]
    precision = jnp.finfo(q.dtype).eps
    tolerance = 64 * precision * largest(jnp.abs(jnp.where(allowed, q, 0.0)))
    softest = 1 / largest(fixed.diagonal())

    def offending(active):
        z = fixed.solve(q[None], active)[0]
        w = fixed.times(z) - q
        return allowed & jnp.where(active, z < -tolerance * softest, w < -tolerance)

    def unsolved(carry):
        _, offence, _, _, turn = carry
        return jnp.any(offence) & (turn < 20 * n + 100)

    def pivot(carry):
        active, offence, fewest, patience, turn = carry
        count = total(offence.astype(fewest.dtype))
        better = count < fewest
        block = better | (patience > 0)
        last = offence & (jnp.cumsum(offence[::-1], axis=0)[::-1] == 1)
        active = active ^ jnp.where(block, offence, last)
        patience = jnp.where(better, 3, patience - 1)
        return active, offending(active), jnp.minimum(fewest, count), patience, turn + 1

    start = allowed & (q > 0)
    carry = (start, offending(start), jnp.full(batch, n + 1), jnp.full(batch, 3), 0)
    active, offence, *_ = jax.lax.while_loop(unsolved, pivot, carry)
    value = jnp.maximum(system.solve(side[None], active)[0], 0.0)
    return Complementarity(value, active, ~anywhere(offence))
