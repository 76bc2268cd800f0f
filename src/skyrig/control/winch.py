"""Reeling cables to a wanted length."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.rigs.cables import WinchLimits


def reel(
    length: Float[Array, " n *batch"],
    wanted: Float[Array, " n *batch"],
    limits: WinchLimits,
    period: Float[Array, ""] | float,
) -> Float[Array, " n *batch"]:
    """Reel-out rates (m/s) that bring cables to their wanted lengths and stop there: `Command.winch`.

    The rate is the fastest from which the winch can still brake in time, v = sqrt(2 a |error|) with a margin,
    never above its rate limit, and slow enough near the end not to overshoot within a period.

    Args:
        length: Free lengths now (m).
        wanted: Free lengths to reach (m); cut to what the drums hold.
        limits: The rig's winches.
        period: Time between commands (s).
    """
    left = jnp.clip(wanted, limits.shortest, limits.longest) - length
    size = jnp.abs(left)
    # braking starts a period late at worst: v period + v^2 / 2a = error
    lag = limits.acceleration * period
    speed = jnp.sqrt(lag**2 + 2 * limits.acceleration * size) - lag
    return jnp.sign(left) * jnp.minimum(limits.rate, jnp.minimum(speed, size / period))
