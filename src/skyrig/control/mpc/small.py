"""Inverses and largest singular values of small matrices, in plain arithmetic.

Calls of LAPACK for a batch hand work to the threads they run on and wait for it: two at once, as plans of
different agents make them, may wait for each other for ever.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

SQUARINGS = 12
"""A largest singular value is that of 2^12 steps of power iteration."""


def inverse(a: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """Of a symmetric matrix whose leading minors are not zero, a positive definite one say.

    Column by column, by Gauss and Jordan without exchange of rows: what is solved is solved in place.
    """
    size = a.shape[0]

    def step(k: Array, a: Array) -> Array:
        at = jnp.arange(size) == k
        column, pivot = a[:, k], a[k, k]
        share = jnp.where(at, 0.0, column) / pivot
        rest = a - share[:, None] * column[None]
        swept = jnp.where(at[:, None], share[None], jnp.where(at[None], share[:, None], rest))
        return jnp.where(at[:, None] & at[None], -1 / pivot, swept)

    return -jax.lax.fori_loop(0, size, step, a)


def largest_singular_value(a: Float[Array, "... m n"]) -> Float[Array, "... 1 1"]:
    """Of each matrix; its derivative is exact where it is."""
    gram = jax.lax.stop_gradient(jnp.swapaxes(a, -1, -2) @ a)
    for _ in range(SQUARINGS):
        gram = gram / jnp.maximum(jnp.trace(gram, axis1=-2, axis2=-1)[..., None, None], 1e-300)
        gram = gram @ gram
    # the column of the largest diagonal entry is along the first right singular vector
    first = jnp.argmax(jnp.diagonal(gram, axis1=-2, axis2=-1), axis=-1)[..., None, None]
    along = jnp.take_along_axis(gram, first, axis=-1)
    along = along / jnp.maximum(jnp.sqrt(jnp.sum(along**2, axis=-2, keepdims=True)), 1e-300)
    stretched = a @ along
    return jnp.sqrt(jnp.sum(stretched**2, axis=-2, keepdims=True))
