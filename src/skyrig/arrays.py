"""NumPy or JAX, whichever the arrays in hand belong to; JAX is never imported from here.

References are built and sampled with NumPy (fast, no compilation). The same code traces under
JAX when a parameter or a time is a JAX array, so that it can be differentiated and batched.
"""

from __future__ import annotations

import sys
from typing import Any, TypeAlias

import numpy as np

from skyrig import checks
from skyrig.errors import InputError

Array: TypeAlias = Any
"""A NumPy or a JAX array; shapes are said with jaxtyping around it."""

Scalar: TypeAlias = Any
"""A number as people give it; it may be a JAX scalar."""

Vector: TypeAlias = Any
"""Three numbers as people give them (for angles, one will do): a list, a tuple or an array."""


def is_jax(value: object) -> bool:
    """Whether `value` is a JAX array or tracer, or a list or tuple that holds one."""
    jax = sys.modules.get("jax")
    if jax is None or not hasattr(jax, "Array"):  # not imported, or half-way through its import
        return False
    if isinstance(value, list | tuple):
        return any(is_jax(item) for item in value)
    return isinstance(value, jax.Array)


def namespace(*values: object) -> Any:
    """`jax.numpy` if any of the values belongs to JAX, `numpy` otherwise."""
    return sys.modules["jax.numpy"] if any(is_jax(value) for value in values) else np


def numbers(field: str, value: object, shape: tuple[int | None, ...] = ()) -> Array:
    """As `checks.numbers`; of a JAX value only the shape is checked, since a tracer has no numbers yet."""
    return _traced(field, value, shape) if is_jax(value) else checks.numbers(field, value, shape)


def positive(field: str, value: object, shape: tuple[int | None, ...] = ()) -> Array:
    """As `checks.positive`; of a JAX value only the shape is checked."""
    return _traced(field, value, shape) if is_jax(value) else checks.positive(field, value, shape)


def euler_angles(field: str, value: object) -> Array:
    """Roll, pitch and yaw (rad) from three numbers, or from one: a yaw alone."""
    if isinstance(value, int | float) or getattr(value, "ndim", None) == 0:
        value = (0.0, 0.0, value)
    return numbers(field, value, (3,))


def whole(field: str, value: object, least: int, most: int) -> int:
    """A whole number within bounds: JAX compiles for these, so they are never arrays."""
    if not isinstance(value, int) or not least <= value <= most:
        raise InputError(f"{field} must be a whole number from {least} to {most}, not {value!r}.")
    return value


def _traced(field: str, value: object, shape: tuple[int | None, ...]) -> Array:
    array = sys.modules["jax.numpy"].asarray(value, dtype=float)
    checks.numbers(field, np.zeros(array.shape), shape)
    return array
