"""The skin of fingers, for drawings."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.soft.mesh import Finger


def edges(
    finger: Finger, blocks: Float[Array, "*fingers blocks own 3"]
) -> Float[Array, "*fingers blocks 4 3"]:
    """The corners of every face, in order around it (m): four edges from the base to the tip."""
    return jnp.take(blocks[..., finger.between :, :], jnp.asarray(finger.corners), axis=-2)
