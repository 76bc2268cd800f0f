"""Lissajous figures, the figure-8 among them, from rest to rest."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float

from skyrig.arrays import Array, Scalar, Vector, euler_angles, namespace, numbers
from skyrig.errors import InputError
from skyrig.planning import taylor
from skyrig.planning.phase import Phase, Phased, phase
from skyrig.planning.reference import still
from skyrig.planning.taylor import ORDER, Series


@dataclass(frozen=True, eq=False)
class Lissajous(Phased):
    """x_i(t) = centre_i + A_i sin(n_i theta + b_i), theta ramped from rest to rest."""

    center: Float[Array, " 3"]
    amplitude: Float[Array, " 3"]
    frequency: Float[Array, " 3"]
    shift: Float[Array, " 3"]
    euler: Float[Array, " 3"]
    phase: Phase

    def series(self, times: Array) -> tuple[Series, Series]:
        """The figure over the phase; the attitude stays."""
        theta = self.phase.series(times)
        moved = waves(theta, self.amplitude, self.frequency, self.shift)
        return still(self.center, times) + moved, still(self.euler, times)


def waves(theta: Series, amplitude: Array, frequency: Array, shift: Array) -> Series:
    """Three sines A_i sin(n_i theta + b_i), along a new last axis."""
    sine, _ = taylor.sin_cos(theta[..., None] * frequency + still(shift, theta[0]))
    return amplitude * sine


def lissajous(
    *,
    amplitude: Vector,
    period: Scalar,
    frequency: Vector = (1, 2, 0),
    shift: Vector = (0, 0, 0),
    start: Vector | None = None,
    center: Vector | None = None,
    turns: Scalar | None = None,
    cruise: Scalar | None = None,
    ramp: Scalar | None = None,
    attitude: Vector = 0.0,
    continuity: int = ORDER,
) -> Lissajous:
    """Speed up from rest along a Lissajous figure, run through it, and come to rest.

    Args:
        amplitude: Of x, y, z (m).
        period: Of the phase at cruise (s); negative runs the figure backwards.
        frequency: Waves of x, y, z in one turn of the phase; whole numbers close the figure.
        shift: Phases b of x, y, z (rad).
        start: Where it begins (m), (0, 0, 0) if left out; or
        center: the middle of the figure (m).
        turns: Turns of the phase in all, ramps included, 3 if nothing is said; or
        cruise: time at the full rate (s).
        ramp: Time to reach the full rate (s); one period if left out.
        attitude: Roll, pitch, yaw (rad), or a yaw alone.
        continuity: Derivatives up to this one are continuous, holds included.
    """
    clock = whole_turns(period, ramp, turns, cruise, continuity)
    size, waves_a_turn = numbers("amplitude", amplitude, (3,)), numbers("frequency", frequency, (3,))
    b = numbers("shift", shift, (3,))
    if start is not None and center is not None:
        raise InputError("start and center cannot both be given: one follows from the other.")
    if center is None:
        first = numbers("start", (0.0, 0.0, 0.0) if start is None else start, (3,))
        middle = first - size * namespace(b).sin(b)
    else:
        middle = numbers("center", center, (3,))
    return Lissajous(middle, size, waves_a_turn, b, euler_angles("attitude", attitude), clock)


def figure_8(
    *,
    amplitude: Vector,
    period: Scalar,
    start: Vector | None = None,
    center: Vector | None = None,
    turns: Scalar | None = None,
    cruise: Scalar | None = None,
    ramp: Scalar | None = None,
    attitude: Vector = 0.0,
    continuity: int = ORDER,
) -> Lissajous:
    """A level figure-8 that begins in its crossing: x = A sin(theta), y = B sin(2 theta).

    Args:
        amplitude: A along x and B along y (m).
        period: Of one whole 8 at cruise (s).
        start: Where it begins (m), (0, 0, 0) if left out; or
        center: the crossing (m), which is the same point.
        turns: Times round in all, ramps included, 3 if nothing is said; or
        cruise: time at the full rate (s).
        ramp: Time to reach the full rate (s); one period if left out.
        attitude: Roll, pitch, yaw (rad), or a yaw alone.
        continuity: Derivatives up to this one are continuous, holds included.
    """
    size = numbers("amplitude", amplitude, (2,))
    xp = namespace(size)
    return lissajous(
        amplitude=xp.concatenate([size, xp.zeros(1)]),
        period=period,
        start=start,
        center=center,
        turns=turns,
        cruise=cruise,
        ramp=ramp,
        attitude=attitude,
        continuity=continuity,
    )


def whole_turns(period: Scalar, ramp: Scalar, turns: Scalar, cruise: Scalar, continuity: int) -> Phase:
    """The clock of a periodic motion that closes by default: ramps of one period, three turns in all."""
    if turns is None and cruise is None:
        turns = 3
    if ramp is None:
        ramp = abs(numbers("period", period))
    return phase(period=period, ramp=ramp, turns=turns, cruise=cruise, continuity=continuity)
