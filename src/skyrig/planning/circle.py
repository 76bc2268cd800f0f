"""Around a horizontal circle (RotorTM, eq. 58) from rest to rest."""

from __future__ import annotations

import math
from dataclasses import dataclass

from jaxtyping import Float

from skyrig.arrays import Array, Scalar, Vector, euler_angles, is_jax, namespace, numbers, positive
from skyrig.errors import InputError
from skyrig.planning import taylor
from skyrig.planning.phase import Phase, Phased, phase
from skyrig.planning.pytree import static
from skyrig.planning.taylor import ORDER, Series

ACCELERATION = math.pi / 40
"""Mean angular acceleration of RotorTM's ramps (rad/s^2)."""


@dataclass(frozen=True, eq=False)
class Circle(Phased):
    """x(t) = centre + r (cos(a + theta), sin(a + theta), 0), theta ramped from rest to rest."""

    center: Float[Array, " 3"]
    radius: Float[Array, ""]
    angle: Float[Array, ""]
    euler: Float[Array, " 3"]
    phase: Phase
    facing: bool = static(default=False)

    def series(self, times: Array) -> tuple[Series, Series]:
        """The circle over the phase; a facing body yaws along with it."""
        theta = self.phase.series(times)
        xp = namespace(theta, self.center, self.radius, self.angle, self.euler)
        sine, cosine = taylor.sin_cos(theta + taylor.constant(self.angle + 0 * times))
        zero = xp.zeros_like(theta)
        around = self.radius * xp.stack([cosine, sine, zero], axis=-1)
        turned = xp.stack([zero, zero, theta if self.facing else zero], axis=-1)
        still = xp.zeros_like(times)[..., None]
        return around + taylor.constant(self.center + still), turned + taylor.constant(self.euler + still)


def circle(
    *,
    radius: Scalar,
    period: Scalar,
    start: Vector | None = None,
    center: Vector | None = None,
    angle: Scalar = 0.0,
    turns: Scalar | None = None,
    cruise: Scalar | None = None,
    ramp: Scalar | None = None,
    acceleration: Scalar = ACCELERATION,
    attitude: Vector = 0.0,
    facing: bool = False,
    continuity: int = ORDER,
) -> Circle:
    """Speed up from rest, go round at a constant rate, and come to rest on the circle.

    Args:
        radius: Of the circle (m).
        period: Of one turn at cruise (s); negative turns clockwise seen from above.
        start: Where it begins (m), (0, 0, 0) if left out; or
        center: the middle of the circle (m).
        angle: Direction from the centre to the start (rad, from x towards y).
        turns: Turns in all, ramps included: a whole number ends where it began; or
        cruise: time at the full rate (s). Left out both, it cruises for one period.
        ramp: Time to reach the full rate (s); left out, it follows from
        acceleration: the ramp's mean angular acceleration (rad/s^2), RotorTM's pi/40.
        attitude: Roll, pitch, yaw (rad), or a yaw alone.
        facing: Whether the body yaws along, keeping its side to the centre.
        continuity: Derivatives up to this one are continuous, holds included: 6 by default,
            3 is the published quintic ramp of the rate.
    """
    radius, angle = positive("radius", radius), numbers("angle", angle)
    period = numbers("period", period)
    if not is_jax(period) and period == 0:
        raise InputError("period must not be zero.")
    xp = namespace(radius, angle, start, center)
    if not isinstance(facing, bool):
        raise InputError(f"facing must be true or false, not {facing!r}.")
    if ramp is None:
        ramp = 2 * math.pi / abs(period) / positive("acceleration", acceleration)
    if turns is None and cruise is None:
        cruise = abs(period)
    if start is not None and center is not None:
        raise InputError("start and center cannot both be given: one follows from the other.")
    if center is None:
        first = numbers("start", (0.0, 0.0, 0.0) if start is None else start, (3,))
        middle = first - radius * xp.stack([xp.cos(angle), xp.sin(angle), xp.zeros_like(angle)])
    else:
        middle = numbers("center", center, (3,))
    clock = phase(period=period, ramp=ramp, turns=turns, cruise=cruise, continuity=continuity)
    return Circle(middle, radius, angle, euler_angles("attitude", attitude), clock, facing)
