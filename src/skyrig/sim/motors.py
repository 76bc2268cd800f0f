"""Rotors that need a while to follow: speeds that approach what is wanted, thrust with their square."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.elements.rotors import COMMANDED, SPEED, speeds_of


class Motors(eqx.Module):
    """Rotor speeds with a lag of first order, w' = (w_wanted - w)/lag, no faster than allowed.

    Around any speed, thrust follows with the same time constant. Of large steps, those up are slower than
    with a lag of thrust, and those down faster.
    """

    mixing: Float[Array, "4 r n *batch"]
    """From rotor thrusts (N) to a vehicle's thrust (N) and moment (N m)."""
    lag: Float[Array, "n *batch"]
    """Time constant (s)."""
    coefficient: Float[Array, "r n *batch"]
    """Thrust over speed squared (N/(rad/s)^2)."""
    fastest: Float[Array, "n *batch"] | None = None
    """Most that a speed changes (rad/s^2); None for no limit."""
    counts: tuple[int, ...] = eqx.field(static=True, default=())
    """Rotors of each vehicle."""

    @staticmethod
    def of(actuators: Any) -> Motors | None:
        """Those of some actuators; None where rotors follow at once."""
        it = actuators
        if it.lag is None:
            return None
        return Motors(it.mixing, it.lag, it.coefficient, it.fastest, it.counts)

    def thrusts(self, speeds: Float[Array, "r n *batch"]) -> Float[Array, "r n *batch"]:
        """Of every rotor (N)."""
        return self.coefficient * speeds**2

    def speeds(self, thrusts: Float[Array, "r n *batch"]) -> Float[Array, "r n *batch"]:
        """At which rotors give these thrusts (rad/s)."""
        return speeds_of(thrusts, self.coefficient)

    def rate(
        self, speeds: Float[Array, "r n *batch"], wanted: Float[Array, "r n *batch"]
    ) -> Float[Array, "r n *batch"]:
        """How speeds change (rad/s^2)."""
        rate = (wanted - speeds) / self.lag
        return rate if self.fastest is None else jnp.clip(rate, -self.fastest, self.fastest)

    def after(
        self, speeds: Float[Array, "r n *batch"], wanted: Float[Array, "r n *batch"], span: Array | float
    ) -> Float[Array, "r n *batch"]:
        """Speeds `span` (s) later, exactly, `wanted` being held (rad/s)."""
        away = speeds - wanted
        if self.fastest is None:
            return wanted + away * jnp.exp(-span / self.lag)
        # at the limit until what is missing is what the lag alone makes up for at that rate
        size, most = jnp.abs(away), self.fastest * self.lag
        straight = jnp.clip(size / self.fastest - self.lag, 0.0, span)
        left = size - self.fastest * straight
        slow = jnp.where(size - self.fastest * span > most, 0.0, span - straight)
        return wanted + jnp.sign(away) * left * jnp.exp(-slow / self.lag)

    def signals(
        self, speeds: Float[Array, "r n *batch"], wanted: Float[Array, "r n *batch"]
    ) -> dict[str, Float[Array, "count *batch"]]:
        """Speeds achieved and commanded, rotor by rotor of each vehicle (rad/s)."""

        def listed(each: Array) -> Array:
            return jnp.concatenate([each[:count, k] for k, count in enumerate(self.counts)])

        return {SPEED: listed(speeds), COMMANDED: listed(wanted)}
