"""How places change in a lift: smooth steps from rest to rest, with three derivatives in front."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig.planning import smoothstep
from skyrig.planning.lift import RAMP

ORDER = 4
"""Derivatives that vanish at both ends of a step."""


def crept(t: Any, since: Any, until: Any) -> Float[Array, "4 ..."]:
    """From zero at `since` to one at `until` (s) as a load creeps, and three derivatives."""
    starts, stops = (
        jnp.concatenate([_gone(t - at)[None], step(t, at, at + RAMP)[:3]]) for at in (since, until - RAMP)
    )
    return (starts - stops) / (until - since - RAMP)


def _gone(since: Array) -> Array:
    """How far (m) one is that sped up to 1 m/s within `RAMP`."""
    power = smoothstep.coefficients(ORDER)
    s = jnp.clip(since / RAMP, 0.0, 1.0)
    way = jnp.zeros_like(s)
    for k in range(len(power) - 1, -1, -1):
        way = (way + power[k] / (k + 1)) * s
    return RAMP * way + jnp.maximum(since - RAMP, 0.0)


def still(place: Array) -> Array:
    """A place with three derivatives."""
    none = jnp.zeros_like(place)
    return jnp.stack([place, none, none, none])


def step(t: Any, since: Any, until: Any) -> Float[Array, "4 ..."]:
    """From zero at `since` to one at `until` (s), smoothly, and three derivatives."""
    span = until - since
    s = jnp.clip((t - since) / span, 0.0, 1.0)
    power = smoothstep.coefficients(ORDER)
    rows = []
    for k in range(4):
        value = jnp.zeros_like(s)
        for factor in power[::-1]:
            value = value * s + factor
        rows.append(value / span**k)
        power = power[1:] * np.arange(1, len(power))
    return jnp.stack(rows)
