"""Turns as vectors: attitudes within a step, measured from the step's start in the body's frame.

A turn t (rad) takes the attitude q at the start to q exp(t). Angular momenta are kept in the body's frame
at the start of the step, so that no gyroscopic term is left in the equations.
"""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array

from skyrig.algebra import cross, dot, multiply, normalised


def exponential(turn: Array) -> Array:
    """The unit quaternion of a turn well below pi (rad), by its series."""
    scalar, vector = _parts(turn)
    return jnp.concatenate([scalar[None], vector])


def _parts(turn: Array) -> tuple[Array, Array]:
    """Scalar and vector of that quaternion."""
    half = dot(turn, turn) / 4
    cosine = 1 - half / 2 * (1 - half / 12 * (1 - half / 30))
    sine = 0.5 * (1 - half / 6 * (1 - half / 20 * (1 - half / 42)))
    return cosine, sine * turn


def turned(attitude: Array, turn: Array) -> Array:
    """An attitude after a turn in the body's frame."""
    return multiply(attitude, exponential(turn))


def settled(attitude: Array, turn: Array) -> Array:
    """The same at length one."""
    return normalised(turned(attitude, turn))


def rotate(turn: Array, vector: Array, sign: float = 1.0) -> Array:
    """exp(sign turn) applied to a vector."""
    w, axis = _parts(turn)
    axis = sign * axis
    first = cross(axis, vector)
    return vector + 2 * (w * first + cross(axis, first))


def turn_rate(turn: Array, rate: Array) -> Array:
    """Time derivative of a turn whose body turns at `rate` (rad/s, body frame), to third order."""
    first = cross(turn, rate)
    return rate + 0.5 * first + cross(turn, first) / 12
