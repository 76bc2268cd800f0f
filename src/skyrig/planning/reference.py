"""What every reference is: a wanted pose over time with its derivatives, on a stated continuity.

Attitudes are R = Rz(yaw) Ry(pitch) Rx(roll), body to world; body rates Omega obey R' = R hat(Omega).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from skyrig.arrays import Array, namespace
from skyrig.planning import pytree, taylor
from skyrig.planning.taylor import ORDER, Series


class Sample(NamedTuple):
    """The wanted motion at some times; a vehicle's has zero roll and pitch.

    Attributes:
        position: Position and its derivatives; entry k is in m/s^k.
        attitude: Unit quaternion (w, x, y, z), body to world.
        rate: Body rate Omega in the body frame and its derivatives; entry k is in rad/s^(k+1).
        euler: Roll, pitch, yaw and their derivatives; entry k is in rad/s^k.
    """

    position: Float[Array, "*times 7 3"]
    attitude: Float[Array, "*times 4"]
    rate: Float[Array, "*times 6 3"]
    euler: Float[Array, "*times 7 3"]


class Reference(pytree.Tree, ABC):
    """A wanted motion over 0 <= t <= duration; before and after, its end poses are held at rest.

    A reference is a frozen dataclass whose parameters are pytree leaves. It says what it is by
    `series`; everything else follows.
    """

    @property
    @abstractmethod
    def duration(self) -> Float[Array, ""]:
        """How long it moves (s); infinite when it never ends."""

    @property
    @abstractmethod
    def knots(self) -> Float[Array, " knots"]:
        """Times (s), in order (some twice), where it is only as smooth as `continuity` says."""

    @property
    @abstractmethod
    def inner_continuity(self) -> int:
        """Highest derivative of position and angles that is continuous for 0 < t < duration.

        6 stands for all that is carried; -1 for a jump in the pose itself.
        """

    @property
    @abstractmethod
    def rest_orders(self) -> tuple[int, int]:
        """How gently it leaves and reaches rest: derivatives 1 to n vanish at the start, at the end."""

    @abstractmethod
    def series(self, times: Float[Array, " *times"]) -> tuple[Series, Series]:
        """Taylor series of position (m) and of Euler angles (rad) at times inside [0, duration].

        Both have shape (7, *times, 3). At a knot the piece that begins there counts.
        """

    @property
    def continuity(self) -> int:
        """Highest continuous derivative at any time, the holds before and after included."""
        return min(self.inner_continuity, *self.rest_orders)

    def held_series(self, times: Float[Array, " *times"]) -> tuple[Series, Series]:
        """As `series`, at any times: outside [0, duration] the end poses, at rest."""
        xp = namespace(times, *self.leaves())
        inside = ((times >= 0) & (times <= self.duration))[..., None]
        position, euler = self.series(xp.clip(times, 0.0, self.duration))
        return _rest_unless(inside, position), _rest_unless(inside, euler)

    def sample(self, times: Array | float) -> Sample:
        """The wanted motion at `times` (s), in NumPy unless a time or a parameter belongs to JAX."""
        pytree.register()
        xp = namespace(times, *self.leaves())
        position, euler = self.held_series(xp.asarray(times, dtype=float))
        return Sample(
            position=xp.moveaxis(taylor.derivatives(position), 0, -2),
            attitude=quaternion(euler[0]),
            rate=xp.moveaxis(taylor.derivatives(body_rate(euler)), 0, -2),
            euler=xp.moveaxis(taylor.derivatives(euler), 0, -2),
        )

    @property
    def start(self) -> Sample:
        """The motion at t = 0."""
        return self.sample(0.0)

    @property
    def end(self) -> Sample:
        """The motion at t = duration, as it arrives there."""
        return self.sample(self.duration)


def body_rate(euler: Series) -> Series:
    """Series of the body rate Omega (rad/s) from that of roll, pitch, yaw; one coefficient shorter.

    Omega = (roll' - yaw' sin pitch,
             pitch' cos roll + yaw' cos pitch sin roll,
             yaw' cos pitch cos roll - pitch' sin roll)
    """
    d_roll, d_pitch, d_yaw = (taylor.differentiate(euler)[..., axis] for axis in range(3))
    (sin_roll, sin_pitch), (cos_roll, cos_pitch) = (
        (both[..., 0], both[..., 1]) for both in taylor.sin_cos(euler[:ORDER, ..., :2])
    )
    across = taylor.multiply(d_yaw, cos_pitch)
    return taylor.beside(
        [
            d_roll - taylor.multiply(d_yaw, sin_pitch),
            taylor.multiply(d_pitch, cos_roll) + taylor.multiply(across, sin_roll),
            taylor.multiply(across, cos_roll) - taylor.multiply(d_pitch, sin_roll),
        ]
    )


def quaternion(euler: Float[Array, "*times 3"]) -> Float[Array, "*times 4"]:
    """Unit quaternion (w, x, y, z) of Rz(yaw) Ry(pitch) Rx(roll); it never jumps as angles grow."""
    xp = namespace(euler)
    (sr, sp, sy), (cr, cp, cy) = (xp.moveaxis(f(euler / 2), -1, 0) for f in (xp.sin, xp.cos))
    return xp.stack(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ],
        axis=-1,
    )


def still(value: Float[Array, " 3"], times: Float[Array, " *times"]) -> Series:
    """The series of a point (or angles) that stays where it is, at every one of `times`."""
    xp = namespace(value, times)
    return taylor.constant(xp.broadcast_to(value, (*np.shape(times), 3)))


def _rest_unless(inside: Array, series: Series) -> Series:
    """Keep the value everywhere, derivatives only where `inside`."""
    xp = namespace(inside, series)
    return xp.concatenate([series[:1], xp.where(inside, series[1:], 0.0)])
