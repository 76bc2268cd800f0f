"""Vehicles whose rotors stop and cables that are lost: what a planning team notices, and who carries then.

A cable is lost for good when its ends are farther apart than it can stretch. A vehicle is believed dead for
good when, for some time, most of its own weight's worth of the thrust that it planned is missing. What either
should have pulled is shared anew among the others, and a dead vehicle that still hangs from the load counts
as its weight.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from skyrig.algebra import cross, rotation_matrix
from skyrig.control.mpc.bodies import ATTITUDE, POSITION
from skyrig.control.mpc.preview import Preview
from skyrig.control.mpc.small import inverse

STRETCH, MARGIN = 0.02, 0.02
"""A cable longer than its length by this share and by this much (m) is lost."""
MISSING = 0.75
"""A vehicle without thrust enough for so much of its weight is dead."""
SMOOTHED = 0.2
"""Share of a tick's news in what is believed to be missing."""
MOST = 1.2
"""No tick counts more than this, lest a cable's jerk be taken for a dead vehicle."""
TAUT = 0.98
"""From this share of its length on, a cable holds a dead vehicle."""
UNCERTAIN = 1e-4
"""What makes shares of a wrench that no cable can carry small rather than large."""


class Faults(eqx.Module):
    """What is believed of every vehicle and its cable."""

    missing: Float[Array, "..."]  # (n)
    """Thrust that was planned and not felt, in terms of the vehicle's weight, smoothed."""
    dead: Bool[Array, "..."]  # (n)
    lost: Bool[Array, "..."]  # (n)
    """Whether the cable is."""
    taut: Bool[Array, "..."]  # (n)

    @staticmethod
    def none(like: Float[Array, " n"]) -> Faults:
        """All is well."""
        no = jnp.zeros(like.shape, bool)
        return Faults(jnp.zeros_like(like), no, no, no)

    def seen(
        self,
        it: Any,
        vehicles: Float[Array, "13 n"],
        load: Float[Array, "13"],
        length: Array,
        unplanned: Array,
    ) -> Faults:
        """What is believed after a tick more.

        Args:
            it: The controller.
            vehicles: Their states.
            load: Its state.
            length: Of the cables (m).
            unplanned: Accelerations of the vehicles beyond those planned (m/s^2).
        """
        rotation = rotation_matrix(vehicles[ATTITUDE])
        upper = vehicles[POSITION] + (rotation * it.hook[None]).sum(1)
        tied = load[POSITION][:, None] + rotation_matrix(load[ATTITUDE]) @ it.attachment
        apart = jnp.sqrt(jnp.sum((upper - tied) ** 2, 0))
        lacking = -jnp.sum(unplanned.T * rotation[:, 2], 0) / it.gravity
        missing = self.missing + SMOOTHED * (jnp.clip(lacking, -MOST, MOST) - self.missing)
        lost = self.lost | (apart > (1 + STRETCH) * length + MARGIN)
        return Faults(missing, self.dead | (missing > MISSING), lost, apart > TAUT * length)

    @property
    def hangs(self) -> Float[Array, " n"]:
        """One for a cable that pulls as asked, else zero."""
        return jnp.where(self.dead | self.lost, 0.0, jnp.ones_like(self.missing))

    def ballast(self, mass: Float[Array, " n"], gravity: Array) -> Float[Array, " n"]:
        """Weight of what hangs dead from each attachment (N)."""
        return jnp.where(self.dead & ~self.lost & self.taut, mass * gravity, 0.0)


def shared_anew(wanted: Preview, it: Any, hangs: Array, ballast: Array) -> Preview:
    """What is wanted when only some cables hang: the others pull, and their vehicles push, as much more.

    The wrench that is missing is shared in the least squares of tensions, along the cables as wanted now.
    """
    load, vehicles = wanted.load[0], wanted.vehicles[0]
    arm = rotation_matrix(load[ATTITUDE]) @ it.attachment
    upper = vehicles[POSITION] + (rotation_matrix(vehicles[ATTITUDE]) * it.hook[None]).sum(1)
    along = upper - load[POSITION][:, None] - arm
    along = along / jnp.sqrt(jnp.sum(along**2, 0))
    reach = jnp.maximum(jnp.sqrt(jnp.max(jnp.sum(arm**2, 0))), 1e-3)

    def wrenches(force: Array) -> Array:
        return jnp.concatenate([force, cross(arm, force) / reach])

    each = wrenches(along)
    held = each * hangs
    square = held @ held.T
    most = jnp.maximum(jnp.trace(square), 1e-3)
    share = held.T @ inverse(square + UNCERTAIN * most * jnp.eye(6))
    hanging = wrenches(jnp.zeros_like(along).at[2].set(ballast)).sum(1)
    gone = (1 - hangs) * wanted.tension
    more = (gone @ each.T + hanging) @ share.T
    tension = jnp.maximum(wanted.tension - gone + more, 0.0)
    effort = wanted.effort.at[:, 0].add(tension - wanted.tension)
    return dataclasses.replace(wanted, tension=tension, effort=effort)
