"""Rigid bodies as the agents of a plan see them: 13 numbers, moved by 12.

A state is position, velocity (world frame, m and m/s), attitude (quaternion wxyz, body to world) and body
rate (rad/s); a tangent vector turns the attitude by a small rotation vector in the body frame.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import attitude_rate, cross, multiply, normalised, rotation_matrix

POSITION, VELOCITY, ATTITUDE, RATE = slice(0, 3), slice(3, 6), slice(6, 10), slice(10, 13)
STATES, TANGENTS = 13, 12


def moved(x: Float[Array, "13"], d: Float[Array, "12"]) -> Float[Array, "13"]:
    """A body's state moved by a tangent vector, which must be small: to first order."""
    turned = multiply(x[ATTITUDE], jnp.concatenate([jnp.ones(1, x.dtype), d[6:9] / 2]))
    return jnp.concatenate([x[:6] + d[:6], turned, x[RATE] + d[9:]])


def between(x: Float[Array, "13"], y: Float[Array, "13"]) -> Float[Array, "12"]:
    """From one state of a body to another that is not far."""
    back = x[ATTITUDE] * jnp.array([1.0, -1.0, -1.0, -1.0], x.dtype)
    turn = multiply(back, y[ATTITUDE])
    return jnp.concatenate([y[:6] - x[:6], 2 * turn[1:] * jnp.where(turn[0] < 0, -1, 1), y[RATE] - x[RATE]])


def rate_of_change(
    x: Array, acceleration: Float[Array, "3"], torque: Float[Array, "3"], inertia: Array, inverse: Array
) -> Float[Array, "13"]:
    """Time derivative of a state; the torque is in the body frame (N m)."""
    spin = inverse @ (torque - cross(x[RATE], inertia @ x[RATE]))
    return jnp.concatenate([x[VELOCITY], acceleration, attitude_rate(x[ATTITUDE], x[RATE]), spin])


def runge_kutta(
    derivative: Callable[[Array], Array], x: Float[Array, "... 13"], step: Array | float
) -> Array:
    """One step of RK4 of one body or several, attitudes brought back to length one."""
    k1 = derivative(x)
    k2 = derivative(x + step / 2 * k1)
    k3 = derivative(x + step / 2 * k2)
    k4 = derivative(x + step * k3)
    after = x + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    level = normalised(jnp.moveaxis(after[..., ATTITUDE], -1, 0))
    return after.at[..., ATTITUDE].set(jnp.moveaxis(level, 0, -1))


def attitude_error(wanted: Float[Array, "4"], actual: Float[Array, "4"]) -> Float[Array, "3"]:
    """1/2 vee(R_r^T R - R^T R_r), body frame."""
    relative = rotation_matrix(wanted).T @ rotation_matrix(actual)
    return 0.5 * jnp.stack(
        [relative[2, 1] - relative[1, 2], relative[0, 2] - relative[2, 0], relative[1, 0] - relative[0, 1]]
    )
