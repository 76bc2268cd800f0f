"""Vehicles that give less thrust than they are asked for, found out while they hang on nothing.

A vehicle whose rotors fail it cannot pull any more, so its cable goes slack; then nothing but its own thrust
and weight act on it, and how its vertical speed changes tells how much thrust is missing. What is missing of
all vehicles alike is no loss but a wrong mass, which the payload's integral has learnt: a vehicle has lost
thrust if it misses much more than that. It is kept out of the carrying, close enough for its cable to stay
slack, until its thrust is back.

Vertical speeds come from the controller's estimate (`estimate.py`), which is carried on with what is known to
be missing. So both together are an observer of vertical speed and missing thrust, and noise in the one makes
no offset in the other.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from skyrig.control.estimate import Late, lagged

LEARN, UNLEARN = 8.0, 40.0
"""Rates at which missing thrust is learnt, and unlearnt where a surplus is sure: it jerks cables (rad/s)."""
WEAK, STRONG = 0.15, 0.07
"""Missing thrust, in weights of the vehicle, from which it is kept out, and below which it carries again."""


class ThrustLoss(eqx.Module):
    """What is missing of each vehicle's thrust, and what it takes to go on looking."""

    missing: Float[Array, "n ..."]
    """Vertical thrust (N)."""
    out: Bool[Array, "n ..."]
    """Whether the vehicle is kept out of the carrying."""
    made: Float[Array, "n ..."]
    """Vertical thrust that healthy rotors would make by now (N)."""
    asked: tuple[Float[Array, "n ..."], ...]
    """Vertical thrusts asked for, that in effect first (N)."""
    climb: Float[Array, "n ..."]
    """Vertical speed estimated at the last tick (m/s)."""
    free: Bool[Array, "n ..."]
    """Whether the vehicle hung on nothing at the last tick."""

    @staticmethod
    def none(weight: Float[Array, "n ..."], late: Late) -> ThrustLoss:
        """Vehicles that are believed to be well and to have carried their own `weight` (N) so far."""
        zero, no = jnp.zeros_like(weight), jnp.zeros_like(weight, dtype=bool)
        return ThrustLoss(zero, no, weight, (weight,) * (late.delay + 1), zero, no)

    def seen(
        self, it: Any, climb: Float[Array, "n ..."], free: Bool[Array, "n ..."], alike: Float[Array, " ..."]
    ) -> ThrustLoss:
        """What is known after a period more.

        Args:
            it: The controller: `mass`, `gravity`, `late` and `sight`.
            climb: Vertical speeds now (m/s).
            free: Whether the vehicles hang on nothing now.
            alike: Thrust that every vehicle seems to miss, as the payload's integral has learnt it (N).
        """
        weight, period = it.mass * it.gravity, it.late.period
        mean, made = lagged(self.made, self.asked[0], it.late)
        short = mean - weight - it.mass * (climb - self.climb) / period - self.missing
        # no noise moves an estimated speed so far in one period
        noise = it.mass * it.sight.moves[1, 1] * it.sight.jerk / period
        rate = 1 - jnp.exp(-jnp.where(short < -noise, UNLEARN, LEARN) * period)
        # one that hangs on its cable shows nothing, and a weak one would not hang: what was known fades
        short = jnp.where(free & self.free, short, alike - self.missing)
        missing = jnp.clip(self.missing + rate * short, -0.5 * weight, weight)
        lost = missing - alike
        out = jnp.where(self.out, lost > STRONG * weight, free & (lost > WEAK * weight))
        return ThrustLoss(missing, out, made, self.asked[1:], climb, free)

    def commanded(self, thrust: Float[Array, "n ..."]) -> ThrustLoss:
        """The same with the vertical thrusts asked for now (N)."""
        return ThrustLoss(self.missing, self.out, self.made, (*self.asked, thrust), self.climb, self.free)
