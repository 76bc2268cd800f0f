"""The skin of fingers, for drawings."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig.soft.finger import Finger


def edges(
    finger: Finger, blocks: Float[Array, "*fingers blocks own 3"]
) -> Float[Array, "*fingers blocks 4 3"]:
    """The corners of every face, in order around it (m): four edges from the base to the tip."""
    face = np.asarray(finger.rest)[0, : finger.face, :2]
    half = np.abs(face).max(0)
    around = half * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    which = [int(np.abs(face - corner).sum(1).argmin()) for corner in around]
    return jnp.take(blocks[..., finger.between :, :], jnp.asarray(which), axis=-2)
