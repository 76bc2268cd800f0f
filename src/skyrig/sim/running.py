"""How a number goes while a flight is flown, and the numbers whose course is of interest."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from skyrig.algebra import dot, multiply
from skyrig.rigs.bodies import Bodies


class ReferencePoint(eqx.Module):
    """Where bodies shall be at the end of a step, for their errors; None where nothing is wanted."""

    position: Any
    """(3, *batch) of the payload (m)."""
    attitude: Any
    """(4, *batch) of the payload; None for a point mass."""
    vehicles: Any
    """(3, n, *batch) of the vehicles (m)."""


class Running(eqx.Module):
    """How a number went: (*shape, batch)."""

    area: Array
    """Its integral over time, or its square's."""
    last: Array
    peak: Array
    peak_time: Array

    @staticmethod
    def empty(like: Array) -> Running:
        """Nothing yet."""
        zero = jnp.zeros_like(like)
        return Running(zero, zero, zero - jnp.inf, zero)

    def then(self, value: Array, dt: Array, time: Array, squared: bool) -> Running:
        """With the value `dt` (s) later, at `time`."""
        old, new = (self.last**2, value**2) if squared else (self.last, value)
        higher = value > self.peak
        return Running(
            self.area + dt * (old + new) / 2,
            value,
            jnp.where(higher, value, self.peak),
            jnp.where(higher, time, self.peak_time),
        )


def total_of(bodies: Bodies) -> Array:
    """A sum that is finite only if all is."""
    parts = [leaf.sum(0) for leaf in (bodies.position, bodies.velocity, bodies.attitude, bodies.rate)]
    return parts[0] + parts[1] + parts[2] + parts[3]


def distance(have: Array, wanted: Array) -> Array:
    """Between points (m)."""
    gap = have - wanted
    return jnp.sqrt(dot(gap, gap))


def angle(wanted: Array, have: Array) -> Array:
    """Angle of the single turn between attitudes (rad)."""
    back = wanted * jnp.array([1.0, -1.0, -1.0, -1.0]).reshape(4, *[1] * (wanted.ndim - 1))
    rest = multiply(jnp.broadcast_to(back, have.shape), have)
    return 2 * jnp.arctan2(jnp.sqrt(dot(rest[1:], rest[1:])), jnp.abs(rest[0]))


def least_apart(apart: Array) -> Array:
    """Of the distances between two different vehicles (n, n, *batch) (m)."""
    other = ~np.eye(apart.shape[0], dtype=bool).reshape(*apart.shape[:2], *[1] * (apart.ndim - 2))
    return jnp.where(other, apart, jnp.inf).min((0, 1))
