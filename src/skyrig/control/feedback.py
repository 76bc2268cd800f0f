"""Small parts that controllers share: gains from bandwidths, limits, looking ahead."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig import algebra
from skyrig.algebra import dot
from skyrig.rigs.bodies import Bodies


class Pid(NamedTuple):
    """Gains on an error (1/s^2), its rate (1/s) and its integral (1/s^3)."""

    p: Array
    d: Array
    i: Array


def pid(bandwidth: Array, damping: Array, integral: Array | float) -> Pid:
    """Gains that give a double integrator the poles of (s + i)(s^2 + 2 damping bandwidth s + bandwidth^2).

    Args:
        bandwidth: rad/s.
        damping: Damping ratio (1).
        integral: i, the rate at which constant disturbances are learnt (rad/s); zero for none.
    """
    slow = 2 * damping * bandwidth
    return Pid(bandwidth**2 + slow * integral, slow + integral, integral * bandwidth**2)


def limited(vector: Float[Array, "3 ..."], most: Float[Array, " ..."]) -> Float[Array, "3 ..."]:
    """A vector, cut to length `most` if longer."""
    square = dot(vector, vector)
    long = square > most**2
    return vector * jnp.where(long, most / jnp.sqrt(jnp.where(long, square, 1.0)), 1.0)


def accumulated(
    value: Float[Array, "3 ..."],
    rate: Float[Array, "3 ..."],
    dt: Float[Array, " ..."],
    most: Float[Array, " ..."],
) -> Float[Array, "3 ..."]:
    """An integral after `dt` (s), which is zero while it is frozen; kept within `most` on every axis."""
    return jnp.clip(value + dt * rate, -most, most)


def ahead(
    bodies: Bodies, dt: Float[Array, " ..."], acceleration: Float[Array, "3 ..."], spin: Float[Array, "3 ..."]
) -> Bodies:
    """Where bodies will be `dt` (s) later if they keep these accelerations (m/s^2; rad/s^2, body frame)."""
    rate = bodies.rate + dt * spin
    turned = bodies.attitude + dt * algebra.attitude_rate(bodies.attitude, (bodies.rate + rate) / 2)
    return Bodies(
        bodies.position + dt * (bodies.velocity + dt / 2 * acceleration),
        bodies.velocity + dt * acceleration,
        algebra.normalised(turned),
        rate,
    )


def ease(push: Float[Array, "3 ..."], side: Array, up: Array) -> Float[Array, "3 ..."]:
    """Share of a wanted acceleration that stays inside the bounds: sideways, and up and down."""
    square = push[0] ** 2 + push[1] ** 2
    wide = square > side**2
    flat = jnp.where(wide, side / jnp.sqrt(jnp.where(wide, square, 1.0)), 1.0)
    room = jnp.where(push[2] > 0, up, side)
    tall = jnp.abs(push[2]) > room
    return jnp.stack([flat, flat, jnp.where(tall, room / jnp.where(tall, jnp.abs(push[2]), 1.0), 1.0)])


def untwisted(push: Float[Array, "3 n ..."], arm: Float[Array, "3 n ..."]) -> Float[Array, "3 n ..."]:
    """Accelerations at `arm` (m) from a middle without what goes round its vertical in common.

    No air turns a team like this; learnt from what noise and lag make of it, it would turn its load for ever.
    """
    round_it = jnp.stack([-arm[1], arm[0], jnp.zeros_like(arm[0])])
    square = dot(round_it, round_it).sum(0)
    share = dot(round_it, push).sum(0) / jnp.where(square > 1e-12, square, 1.0)
    return push - share * round_it
