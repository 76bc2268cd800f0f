"""Cables and the payload they carry, as a controller sees them at one instant.

Functions take the controller, `it`, for what it believes of the rig.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import apply, apply_transposed, computed_once, cross, dot
from skyrig.control.sharing import Sharing, cable_forces, sharing
from skyrig.rigs.bodies import Bodies


class Twofold(NamedTuple):
    """Something linear (world frame) and something angular (payload frame): accelerations, errors, ..."""

    linear: Float[Array, "3 ..."]
    angular: Float[Array, "3 ..."]


class Spans(NamedTuple):
    """Cables as measured."""

    direction: Float[Array, "3 n ..."]
    distance: Float[Array, "n ..."]
    rate: Float[Array, "n ..."]
    """Of the distance (m/s)."""
    turn: Float[Array, "3 n ..."]
    """Time derivative of the direction (1/s)."""


def spans(it: Any, load: Bodies, load_rotation: Array, craft: Bodies, craft_rotation: Array) -> Spans:
    """Cable directions and rates from where the cables' ends are."""
    turn = load_rotation[:, :, None]
    apart = load.position[:, None] + apply(turn, it.attachment) - craft.position
    drift = load.velocity[:, None] + apply(turn, cross(load.rate[:, None], it.attachment)) - craft.velocity
    if it.hook is not None:
        apart = apart - apply(craft_rotation, it.hook)
        drift = drift - apply(craft_rotation, cross(craft.rate, it.hook))
    distance = jnp.sqrt(jnp.maximum(dot(apart, apart), 1e-12))
    direction = apart / distance
    rate = dot(direction, drift)
    return Spans(direction, distance, rate, (drift - direction * rate) / distance)


class Carried(NamedTuple):
    """The payload as it hangs, and who carries it."""

    rotation: Float[Array, "3 3 ..."]
    gyration: Float[Array, "3 ..."]
    """Omega x J Omega (N m)."""
    up: Float[Array, "3 ..."]
    """Gravity's opposite (m/s^2)."""
    carrying: Float[Array, "n ..."]
    """One for a cable that carries, zero for one that does not."""
    team: Sharing

    @staticmethod
    def by(
        it: Any,
        load: Bodies,
        rotation: Array,
        carrying: Float[Array, "n ..."],
        counting: Float[Array, "n ..."],
    ) -> Carried:
        """The payload of a controller `it`, with the cables that carry it.

        Those of them that are `counting` share its weight: what they do not carry the others have to.
        """
        zero = jnp.zeros_like(it.gravity)
        gyration = cross(load.rate, apply(it.payload_inertia, load.rate))
        up = jnp.stack([zero, zero, it.gravity])
        return Carried(rotation, gyration, up, carrying, sharing(it.attachment, counting))

    def forces(self, it: Any, wanted: Twofold) -> Float[Array, "3 n ..."]:
        """Least-norm cable forces (N, world frame) that accelerate the payload so; derivatives alike."""
        linear = it.payload_mass * apply_transposed(self.rotation, wanted.linear)
        local = cable_forces(self.team, linear, apply(it.payload_inertia, wanted.angular))
        return computed_once(apply(self.rotation[:, :, None], local))

    def accelerations(self, it: Any, forces: Float[Array, "3 n ..."]) -> Twofold:
        """What cable forces (N, world frame) alone accelerate; derivatives alike."""
        local = apply_transposed(self.rotation[:, :, None], forces)
        turned = apply(it.payload_inverse_inertia, cross(it.attachment, local).sum(1))
        return computed_once(Twofold(forces.sum(1) / it.payload_mass, turned))
