"""Slices and the finger they make: which nodes are whose, and how slices add up.

A finger's nodes stand in blocks, (slices + 1, between + face, 3): block k holds the upper face of slice k
(counted from 1) and the nodes below it; block 0 is the base, whose nodes in between do not exist and stay
where they are put.
"""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.soft.blocks import Blocks
from skyrig.soft.mesh import Finger


def stacked(finger: Finger, blocks: Float[Array, "... blocks own 3"]) -> Float[Array, "... slices nodes 3"]:
    """Whole slices from blocks."""
    lower = blocks[..., :-1, finger.between :, :]
    return jnp.concatenate([lower, blocks[..., 1:, :, :]], -2)


def with_base(
    finger: Finger, base: Float[Array, "... face 3"], own: Float[Array, "... slices own 3"]
) -> Float[Array, "... blocks own 3"]:
    """Blocks from the base's nodes and those of the slices alone."""
    missing = jnp.zeros((*base.shape[:-2], finger.between, 3), base.dtype)
    return jnp.concatenate([jnp.concatenate([missing, base], -2)[..., None, :, :], own], -3)


def rest_blocks(finger: Finger) -> Float[Array, "blocks own 3"]:
    """A finger on which nothing acts."""
    return with_base(finger, finger.base, finger.resting)


def gathered(
    finger: Finger, slices: Float[Array, "... slices dofs columns"]
) -> Float[Array, "... blocks own columns"]:
    """Vectors of the blocks from those of slices, the shared faces added up."""
    face, between = 3 * finger.face, 3 * finger.between
    own, lower = slices[..., face:, :], slices[..., :face, :]
    pad = [(0, 0)] * (slices.ndim - 3)
    own = jnp.pad(own, [*pad, (1, 0), (0, 0), (0, 0)])
    return own + jnp.pad(lower, [*pad, (0, 1), (between, 0), (0, 0)])


def assembled(finger: Finger, slices: Float[Array, "... slices dofs dofs"]) -> Blocks:
    """The finger's matrix from those of its slices."""
    face, between = 3 * finger.face, 3 * finger.between
    pad = [(0, 0)] * (slices.ndim - 3)
    own = jnp.pad(slices[..., face:, face:], [*pad, (1, 0), (0, 0), (0, 0)])
    lower = jnp.pad(slices[..., :face, :face], [*pad, (0, 1), (between, 0), (between, 0)])
    below = jnp.pad(slices[..., face:, :face], [*pad, (1, 0), (0, 0), (between, 0)])
    return Blocks(own + lower, below)
