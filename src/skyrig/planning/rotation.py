"""Turning to and fro in place (RotorTM, Fig. 10 and Table VI), and any attitude on top of any path."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float

from skyrig.arrays import Array, Scalar, Vector, euler_angles, namespace, numbers
from skyrig.planning import registry
from skyrig.planning.lissajous import waves, whole_turns
from skyrig.planning.phase import Phase, Phased
from skyrig.planning.reference import Reference, still
from skyrig.planning.taylor import ORDER, Series


@dataclass(frozen=True, eq=False)
class Rotation(Phased):
    """Roll, pitch, yaw = mean_i + A_i sin(n_i theta + b_i) at one place, theta ramped from rest to rest.

    The rates that belong to it are exact; RotorTM takes the Euler angles' derivatives for them.
    """

    position: Float[Array, " 3"]
    mean: Float[Array, " 3"]
    amplitude: Float[Array, " 3"]
    frequency: Float[Array, " 3"]
    shift: Float[Array, " 3"]
    phase: Phase

    def series(self, times: Array) -> tuple[Series, Series]:
        """The position stays; the angles swing over the phase."""
        swing = waves(self.phase.series(times), self.amplitude, self.frequency, self.shift)
        return still(self.position, times), still(self.mean, times) + swing


@dataclass(frozen=True, eq=False)
class Combined(Reference):
    """The position of one reference with the attitude of another; the shorter one waits at its end."""

    place: Reference
    turn: Reference

    @property
    def duration(self) -> Array:
        """That of the longer one (s), but not for ever if the other ends."""
        a, b = self.place.duration, self.turn.duration
        xp = namespace(a, b)
        return xp.where(xp.isinf(a), b, xp.where(xp.isinf(b), a, xp.maximum(a, b)))

    @property
    def knots(self) -> Array:
        """Those of both."""
        a, b = self.place.knots, self.turn.knots
        xp = namespace(a, b)
        return xp.sort(xp.concatenate([a, b]))

    @property
    def inner_continuity(self) -> int:
        """That of the worse, whose own ends may now lie inside."""
        return min(self.place.continuity, self.turn.continuity)

    @property
    def rest_orders(self) -> tuple[int, int]:
        """Those of the worse."""
        (a, b), (c, d) = self.place.rest_orders, self.turn.rest_orders
        return min(a, c), min(b, d)

    def series(self, times: Array) -> tuple[Series, Series]:
        """One's position, the other's angles, each at rest once it is over."""
        return self.place.held_series(times)[0], self.turn.held_series(times)[1]


def rotation(
    *,
    amplitude: Vector,
    period: Scalar,
    frequency: Vector = (1, 1, 1),
    shift: Vector = (0, 0, 0),
    start: Vector = (0, 0, 0),
    attitude: Vector = 0.0,
    turns: Scalar | None = None,
    cruise: Scalar | None = None,
    ramp: Scalar | None = None,
    continuity: int = ORDER,
) -> Rotation:
    """Swing roll, pitch and yaw as sines about a mean attitude, from rest to rest.

    Args:
        amplitude: Of roll, pitch, yaw (rad); zero leaves an angle alone.
        period: Of one swing at cruise (s).
        frequency: Swings of each angle in one period.
        shift: Phases b of each angle (rad); zero begins and ends at the mean attitude.
        start: Position (m).
        attitude: Mean roll, pitch, yaw (rad), or a yaw alone.
        turns: Swings in all, ramps included, 3 if nothing is said; or
        cruise: time at the full rate (s).
        ramp: Time to reach the full rate (s); one period if left out.
        continuity: Derivatives up to this one are continuous, holds included.
    """
    return Rotation(
        position=numbers("start", start, (3,)),
        mean=euler_angles("attitude", attitude),
        amplitude=numbers("amplitude", amplitude, (3,)),
        frequency=numbers("frequency", frequency, (3,)),
        shift=numbers("shift", shift, (3,)),
        phase=whole_turns(period, ramp, turns, cruise, continuity),
    )


def combined(
    *,
    path: object,
    rotation: object,
    start: Vector | None = None,
    attitude: Vector | None = None,
    directory: str | None = None,
) -> Combined:
    """Fly the position of one reference with the attitude of another.

    Args:
        path: A reference, or the description of one; its attitude is not used.
        rotation: A reference, or the description of one; its position is not used.
        start: Where the path begins (m), if its description does not say.
        attitude: Mean roll, pitch, yaw (rad), if the rotation's description does not say.
        directory: Where files named in a description lie.
    """
    return Combined(
        registry.build(path, "path", start=start, directory=directory),
        registry.build(rotation, "rotation", attitude=attitude, directory=directory),
    )
