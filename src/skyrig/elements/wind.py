"""A steady wind, its growth with height, and gusts."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.elements.air import Air


class Shear(eqx.Module):
    """Wind that grows with the logarithm of height: ln(z/z0)/ln(h/z0) of what it is at h (MIL-F-8785C)."""

    height: Float[Array, "*batch"]
    """h, where the wind is as stated (m)."""
    roughness: Float[Array, "*batch"]
    """z0, below which there is none (m)."""

    def __call__(self, z: Float[Array, "k *batch"]) -> Float[Array, "k *batch"]:
        """Share of the stated wind at height `z` (m)."""
        above = jnp.maximum(z / self.roughness, 1.0)
        return jnp.log(above) / jnp.log(self.height / self.roughness)


class Gusts(eqx.Module):
    """Discrete gusts, each rising as V/2 (1 - cos(pi x/d)), held, and falling as it rose."""

    time: Float[Array, "g *batch"]
    """When each begins (s)."""
    rise: Float[Array, "g *batch"]
    """How long it rises, and falls (s)."""
    hold: Float[Array, "g *batch"]
    """How long it stays in between (s)."""
    velocity: Float[Array, "g 3 1 *batch"]
    """At its height (m/s)."""

    def __call__(self, t: ArrayLike) -> Float[Array, "3 1 *batch"]:
        """All of them at `t` (s)."""
        since = t - self.time
        up = jnp.clip(since / self.rise, 0.0, 1.0)
        down = jnp.clip((since - self.rise - self.hold) / self.rise, 0.0, 1.0)
        share = (jnp.cos(jnp.pi * down) - jnp.cos(jnp.pi * up)) / 2
        return (share[:, None, None] * self.velocity).sum(0)


class Wind(Air):
    """The same wind everywhere, but for its growth with height."""

    velocity: Float[Array, "3 1 *batch"]
    """World frame (m/s)."""
    shear: Shear | None = None
    gusts: Gusts | None = None

    def wind(
        self, t: ArrayLike, place: Float[Array, "3 k *batch"], memory: Any
    ) -> Float[Array, "3 k *batch"]:
        """Mean wind and gusts; shear slows both near the ground."""
        blows = self.velocity if self.gusts is None else self.velocity + self.gusts(t)
        if self.shear is not None:
            blows = blows * self.shear(place[2])
        return jnp.broadcast_to(blows, place.shape)
