"""Straight from rest to rest: lines, take-off and landing."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float

from skyrig.arrays import (
    Array,
    Scalar,
    Vector,
    euler_angles,
    is_jax,
    namespace,
    numbers,
    positive,
    whole,
)
from skyrig.errors import InputError
from skyrig.planning import smoothstep
from skyrig.planning.phase import Phase
from skyrig.planning.pytree import static
from skyrig.planning.reference import Reference
from skyrig.planning.taylor import ORDER, Series


@dataclass(frozen=True, eq=False)
class Line(Reference):
    """x(t) = start + p_n(t/T) (end - start), and the same of the angles.

    With a `ramp` the speed grows for so long, stays, and falls as it grew: a `Phase` from 0 to 1 instead.
    """

    position: Float[Array, "2 3"]
    euler: Float[Array, "2 3"]
    seconds: Float[Array, ""]
    order: int = static(default=ORDER)
    ramp: Float[Array, ""] | None = None

    @property
    def duration(self) -> Array:
        """From rest to rest (s)."""
        return self.seconds

    @property
    def knots(self) -> Array:
        """Its two ends, and those of its ramps."""
        xp = namespace(self.seconds)
        if self.ramp is not None:
            return self._phase(self.ramp).knots
        return xp.stack([xp.zeros_like(self.seconds), self.seconds])

    @property
    def inner_continuity(self) -> int:
        """One polynomial: all derivatives; or that of its ramps."""
        return ORDER if self.ramp is None else self.order

    @property
    def rest_orders(self) -> tuple[int, int]:
        """As ordered."""
        return self.order, self.order

    def series(self, times: Array) -> tuple[Series, Series]:
        """Both ends mixed by the same smooth step."""
        if self.ramp is None:
            share = smoothstep.step(self.order, times / self.seconds, 1 / self.seconds)
        else:
            share = self._phase(self.ramp).series(times)
        position, euler = (_between(x, share[..., None]) for x in (self.position, self.euler))
        return position, euler

    def _phase(self, ramp: Array) -> Phase:
        return Phase(1 / (self.seconds - ramp), ramp, self.seconds - 2 * ramp, self.order)


def line(
    *,
    end: Vector,
    start: Vector = (0, 0, 0),
    attitude: Vector = 0.0,
    end_attitude: Vector | None = None,
    duration: Scalar | None = None,
    speed: Scalar | None = None,
    ramp: Scalar | None = None,
    continuity: int = ORDER,
) -> Line:
    """From rest at `start` to rest at `end`.

    Args:
        end: Where to go (m).
        start: Where from (m).
        attitude: Roll, pitch, yaw (rad) at the start, or a yaw alone.
        end_attitude: The same at the end; unchanged if left out.
        duration: How long it takes (s). Left out together with `speed`, it is RotorTM's: 5 s/m up to
            one metre, 10 s times the root of the distance beyond.
        speed: Instead of the duration, the highest speed on the way (m/s).
        ramp: Time in which the highest speed is reached, and left again (s); half of the whole, about, if
            left out.
        continuity: Derivatives up to this one are continuous, holds included: 2 is the published
            quintic, 4 a nonic, 6 a polynomial of degree 13.
    """
    whole("continuity", continuity, 1, ORDER)
    first, last = numbers("start", start, (3,)), numbers("end", end, (3,))
    before = euler_angles("attitude", attitude)
    after = before if end_attitude is None else euler_angles("end_attitude", end_attitude)
    xp = namespace(first, last, before, after, duration, speed)
    if duration is not None and speed is not None:
        raise InputError("duration and speed cannot both be given: one follows from the other.")
    rise = None if ramp is None else positive("ramp", ramp)
    if duration is not None:
        seconds = positive("duration", duration)
    else:
        distance = xp.sqrt(((last - first) ** 2).sum())
        if not is_jax(distance) and distance == 0:
            raise InputError("duration must be given when start and end are the same point.")
        if speed is not None:
            most = positive("speed", speed)
            seconds = (
                smoothstep.peak_rate(continuity) * distance / most if rise is None else distance / most + rise
            )
        else:
            seconds = xp.where(distance <= 1, 5 * distance, 10 * xp.sqrt(distance))
    if rise is not None and not is_jax(seconds) and not is_jax(rise) and 2 * rise > seconds:
        raise InputError(f"ramp must be at most half of the {float(seconds):.4g} s that the way takes.")
    ends, turns = xp.stack([first, last]), xp.stack([before, after])
    return Line(ends, turns, xp.asarray(seconds), continuity, None if rise is None else xp.asarray(rise))


def takeoff(
    *,
    height: Scalar = 1.0,
    start: Vector = (0, 0, 0),
    attitude: Vector = 0.0,
    duration: Scalar | None = None,
    speed: Scalar | None = None,
    ramp: Scalar | None = None,
    continuity: int = ORDER,
) -> Line:
    """Straight up from rest at `start` to rest at another height.

    Args:
        height: z of the end (m).
        start: Where from (m).
        attitude: Roll, pitch, yaw (rad), or a yaw alone.
        duration: How long it takes (s); as for `line` if left out together with `speed`.
        speed: Instead of the duration, the highest speed on the way (m/s).
        ramp: Time in which the highest speed is reached, and left again (s); half of the whole, about, if
            left out.
        continuity: Derivatives up to this one are continuous, holds included.
    """
    end = _above(start, height)
    return line(
        end=end,
        start=start,
        attitude=attitude,
        duration=duration,
        speed=speed,
        ramp=ramp,
        continuity=continuity,
    )


def land(
    *,
    height: Scalar = 0.0,
    start: Vector = (0, 0, 1),
    attitude: Vector = 0.0,
    duration: Scalar | None = None,
    speed: Scalar | None = None,
    ramp: Scalar | None = None,
    continuity: int = ORDER,
) -> Line:
    """Straight down from rest at `start` to rest at another height.

    Args:
        height: z of the end (m).
        start: Where from (m).
        attitude: Roll, pitch, yaw (rad), or a yaw alone.
        duration: How long it takes (s); as for `line` if left out together with `speed`.
        speed: Instead of the duration, the highest speed on the way (m/s).
        ramp: Time in which the highest speed is reached, and left again (s); half of the whole, about, if
            left out.
        continuity: Derivatives up to this one are continuous, holds included.
    """
    end = _above(start, height)
    return line(
        end=end,
        start=start,
        attitude=attitude,
        duration=duration,
        speed=speed,
        ramp=ramp,
        continuity=continuity,
    )


def _above(start: Vector, height: Scalar) -> Array:
    """The point at `height` above or below `start`."""
    first, z = numbers("start", start, (3,)), numbers("height", height)
    return namespace(first, z).stack([first[0], first[1], z])


def _between(ends: Float[Array, "2 3"], share: Series) -> Series:
    way = share * (ends[1] - ends[0])
    xp = namespace(ends, share)
    return xp.concatenate([ends[0] + way[:1], way[1:]])
