"""When a guard crosses zero inside a step, from its values and slopes at two ends."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import anywhere, smallest
from skyrig.rigs.protocol import Watch


def time_tolerance(dtype: Any) -> float:
    """Width to which an event's time is bracketed at least (s)."""
    return 1e-12 if dtype == jnp.float64 else 1e-6


def fineness(late: Watch) -> Float[Array, "*batch"]:
    """Width to which to bracket this event's time (s): what rounding of metres leaves of it, if that is less.

    A cable's arrival switches forces on, so that its time counts to first order in all that follows; a
    release switches nothing, and its guard has no known slope.
    """
    real = late.value.dtype
    coarse = time_tolerance(real)
    rising = (late.known > 0) & (late.value > 0) & (late.slope > 0)
    noise = 16 * jnp.finfo(real).eps / jnp.where(rising, late.slope, 1.0)
    return jnp.minimum(smallest(jnp.where(rising, noise, coarse)), coarse)


def peak_between(first: Watch, middle: Watch, last: Watch, dt: Array) -> tuple[Array, Array]:
    """Where (share of the step) a guard that ends below zero rose above it in between, by a parabola.

    Halfway the guard is known from its slopes (a cubic) or else from the third stage.
    """
    start, end = first.value, last.value
    cubic = (start + end) / 2 + dt / 8 * (first.slope - last.slope)
    halfway = jnp.where(first.known * last.known > 0, cubic, middle.value)
    curve = 2 * (start - 2 * halfway + end)
    slope = 4 * halfway - 3 * start - end
    bent = jnp.where(curve < 0, curve, -1.0)
    place = jnp.clip(-slope / (2 * bent), 0.0, 1.0)
    height = start - slope**2 / (4 * bent)
    risen = (curve < 0) & (place > 1e-3) & (place < 1 - 1e-3) & (height > 0) & (start <= 0) & (end <= 0)
    return smallest(jnp.where(risen, place, 1.0)), anywhere(risen)


def earliest_crossing(before: Array, after: Array, early: Watch, late: Watch) -> tuple[Array, Array]:
    """Earliest crossing by cubics through values and slopes, and how far past it `after` is (s)."""
    width = after - before
    fa, fb = jnp.minimum(early.value, 0.0), late.value
    crossed = (fb > 0) & (fb > early.value)
    rise = jnp.where(crossed, fb - fa, 1.0)
    sloped = (early.known * late.known) > 0
    da = jnp.where(sloped, early.slope * width, rise)
    db = jnp.where(sloped, late.slope * width, rise)
    curve = 3 * rise - 2 * da - db
    twist = da + db - 2 * rise

    def narrowed(_, bounds):
        low, high, u = bounds
        value = fa + u * (da + u * (curve + u * twist))
        slope = da + u * (2 * curve + 3 * u * twist)
        low, high = jnp.where(value > 0, low, u), jnp.where(value > 0, u, high)
        newton = u - value / jnp.where(slope > 0, slope, rise)
        return low, high, jnp.where((newton > low) & (newton < high), newton, (low + high) / 2)

    # a guard that falls at first crosses on its way back up: search from the far end
    guess = jnp.where(da < 0, 1.0, jnp.clip(-fa / rise, 0.0, 1.0))
    *_, u = jax.lax.fori_loop(0, 24, narrowed, (jnp.zeros_like(guess), jnp.ones_like(guess), guess))
    root = jnp.where(crossed, u, 1.0)
    first = smallest(root)
    return before + first * width, (1 - first) * width
