"""Quaternions on recorded arrays, in plain NumPy: (w, x, y, z), body to world, on the last axis."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

Quaternions = Float[np.ndarray, "*many 4"]
Vectors = Float[np.ndarray, "*many 3"]


def turn(attitude: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Body vectors in the world frame; leading axes broadcast."""
    w, axis = attitude[..., :1], attitude[..., 1:]
    twice = 2 * np.cross(axis, vector)
    return vector + w * twice + np.cross(axis, twice)


def between(wanted: np.ndarray, have: np.ndarray) -> np.ndarray:
    """Angle of the single turn from one attitude to another (rad), between 0 and pi."""
    conjugate = wanted * [1.0, -1.0, -1.0, -1.0]
    w = conjugate[..., 0] * have[..., 0] - (conjugate[..., 1:] * have[..., 1:]).sum(-1)
    axis = (
        conjugate[..., :1] * have[..., 1:]
        + have[..., :1] * conjugate[..., 1:]
        + np.cross(conjugate[..., 1:], have[..., 1:])
    )
    return 2 * np.arctan2(np.linalg.norm(axis, axis=-1), np.abs(w))


def euler_angles(attitude: np.ndarray) -> np.ndarray:
    """Roll, pitch, yaw (rad) with R = Rz(yaw) Ry(pitch) Rx(roll)."""
    w, x, y, z = np.moveaxis(attitude, -1, 0)
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2 * (w * y - z * x), -1, 1))
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return np.stack([roll, pitch, yaw], axis=-1)
