"""Quaternions in plain NumPy, for what is not compiled: (w, x, y, z), body to world, on the last axis."""

from __future__ import annotations

import numpy as np


def cross(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Vector product on the last axis; NumPy's own takes twice as long for a few vectors."""
    a, b, c = first[..., 0], first[..., 1], first[..., 2]
    x, y, z = second[..., 0], second[..., 1], second[..., 2]
    return np.stack([b * z - c * y, c * x - a * z, a * y - b * x], axis=-1)


def turn(attitude: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Body vectors in the world frame; leading axes broadcast."""
    w, axis = attitude[..., :1], attitude[..., 1:]
    twice = 2 * cross(axis, vector)
    return vector + w * twice + cross(axis, twice)


def point_at(position: np.ndarray, attitude: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Where points of bodies are in the world (m).

    Args:
        position: (..., 3) of the bodies (m).
        attitude: (..., 4) of the bodies.
        point: (..., 3) in the bodies' frames (m); leading axes broadcast.
    """
    return position + turn(attitude, point)


def point_velocity(
    velocity: np.ndarray, attitude: np.ndarray, rate: np.ndarray, point: np.ndarray
) -> np.ndarray:
    """How fast points of bodies go in the world (m/s).

    Args:
        velocity: (..., 3) of the bodies (m/s).
        attitude: (..., 4) of the bodies.
        rate: (..., 3) of the bodies, in their frames (rad/s).
        point: (..., 3) in the bodies' frames (m); leading axes broadcast.
    """
    return velocity + turn(attitude, cross(rate, point))


def between(wanted: np.ndarray, have: np.ndarray) -> np.ndarray:
    """Angle of the single turn from one attitude to another (rad), between 0 and pi."""
    rest = multiply(wanted * [1.0, -1.0, -1.0, -1.0], have)
    return 2 * np.arctan2(np.linalg.norm(rest[..., 1:], axis=-1), np.abs(rest[..., 0]))


def euler_angles(attitude: np.ndarray) -> np.ndarray:
    """Roll, pitch, yaw (rad) with R = Rz(yaw) Ry(pitch) Rx(roll)."""
    w, x, y, z = np.moveaxis(attitude, -1, 0)
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2 * (w * y - z * x), -1, 1))
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return np.stack([roll, pitch, yaw], axis=-1)


def tilted(attitude: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Attitudes turned the least way so that their z axes point along `direction` (world, any length)."""
    up = turn(attitude, np.array([0.0, 0.0, 1.0]))
    unit = direction / np.linalg.norm(direction, axis=-1, keepdims=True)
    w = 1 + (up * unit).sum(-1, keepdims=True)
    least = np.concatenate([w, cross(up, unit)], axis=-1)
    size = np.linalg.norm(least, axis=-1, keepdims=True)
    least = np.where(size > 1e-9, least / np.maximum(size, 1e-9), [0.0, 1.0, 0.0, 0.0])
    return multiply(least, attitude)


def multiply(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The quaternion of `second` followed by `first`."""
    a, u = first[..., :1], first[..., 1:]
    b, v = second[..., :1], second[..., 1:]
    w = a * b - (u * v).sum(-1, keepdims=True)
    return np.concatenate([w, a * v + b * u + cross(u, v)], axis=-1)


def conjugate(attitude: np.ndarray) -> np.ndarray:
    """The turn back."""
    return attitude * np.array([1.0, -1.0, -1.0, -1.0])


def of_vector(vector: np.ndarray) -> np.ndarray:
    """The quaternion of a turn about `vector` by its length (rad)."""
    angle = np.linalg.norm(vector, axis=-1, keepdims=True)
    return np.concatenate([np.cos(angle / 2), 0.5 * np.sinc(angle / (2 * np.pi)) * vector], axis=-1)


def vector_of(attitude: np.ndarray) -> np.ndarray:
    """Axis times angle (rad, at most half a turn) of a turn: the inverse of `of_vector`."""
    whole = np.where(attitude[..., :1] < 0, -attitude, attitude)
    size = np.linalg.norm(whole[..., 1:], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(size, whole[..., :1])
    factor = np.where(size > 1e-9, angle / np.maximum(size, 1e-300), 2.0)
    return factor * whole[..., 1:]
