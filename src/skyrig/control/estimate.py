"""Where bodies are, from noisy measurements, and where they will be when a command takes hold.

Between two ticks a controller knows what it asked for, so it knows roughly how bodies accelerated. An
estimate is carried on with that and corrected by each measurement, as far as the stated noise makes a
measurement worth more than what is known already: a Kalman filter whose gains are constant and computed when
the controller is built. Without noise its gains are one, and the estimate is the measurement, exactly.

A command acts late by whole control periods of delay and by the lag of rotors. Delay is bridged by the
commands on their way. Lag is bridged exactly: with rotors of time constant T, x + T x' and x' + T x'' move
like a double integrator that is accelerated by the commands themselves.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig import algebra
from skyrig.algebra import as_jax, by_content
from skyrig.control.feedback import ahead
from skyrig.control.gains import Clock
from skyrig.control.interface import Noise, axes
from skyrig.rigs.bodies import Bodies

MANY = 1e3
"""Measurements after which none counts as early."""
ACCELERATION, SPIN = 1.0, 3.0
"""How wrong a controller's idea of accelerations is from tick to tick (m/s^2, rad/s^2)."""
LEAST = 1e-9
"""Accelerations are never believed more exactly than this (m/s^2 or rad/s^2)."""
ROUNDS = 2000
"""Measurements after which gains count as steady."""
JUMP = 6.0
"""Standard deviations of a measurement beyond which it is no noise."""


class Filter(eqx.Module):
    """How far measurements are believed, and how well an estimate is known then."""

    moves: Float[Array, "2 2 ..."] = axes(2)
    """Corrections of position and velocity (rows) from what was measured of both (columns)."""
    turns: Float[Array, "2 2 ..."] = axes(2)
    """The same of attitude and body rate."""
    position: Float[Array, " ..."] = axes(0)
    """Standard deviation of the estimated position (m)."""
    velocity: Float[Array, " ..."] = axes(0)
    """Of the velocity (m/s)."""
    attitude: Float[Array, " ..."] = axes(0)
    """Of the attitude (rad)."""
    rate: Float[Array, " ..."] = axes(0)
    """Of the body rate (rad/s)."""
    jerk: Float[Array, " ..."] = axes(0)
    """A velocity measured this much off what was expected has really jumped: a cable came taut (m/s)."""
    twitch: Float[Array, " ..."] = axes(0)
    """The same of body rates (rad/s)."""

    @staticmethod
    @cache
    def sharp() -> Filter:
        """The filter that believes every measurement."""
        return Filter.of(Noise.of(), 1.0)

    @staticmethod
    def of(noise: Noise, period: Any, acceleration: float = ACCELERATION, spin: float = SPIN) -> Filter:
        """The steady Kalman filter of bodies.

        Args:
            noise: Of the measurements.
            period: Between them (s).
            acceleration: How wrong believed accelerations are from tick to tick (m/s^2, standard deviation).
            spin: How wrong believed angular accelerations are (rad/s^2).
        """
        each = (np.asarray(it) for it in (noise.position, noise.velocity, noise.attitude, noise.rate))
        position, velocity, attitude, rate = each
        moves, where = steady_gains(np.array([position, velocity, period, acceleration], dtype=float))
        turns, how = steady_gains(np.array([attitude, rate, period, spin], dtype=float))
        return Filter(*(as_jax(it) for it in (moves, turns, *where, *how, JUMP * velocity, JUMP * rate)))


