"""Staying in one place, and jumping to another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from skyrig.arrays import Array, Scalar, Vector, euler_angles, is_jax, namespace, numbers, positive
from skyrig.errors import InputError
from skyrig.planning.reference import Reference, still
from skyrig.planning.taylor import ORDER, Series


@dataclass(frozen=True, eq=False)
class Hover(Reference):
    """One pose held at rest."""

    position: Float[Array, " 3"]
    euler: Float[Array, " 3"]
    seconds: Float[Array, ""]

    @property
    def duration(self) -> Array:
        """How long it is asked for (s)."""
        return self.seconds

    @property
    def knots(self) -> Array:
        """None: nothing ever changes."""
        return namespace(self.seconds).zeros(0)

    @property
    def inner_continuity(self) -> int:
        """All derivatives: they are zero."""
        return ORDER

    @property
    def rest_orders(self) -> tuple[int, int]:
        """At rest throughout."""
        return ORDER, ORDER

    def series(self, times: Array) -> tuple[Series, Series]:
        """The pose, with every derivative zero."""
        return still(self.position, times), still(self.euler, times)


@dataclass(frozen=True, eq=False)
class Step(Reference):
    """One pose until `time`, another from then on: no rig can follow, many papers fly it."""

    position: Float[Array, "2 3"]
    euler: Float[Array, "2 3"]
    time: Float[Array, ""]
    seconds: Float[Array, ""]

    @property
    def duration(self) -> Array:
        """How long it is asked for, both poses together (s)."""
        return self.seconds

    @property
    def knots(self) -> Array:
        """The moment of the jump."""
        return namespace(self.time).reshape(self.time, (1,))

    @property
    def inner_continuity(self) -> int:
        """-1: the pose itself jumps."""
        return -1

    @property
    def rest_orders(self) -> tuple[int, int]:
        """At rest on both sides of the jump."""
        return ORDER, ORDER

    def series(self, times: Array) -> tuple[Series, Series]:
        """The pose of the moment, with every derivative zero."""
        xp = namespace(times, self.time)
        after = (times >= self.time)[..., None]
        before_after = ((still(x[0], times), still(x[1], times)) for x in (self.position, self.euler))
        position, euler = (xp.where(after, new, old) for old, new in before_after)
        return position, euler


def hover(*, start: Vector = (0, 0, 0), attitude: Vector = 0.0, duration: Scalar | None = None) -> Hover:
    """Stay at `start`.

    Args:
        start: Position (m).
        attitude: Roll, pitch, yaw (rad), or a yaw alone.
        duration: How long (s); for ever if left out.
    """
    return Hover(numbers("start", start, (3,)), euler_angles("attitude", attitude), _seconds(duration))


def step(
    *,
    end: Vector,
    start: Vector = (0, 0, 0),
    attitude: Vector = 0.0,
    end_attitude: Vector | None = None,
    time: Scalar = 0.0,
    duration: Scalar | None = None,
) -> Step:
    """Stand at `start`, then want to be at `end` at once.

    Args:
        end: Position after the jump (m).
        start: Position before the jump (m).
        attitude: Roll, pitch, yaw (rad) before the jump, or a yaw alone.
        end_attitude: The same after the jump; unchanged if left out.
        time: When it jumps (s); at 0 the flight begins away from its reference.
        duration: How long both poses are held together (s); for ever if left out.
    """
    time = numbers("time", time)
    if not is_jax(time) and time < 0:
        raise InputError(f"time must not be negative, not {time:g} s.")
    before = euler_angles("attitude", attitude)
    after = before if end_attitude is None else euler_angles("end_attitude", end_attitude)
    first, last = numbers("start", start, (3,)), numbers("end", end, (3,))
    xp = namespace(first, last, before, after)
    return Step(xp.stack([first, last]), xp.stack([before, after]), time, _seconds(duration))


def _seconds(duration: Scalar) -> Array:
    return np.asarray(np.inf) if duration is None else positive("duration", duration)
