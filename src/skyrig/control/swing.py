"""Active damping of a payload's swing by where its vehicles go.

Let one mode of the payload be x'' = omega^2 (q - x) under hooks at q that vehicles move, q'' = u. With its
sway y = x - q and the vehicle's own loop u = -w^2 q - 2 zeta w q', adding

    4 zeta z w omega y + 2 z omega y' - 2 z (w^2 / omega) (q' + y')                                        (*)

gives the poles of (s^2 + 2 zeta w s + w^2)(s^2 + 2 z omega s + omega^2): the vehicle's bandwidth stays, and
the swing dies with the damping ratio z. A rigid payload has several modes. Its sway is the step of Newton's
method to where it would hang at rest under these hooks, in all modes at once,

    twist = -(H + (c omega_0)^2 M + k W W^T)^-1 (W pull + weight)

with the Hessian H of `skyrig.statics.stability`, a large k that keeps the cables' lengths, and a small c for
modes that are hardly driven back. In (*) one frequency stands for all: a little above the pendulum's.
Nothing is asked for where the payload hangs at rest, wherever the hooks are.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import cross, dot
from skyrig.control.feedback import limited
from skyrig.statics.curvature import curvature

SHARE = 1.15
"""The frequency that stands for all modes, over the pendulum's."""
SOFT = 0.3
"""Frequency (over the pendulum's) below which modes are no longer followed."""
HARD = 1e4
"""How much more a cable resists than the pendulum does."""
MOST = 0.3
"""Sway counts up to this share of the mean cable's length."""


class Damping(NamedTuple):
    """Gains of (*)."""

    sway: Array
    """1/s^2."""
    drift: Array
    """1/s."""
    brake: Array
    """1/s."""

    def push(self, sway: Array, drift: Array, speed: Array) -> Array:
        """What vehicles add to their accelerations (m/s^2).

        Args:
            sway: y of each attachment (m).
            drift: y' (m/s).
            speed: q' of each vehicle, less what is wanted (m/s).
        """
        return self.sway * sway + self.drift * drift - self.brake * (speed + drift)


def damping(ratio: Array, bandwidth: Array, own: Array, pendulum: Array) -> Damping:
    """Gains for a damping ratio z of the swing, vehicles having a bandwidth w (rad/s) and a ratio zeta."""
    omega = SHARE * pendulum
    return Damping(4 * own * ratio * bandwidth * omega, 2 * ratio * omega, 2 * ratio * bandwidth**2 / omega)


def swayed(
    arm: Float[Array, "3 n ..."],
    up: Float[Array, "3 n ..."],
    pull: Float[Array, "n ..."],
    length: Float[Array, "n ..."],
    speeding: Float[Array, "3 n ..."],
    gravity: Array,
    mass: Array,
    inertia: Float[Array, "3 3 ..."],
) -> Float[Array, "3 n ..."]:
    """How far each attachment is from where it would hang at rest under these hooks (m).

    Where hooks shall speed up, the payload is to follow as it would follow slow hooks, and rest is to lag
    behind them by what that takes.

    Args:
        arm: From the centre of mass to the attachments, world (m).
        up: Directions of the cables, upwards.
        pull: Of the cables with hooks held still (N); zero for a slack one.
        length: Of the cables (m).
        speeding: Accelerations that are wanted of the hooks (m/s^2).
        gravity: Downwards (m/s^2).
        mass: Of the payload (kg).
        inertia: Of the payload, world frame (kg m^2); zero for a point.
    """
    wrench = jnp.concatenate([up, cross(arm, up)]) * (pull > 0)
    long = length.mean(0)
    hard = HARD * mass * gravity / long
    whole = curvature(arm, up, pull, length) + hard * (wrench[:, None] * wrench[None]).sum(2)
    square = SOFT**2 * gravity / long
    three = eye(3, inertia)
    whole = whole.at[:3, :3].add(square * mass * three)
    # a point has no inertia, and nothing that turns it
    whole = whole.at[3:, 3:].add(square * (inertia + 1e-6 * mass * long**2 * three))
    # hooks that go different ways: what each cable then pulls differently
    common = speeding.mean(1)
    own = speeding - common[:, None]
    drawn = pull / length * across(up, own) + hard * (pull > 0) * up * dot(up, own)
    follow = solved(whole, jnp.concatenate([drawn, cross(arm, drawn)]).sum(1)).at[:3].add(common)
    heavy = follow[:3].at[2].add(gravity)
    asked = jnp.concatenate([mass * heavy, (inertia * follow[None, 3:]).sum(1)])
    twist = -solved(whole, (wrench * pull).sum(1) - asked)
    sway = twist[:3, None] + cross(jnp.broadcast_to(twist[3:, None], arm.shape), arm)
    return limited(sway, MOST * long)


def across(up: Float[Array, "3 n ..."], vector: Float[Array, "3 n ..."]) -> Float[Array, "3 n ..."]:
    """The part of vectors across their cables."""
    return vector - up * dot(up, vector)


def turned_matrix(turn: Float[Array, "3 3 ..."], matrix: Float[Array, "3 3 ..."]) -> Float[Array, "3 3 ..."]:
    """R A R^T."""
    half = (turn[:, :, None] * matrix[None]).sum(1)
    return (half[:, None] * turn[None]).sum(2)


def eye(n: int, like: Array) -> Array:
    """The unit matrix with a batch's axes behind."""
    return jnp.eye(n, dtype=like.dtype).reshape((n, n) + (1,) * (like.ndim - 2))


def solved(matrix: Float[Array, "n n ..."], right: Float[Array, "n ..."]) -> Float[Array, "n ..."]:
    """Solutions of small systems, a batch behind."""
    front = jnp.moveaxis(jnp.moveaxis(matrix, 0, -1), 0, -1).swapaxes(-1, -2)
    return jnp.moveaxis(jnp.linalg.solve(front, jnp.moveaxis(right, 0, -1)[..., None])[..., 0], -1, 0)