@by_content
def steady_gains(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Kalman gains (2, 2) for a value and its rate, both measured, and the deviations of both estimates.

    Args:
        numbers: Deviations of the value's and the rate's measurement, the period (s), and the deviation of
            the rate's derivative, which is constant over a period and independent of the others.
    """
    value, rate, period, push = numbers.tolist()
    if value == 0 and rate == 0:
        return np.eye(2), np.zeros(2)
    if rate == 0:
        # the way since the start is known exactly, so k measurements leave a k-th of the start's variance
        new = 1 / (ROUNDS + 1)
        return np.array([[new, period / 2 * (1 - new)], [0.0, 1.0]]), np.array([value * np.sqrt(new), 0.0])
    # in plain numbers, for a sweep over noise builds thousands of controllers
    gain, known = ((1.0, 0.0), (0.0, 1.0)), (value**2, 0.0, rate**2, value**2 * rate**2)
    for _ in range(ROUNDS):
        gain, new = _corrected_once(known, value**2, rate**2, period, max(push, LEAST))
        if all(abs(one - other) <= 1e-9 * abs(other) for one, other in zip(new, known, strict=True)):
            break
        known = new
    return np.array(gain), np.sqrt([known[0], known[2]])


def _corrected_once(known: Any, value: float, rate: float, period: float, push: float) -> Any:
    """The gain of a measurement with these variances, a period after `known`, and the covariance then.

    A covariance P is given as P_11, P_12, P_22 and det P. With A the one ahead of the measurement and R that
    of its noise, which is diagonal, K = A (A + R)^-1 and P = R (A + R)^-1 A; written out like this, nothing
    is ever subtracted, so no digits are lost where one of the two is measured far better than the other.
    """
    kick = push * period
    first = known[0] + period * (2 * known[1] + period * known[2]) + (kick * period / 2) ** 2
    mixed = known[1] + period * (known[2] + kick**2 / 2)
    second = known[2] + kick**2
    size = known[3] + kick**2 * (known[0] + period * (known[1] + period / 4 * known[2]))
    total = size + rate * first + value * second + value * rate
    gain = (
        ((size + rate * first) / total, value * mixed / total),
        (rate * mixed / total, (size + value * second) / total),
    )
    return gain, (value * gain[0][0], value * gain[1][0], rate * gain[1][1], value * rate * size / total)


class Late(eqx.Module):
    """What stands between a measurement and the command it leads to."""

    period: Float[Array, " ..."] = axes(0)
    """Between ticks (s)."""
    lag: Float[Array, " ..."] = axes(0)
    """Time constant of the rotors (s)."""
    delay: int = eqx.field(static=True, default=0)
    """Control periods until a command takes effect."""

    @staticmethod
    def of(clock: Clock) -> Late:
        """What a clock says."""
        return Late(as_jax(clock.period), as_jax(clock.lag), clock.delay)

    @property
    def lead(self) -> Any:
        """From a measurement to when the command it leads to has taken effect, on average (s)."""
        return self.period / 2 + self.delay * self.period + self.lag


class Estimate(eqx.Module):
    """Where bodies are believed to be, how they are believed to accelerate, and what they were asked."""

    bodies: Bodies
    acceleration: Float[Array, "3 ..."]
    """Since the last tick (m/s^2)."""
    spin: Float[Array, "3 ..."]
    """At this instant (rad/s^2, body frame)."""
    asked: tuple[Float[Array, "3 ..."], ...]
    """Angular accelerations asked for, that in effect first (rad/s^2)."""
    count: Float[Array, " ..."]
    """Of measurements so far, up to `MANY`: early ones count as much as all before them together (1)."""

    @staticmethod
    def start(bodies: Bodies, delay: int) -> Estimate:
        """Before the first measurement."""
        zero = jnp.zeros_like(bodies.rate)
        return Estimate(bodies, zero, zero, (zero,) * (delay + 1), zero[0])

    def measured(self, how: Filter, late: Late, seen: Bodies) -> Estimate:
        """With the measurement of a tick."""
        mean, spin = lagged(self.spin, self.asked[0], late)
        expected = ahead(self.bodies, late.period, self.acceleration, mean)
        found = _corrected(how, expected, seen, 1 / (self.count + 1))
        begun = self.count > 0
        bodies = jax.tree.map(lambda one, other: jnp.where(begun, one, other), found, seen)
        spin = jnp.where(begun, spin, 0.0)
        count = jnp.minimum(self.count + 1, MANY)
        return Estimate(bodies, self.acceleration, spin, self.asked[1:], count)

    def due(self, late: Late) -> Bodies:
        """Where bodies will be when the command decided now takes hold."""
        bodies, spin = self.bodies, self.spin
        for asked in self.asked:
            mean, spin = lagged(spin, asked, late)
            bodies = ahead(bodies, late.period, self.acceleration, mean)
        turned = bodies.attitude + late.lag * algebra.attitude_rate(bodies.attitude, bodies.rate)
        return Bodies(
            bodies.position + late.lag * bodies.velocity,
            bodies.velocity + late.lag * self.acceleration,
            algebra.normalised(turned),
            bodies.rate + late.lag * spin,
        )

    def strange(self, before: Estimate, late: Late) -> Float[Array, "3 ..."]:
        """Acceleration since the estimate `before`, a tick ago, beyond the one believed then (m/s^2)."""
        gained = (self.bodies.velocity - before.bodies.velocity) / late.period
        return jnp.where(before.count > 0, gained - before.acceleration, 0.0)

    def commanded(self, acceleration: Float[Array, "3 ..."], spin: Float[Array, "3 ..."]) -> Estimate:
        """With what is believed to act from now on (m/s^2), and what is asked for (rad/s^2)."""
        return Estimate(self.bodies, acceleration, self.spin, (*self.asked, spin), self.count)


def lagged(made: Array, asked: Array, late: Late) -> tuple[Array, Array]:
    """What rotors that made `made` make of a command `asked`: the mean over a period, and that at its end."""
    lag = jnp.maximum(late.lag, 1e-9)
    left = jnp.exp(-late.period / lag)
    return asked + (made - asked) * (1 - left) * lag / late.period, asked + (made - asked) * left


def _corrected(how: Filter, expected: Bodies, seen: Bodies, early: Array) -> Bodies:
    away, drift = seen.position - expected.position, seen.velocity - expected.velocity
    signs = jnp.array([1.0, -1.0, -1.0, -1.0], expected.attitude.dtype)
    back = expected.attitude * signs.reshape(4, *[1] * (away.ndim - 1))
    between = algebra.multiply(back, seen.attitude)
    turn = 2 * between[1:] * jnp.where(between[0] < 0, -1.0, 1.0)
    spun = seen.rate - expected.rate
    moves, turns = how.moves, how.turns
    where, how_fast = jnp.maximum(moves[0, 0], early), jnp.maximum(moves[1, 1], early)
    whither, how_quick = jnp.maximum(turns[0, 0], early), jnp.maximum(turns[1, 1], early)
    rotated = whither * turn + turns[0, 1] * spun
    attitude = expected.attitude + algebra.attitude_rate(expected.attitude, rotated)
    found = Bodies(
        expected.position + where * away + moves[0, 1] * drift,
        expected.velocity + moves[1, 0] * away + how_fast * drift,
        algebra.normalised(attitude),
        expected.rate + turns[1, 0] * turn + how_quick * spun,
    )
    # where nothing blurs the measurement, it is the estimate to the last digit
    sharp, still = _sharp(moves), _sharp(turns)
    jumped, spun = jnp.abs(drift).max(0) > how.jerk, jnp.abs(spun).max(0) > how.twitch
    return Bodies(
        jnp.where(sharp, seen.position, found.position),
        jnp.where(sharp | jumped, seen.velocity, found.velocity),
        jnp.where(still, seen.attitude, found.attitude),
        jnp.where(still | spun, seen.rate, found.rate),
    )


def _sharp(gains: Array) -> Array:
    return (gains[0, 0] == 1) & (gains[1, 1] == 1) & (gains[0, 1] == 0) & (gains[1, 0] == 0)
