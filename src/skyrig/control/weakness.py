"""Vehicles that give less thrust than they are asked for, found out while their cables are slack.

A vehicle whose rotors fail it cannot pull any more, so its cable goes slack; then nothing but its own thrust
and weight act on it, and how its vertical speed changes tells how much thrust is missing. A vehicle that
misses much is kept out of the carrying, close enough for its cable to stay slack, until its thrust is back.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

LEARN, UNLEARN = 8.0, 40.0
"""Rates at which missing thrust is learnt, and unlearnt once it is back, as surplus jerks cables (rad/s)."""
WEAK, STRONG = 0.15, 0.07
"""Missing thrust, in weights of the vehicle, from which it is kept out, and below which it carries again."""


class Weakness(eqx.Module):
    """What is missing of each vehicle's thrust, and what it takes to go on looking."""

    missing: Float[Array, "n ..."]
    """Vertical thrust (N)."""
    weak: Bool[Array, "n ..."]
    """Whether it is kept out of the carrying."""
    asked: Float[Array, "n ..."]
    """Vertical thrust asked for at the last tick (N)."""
    climb: Float[Array, "n ..."]
    """Vertical speed measured at the last tick (m/s)."""
    free: Bool[Array, "n ..."]
    """Whether the cable was slack at the last tick."""

    @staticmethod
    def none(like: Float[Array, "n ..."]) -> Weakness:
        """Vehicles that are believed to be well."""
        zero, no = jnp.zeros_like(like), jnp.zeros_like(like, dtype=bool)
        return Weakness(zero, no, zero, zero, no)

    def seen(self, it: Any, climb: Float[Array, "n ..."], free: Bool[Array, "n ..."]) -> Weakness:
        """What is known after a period more.

        Args:
            it: The controller: `mass`, `gravity` and `late`.
            climb: Vertical speeds now (m/s).
            free: Whether the cables are slack now.
        """
        weight = it.mass * it.gravity
        gained = it.mass * (climb - self.climb) / it.late.period
        short = self.asked - weight - gained - self.missing
        rate = 1 - jnp.exp(-jnp.where(short > 0, LEARN, UNLEARN) * it.late.period)
        rate = jnp.where(free & self.free, rate, 0.0)
        missing = jnp.clip(self.missing + rate * short, -0.5 * weight, weight)
        # one that hangs on its cable shows nothing: it keeps what was known until it is free again
        weak = jnp.where(self.weak, missing > STRONG * weight, free & (missing > WEAK * weight))
        return Weakness(missing, weak, self.asked, climb, free)

    def told(self, asked: Float[Array, "n ..."]) -> Weakness:
        """The same with the vertical thrusts asked for now (N)."""
        return Weakness(self.missing, self.weak, asked, self.climb, self.free)
