"""A phase that starts at rest, runs at a constant rate and comes to rest: the clock of periodic motions.

RotorTM ramps the rate of its circle by a quintic over rate/acceleration seconds; slowing down is
speeding up seen backwards in time, which settles every sign.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from jaxtyping import Float

from skyrig.arrays import Array, Scalar, is_jax, namespace, numbers, positive, whole
from skyrig.errors import InputError
from skyrig.planning import smoothstep
from skyrig.planning.pytree import Tree, static
from skyrig.planning.reference import Reference
from skyrig.planning.taylor import ORDER, Series, constant, variable


@dataclass(frozen=True, eq=False)
class Phase(Tree):
    """theta(t) with theta' = rate * p_n(t/ramp) at first, then rate, then the first part mirrored.

    Attributes:
        rate: Cruising rate (rad/s).
        ramp: Time to reach it, and to leave it (s).
        cruise: Time at that rate (s).
        continuity: Highest continuous derivative of theta, at rest before and after.
    """

    rate: Float[Array, ""]
    ramp: Float[Array, ""]
    cruise: Float[Array, ""]
    continuity: int = static(default=ORDER)

    @property
    def duration(self) -> Array:
        """From rest to rest (s)."""
        return 2 * self.ramp + self.cruise

    @property
    def total(self) -> Array:
        """Angle swept from rest to rest (rad); each ramp sweeps half of what cruising would."""
        return self.rate * (self.ramp + self.cruise)

    @property
    def knots(self) -> Float[Array, " 4"]:
        """Where ramps and cruise meet (s), and both ends."""
        xp = namespace(self.ramp, self.cruise)
        return xp.stack([0 * self.ramp, self.ramp, self.ramp + self.cruise, self.duration])

    def series(self, times: Float[Array, " *times"]) -> Series:
        """The series of theta (rad) at times inside [0, duration]."""
        xp = namespace(times, self.rate, self.ramp, self.cruise)
        up = self._ramp(xp.clip(times, 0, self.ramp), 1.0)
        cruise = variable(self.rate * (times - self.ramp / 2), self.rate)
        left = xp.clip(self.duration - times, 0, self.ramp)
        down = constant(self.total + 0 * times) - self._ramp(left, -1.0)
        return xp.where(times < self.ramp, up, xp.where(times < self.ramp + self.cruise, cruise, down))

    def _ramp(self, times: Array, direction: float) -> Series:
        n = self.continuity - 1  # theta' has one continuous derivative less than theta
        share = smoothstep.integral(n, times / self.ramp, direction / self.ramp)
        return self.rate * self.ramp * share


def phase(
    *,
    period: Scalar,
    ramp: Scalar,
    turns: Scalar | None,
    cruise: Scalar | None,
    continuity: int,
) -> Phase:
    """A checked `Phase` from what people give.

    Args:
        period: Of one turn at cruise (s); negative turns the other way.
        ramp: Time to reach the cruising rate (s).
        turns: Turns in all, ramps included; or
        cruise: time at the cruising rate (s).
        continuity: Highest continuous derivative, 1 to 6; 3 is the published quintic ramp.
    """
    whole("continuity", continuity, 1, ORDER)
    period = numbers("period", period)
    if not is_jax(period) and period == 0:
        raise InputError("period must not be zero.")
    ramp = positive("ramp", ramp)
    if (turns is None) == (cruise is None):
        raise InputError("turns or cruise must be given, and not both.")
    if turns is not None:
        seconds = positive("turns", turns) * abs(period) - ramp
        if not is_jax(seconds) and seconds < -1e-12 * ramp:
            least = float(ramp / abs(period))
            raise InputError(
                f"turns must be at least {least:.6g}: its two ramps of {ramp:g} s make that many."
            )
        seconds = namespace(seconds).maximum(seconds, 0.0)
    else:
        seconds = numbers("cruise", cruise)
        if not is_jax(seconds) and seconds < 0:
            raise InputError(f"cruise must not be negative, not {seconds:g} s.")
    return Phase(2 * math.pi / period, ramp, namespace(seconds).asarray(seconds), continuity)


class Phased(Reference):
    """A reference that follows a phase."""

    phase: Phase

    @property
    def duration(self) -> Array:
        """Both ramps and the cruise (s)."""
        return self.phase.duration

    @property
    def knots(self) -> Array:
        """Where ramps and cruise meet, and both ends."""
        return self.phase.knots

    @property
    def inner_continuity(self) -> int:
        """That of the ramps."""
        return self.phase.continuity

    @property
    def rest_orders(self) -> tuple[int, int]:
        """That of the ramps."""
        return self.phase.continuity, self.phase.continuity
