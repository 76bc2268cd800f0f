"""Random numbers from counters: a number for every index, whoever asks and however often.

What is drawn depends on a seed, an index and a channel alone, so that a process on a grid of its own is the
same however a flight is cut into steps, and a batch needs no tables.
"""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

_GOLDEN, _FIRST, _SECOND = 0x9E3779B9, 0x85EBCA6B, 0xC2B2AE35


def normals(seed: Array, index: Array, channels: int, real: jnp.dtype) -> Float[Array, "c 2 *batch"]:
    """Standard normal numbers, two for each of `channels`, by Box and Muller's method.

    Args:
        seed: (*batch) whole numbers.
        index: (*batch) whole numbers: which draw.
        channels: How many pairs.
        real: Of what dtype.
    """
    seed, index = jnp.broadcast_arrays(seed.astype(jnp.uint32), index.astype(jnp.uint32))
    base = _mixed(_mixed(seed + jnp.uint32(_GOLDEN)) ^ (index * jnp.uint32(_GOLDEN)))
    pairs = []
    for channel in range(channels):
        first = _mixed(base + jnp.uint32((2 * channel + 1) * _FIRST & 0xFFFFFFFF))
        second = _mixed(first ^ jnp.uint32((2 * channel + 2) * _SECOND & 0xFFFFFFFF))
        size = jnp.sqrt(-2 * jnp.log(_share(first, real)))
        turn = 2 * jnp.pi * _share(second, real)
        pairs.append(jnp.stack([size * jnp.cos(turn), size * jnp.sin(turn)]))
    return jnp.stack(pairs).astype(real)


def _mixed(bits: Array) -> Array:
    """32 bits well stirred: the finaliser of MurmurHash3."""
    bits = (bits ^ (bits >> 16)) * jnp.uint32(_FIRST)
    bits = (bits ^ (bits >> 13)) * jnp.uint32(_SECOND)
    return bits ^ (bits >> 16)


def _share(bits: Array, real: jnp.dtype) -> Array:
    """Between 0 and 1, never 0."""
    return (bits.astype(real) + 0.5) / 2**32
