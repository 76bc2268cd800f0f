"""Arrays as people want them: NumPy, JAX or torch, handed over without a copy where memory can be shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from skyrig import checks
from skyrig.envs.extras import need

KINDS = ("numpy", "jax", "torch")
"""Kinds of arrays an environment can give."""


def giver(kind: str) -> Callable[[Any], Any]:
    """A function from JAX's or NumPy's arrays to arrays of `kind`.

    NumPy arrays are always the receiver's own, to be written to. JAX and torch share memory with the step
    that made them; what several threads made is copied once, when it is joined.
    """
    checks.choice("array_type", kind, KINDS)
    if kind == "numpy":
        return lambda array: array if isinstance(array, np.ndarray) else np.array(array)
    if kind == "jax":
        return lambda array: array if isinstance(array, jax.Array) else jax.device_put(array)
    torch = need("torch")

    def given(array: Any) -> Any:
        return torch.from_numpy(array) if isinstance(array, np.ndarray) else torch.from_dlpack(array)

    return given


def taken(array: Any) -> np.ndarray | jax.Array:
    """An action of any kind, for JAX: torch and NumPy arrays are looked at in place."""
    if isinstance(array, np.ndarray | jax.Array):
        return array
    detach = getattr(array, "detach", None)
    return np.asarray(detach() if callable(detach) else array)
