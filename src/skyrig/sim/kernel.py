"""A computation as one kernel: a call of a small program costs mostly what each of its kernels costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array


def in_one_kernel(flag: Array, function: Callable[..., Any], *arguments: Any) -> Any:
    """`function(*arguments)` as a loop of one turn, so that XLA makes one kernel of it where it is small.

    Args:
        flag: True, in a way that XLA cannot know.
        function: From trees of arrays to a tree of arrays.
        arguments: Its own.
    """
    shapes = jax.eval_shape(function, *arguments)
    blank = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)

    def once(carry: tuple[Array, Any]) -> tuple[Array, Any]:
        # else XLA would take what does not change out of the loop, and make kernels of it
        (flag, given) = jax.lax.optimization_barrier((carry[0], arguments))
        return jnp.zeros_like(flag), function(*given)

    return jax.lax.while_loop(lambda carry: carry[0], once, (flag, blank))[1]
