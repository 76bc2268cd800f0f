"""Contacts of one flight: fingers on the object, fingers on the ground, the object on the ground.

Pressing is a spring from where surfaces meet. Rubbing is a spring along the surface from an anchor, which is
where the point stuck; beyond the cone of friction the spring's pull stays at mu N and, once the step is
done, the anchor is drawn along. So what is held does not creep, whatever the step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.rigs.gripper.parameters import Grip
from skyrig.rigs.gripper.solid import GraspedSolid, distance

FLAT = jnp.array([1.0, 1.0, 0.0])


class RigidPose(NamedTuple):
    """Where a rigid body is."""

    place: Float[Array, "3"]
    turn: Float[Array, "3 3"]


class SkinTouch(NamedTuple):
    """Points of the skin and what they touch."""

    gap: Float[Array, "*points"]
    """Distance from the surface (m), below zero inside."""
    normal: Float[Array, "*points 3"]
    """Out of the surface."""


def on_solid(solid: GraspedSolid, points: Float[Array, "*points 3"], pose: RigidPose) -> SkinTouch:
    """Points near the object."""
    gap, way = distance(solid, (points - pose.place) @ pose.turn)
    return SkinTouch(gap, way @ pose.turn.T)


def press_energy(stiffness: Any, gap: Float[Array, "*points"]) -> Float[Array, ""]:
    """Of springs that push points out of a surface (J)."""
    inside = jnp.minimum(gap, 0.0)
    return (stiffness * inside * inside).sum() / 2


def rub_energy(
    stiffness: Any, limit: Float[Array, "*points"], slip: Float[Array, "*points 3"]
) -> Float[Array, ""]:
    """Of springs along a surface from anchors `slip` away, whose pull ends at `limit` (N) (J)."""
    far = jnp.sqrt((slip * slip).sum(-1) + 1e-30)
    reach = limit / stiffness
    energy = jnp.where(far <= reach, stiffness * far * far / 2, limit * (far - reach / 2))
    return jnp.where(limit > 0, energy, 0.0).sum()


def rub_stiffness(
    stiffness: Any, limit: Float[Array, "*points"], slip: Float[Array, "*points 3"]
) -> Float[Array, "*points 3 3"]:
    """Second derivatives of `rub_energy` along the surface (N/m), never negative."""
    far = jnp.sqrt((slip * slip).sum(-1) + 1e-30)
    sticks = far <= limit / stiffness
    across = jnp.where(sticks, stiffness, limit / jnp.maximum(far, 1e-12))
    along = jnp.where(sticks, stiffness, 0.0)
    across, along = (jnp.where(limit > 0, it, 0.0) for it in (across, along))
    way = slip / far[..., None]
    outer = way[..., :, None] * way[..., None, :]
    return across[..., None, None] * (jnp.eye(3) - outer) + along[..., None, None] * outer


def flatten(vector: Array, normal: Array) -> Array:
    """The part of vectors along a surface."""
    return vector - (vector * normal).sum(-1, keepdims=True) * normal


def dragged(
    grip: Grip,
    stiffness: Any,
    friction: Any,
    slip: Float[Array, "*points 3"],
    point: Float[Array, "*points 3"],
) -> Float[Array, "*points 3"]:
    """New anchors, in the frame of `point`: as before, or drawn to the cone of friction, or fresh."""
    far = jnp.sqrt((slip * slip).sum(-1) + 1e-30)
    reach = friction * grip.force / stiffness
    share = jnp.where(far > reach, reach / far, 1.0)[..., None]
    return jnp.where((grip.force > 0)[..., None], point - share * slip, point)


def corners(solid: GraspedSolid, pose: RigidPose, before: RigidPose) -> Float[Array, "corners 3"]:
    """What the object stands on, in the world (m).

    A ball stands on its lowest point: pressed there, rubbed where the point that was lowest before has gone.
    """
    if solid.kind != "ball":
        return pose.place + solid.corners @ pose.turn.T
    down = jnp.array([0.0, 0.0, -1.0]) * solid.size[0]
    rolled = pose.turn @ (before.turn.T @ down)
    return (pose.place + rolled * FLAT + down)[None]
