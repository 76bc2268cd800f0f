"""What Gymnasium's and PettingZoo's environments share: spaces, keys, the shapes of actions."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyrig.envs.arrays import taken
from skyrig.envs.environment import Environment
from skyrig.envs.extras import need
from skyrig.errors import InputError

Box = need("gymnasium").spaces.Box


def key_of(seed: int) -> np.ndarray:
    """JAX's key (2,) of a whole number from 0 to 2^64 - 1."""
    return np.array([seed >> 32 & 0xFFFFFFFF, seed & 0xFFFFFFFF], dtype=np.uint32)


def action_box(environment: Environment) -> Any:
    """The space of one flight's action: vehicle after vehicle, every entry from -1 to 1."""
    return Box(-1.0, 1.0, (environment.count * environment.action_size,), np.float32)


def observation_box(environment: Environment) -> Any:
    """The space of one flight's observation: (size,), or (n, size) where every vehicle has its own."""
    return Box(-np.inf, np.inf, environment.observation_shape[::-1], np.float32)


def shaped(action: Any, shape: tuple[int, ...]) -> Any:
    """An action for JAX, refused where its shape is wrong."""
    array = taken(action)
    if array.shape != shape:
        want, have = (" x ".join(map(str, each)) or "a single number" for each in (shape, array.shape))
        raise InputError(f"action must have shape {want}, not {have}.")
    return array
