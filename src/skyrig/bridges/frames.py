"""Between skyrig's frames (world east, north, up; bodies forward, left, up) and those of autopilots.

Autopilots have the world north, east, down and bodies forward, right, down. Both ways are the same half turn,
so each function is its own inverse.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skyrig.turns import multiply

Numbers = npt.NDArray[np.float64]
_WORLD = np.array([0.0, np.sqrt(0.5), np.sqrt(0.5), 0.0])
_BODY = np.array([0.0, 1.0, 0.0, 0.0])


def world(vector: Numbers) -> Numbers:
    """(..., 3) east, north, up to north, east, down."""
    return np.stack([vector[..., 1], vector[..., 0], -vector[..., 2]], axis=-1)


def body(vector: Numbers) -> Numbers:
    """(..., 3) forward, left, up to forward, right, down."""
    return vector * np.array([1.0, -1.0, -1.0])


def attitude(quaternion: Numbers) -> Numbers:
    """(..., 4) wxyz, body to world, from one pair of frames to the other, its first number not negative."""
    turned = multiply(multiply(np.broadcast_to(_WORLD, quaternion.shape), quaternion), _BODY)
    return np.where(turned[..., :1] < 0, -turned, turned)
