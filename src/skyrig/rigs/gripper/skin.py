"""What a rod's skin touches: forces of object and ground, components first, the batch last.

The laws are those of `skyrig.rigs.gripper.contact`: springs where things press, and springs from anchors
where they rub, let go at the cone of friction. Here a little damping goes with them, for the rod's
sub-steps are explicit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import apply, apply_transposed, cross, dot, largest
from skyrig.rigs.gripper.solid import GraspedSolid

LATE = 2e-4
"""Damping of the skin over its stiffness (s)."""
LATE_GROUND = 2e-3
"""The same of the object on the ground."""
CREEP = 0.05
"""Speed at which fingers' friction on the ground is nearly all there (m/s)."""


class RigidBody(NamedTuple):
    """A rigid body in the world."""

    place: Float[Array, "3 *batch"]
    velocity: Float[Array, "3 *batch"]
    attitude: Float[Array, "4 *batch"]
    """Quaternion wxyz, body to world."""
    turn: Float[Array, "3 3 *batch"]
    """The same as a matrix."""
    spin: Float[Array, "3 *batch"]
    """Angular momentum about its centre of mass (N m s)."""
    rate: Float[Array, "3 *batch"]
    """Angular velocity (rad/s)."""


class Stuck(NamedTuple):
    """Where points stuck, and how hard they press."""

    anchor: Float[Array, "3 *points"]
    """In the object's frame or the world (m)."""
    force: Float[Array, "*points"]
    """N."""


def wide(vector: Array, like: Array) -> Array:
    """A body's vector (3, *batch) next to points (3, *points, *batch)."""
    more = like.ndim - vector.ndim
    return vector.reshape((*vector.shape[:1], *(1,) * more, *vector.shape[1:]))


def gap(solid: GraspedSolid, place: Float[Array, "3 *points"]) -> tuple[Array, Array]:
    """Distance of points in the solid's frame from its surface (m), below zero inside, and the way out."""
    size = solid.size
    if solid.kind == "ball":
        far = jnp.sqrt(dot(place, place) + 1e-16)
        return far - size[0], place / far
    if solid.kind == "convex":
        normals, far = jnp.moveaxis(solid.planes[:, :3], 1, 0), solid.planes[:, 3]
        found = [dot(wide(normals[:, k], place), place) - far[k] for k in range(far.shape[0])]
        most, way = found[0], jnp.zeros_like(place) + wide(normals[:, 0], place)
        for k, each in enumerate(found[1:], 1):
            way = jnp.where(each > most, wide(normals[:, k], place), way)
            most = jnp.maximum(most, each)
        return most, way
    sign = jnp.where(place < 0, -1.0, 1.0)
    if solid.kind == "box":
        distance, way = _rounded(jnp.abs(place) - wide(size - solid.rounding, place), solid.rounding)
        return distance, way * sign
    out = jnp.sqrt(place[0] ** 2 + place[1] ** 2 + 1e-16)
    flat = jnp.stack([out - size[0] + solid.rounding, jnp.abs(place[2]) - size[2] + solid.rounding])
    distance, way = _rounded(flat, solid.rounding)
    return distance, jnp.stack([way[0] * place[0] / out, way[0] * place[1] / out, way[1] * sign[2]])


def _rounded(beyond: Array, rounding: Array) -> tuple[Array, Array]:
    """Distance and direction from how far points are beyond flat faces whose edges are rounded."""
    most = largest(beyond)
    part = jnp.maximum(beyond, 0.0)
    far = jnp.sqrt(dot(part, part) + 1e-24)
    face = jnp.where(beyond == most, 1.0, 0.0)
    outside = most > 0
    return jnp.where(outside, far, most) - rounding, jnp.where(outside, part / far, face)


def on_object(
    solid: GraspedSolid,
    thing: RigidBody,
    points: Float[Array, "3 *points"],
    velocity: Float[Array, "3 *points"],
    before: Stuck,
    stiffness: Any,
    friction: Any,
) -> tuple[Array, Stuck]:
    """Force of the object on points of the skin (N), and where they stick now."""
    away = points - wide(thing.place, points)
    turn = thing.turn.reshape((3, 3, *(1,) * (points.ndim - thing.place.ndim), *thing.place.shape[1:]))
    own = apply_transposed(turn, away)
    distance, way = gap(solid, own)
    normal = apply(turn, way)
    slide = velocity - wide(thing.velocity, points) - cross(wide(thing.rate, points), away)
    pressed = jnp.where(
        distance < 0, stiffness * jnp.maximum(-distance - LATE * dot(normal, slide), 0.0), 0.0
    )
    slip = jnp.where(before.force > 0, apply(turn, own - before.anchor), 0.0)
    slip = slip - dot(slip, normal) * normal
    slide = slide - dot(slide, normal) * normal
    slip, rub = _rubbed(slip, slide, friction * pressed, stiffness, LATE)
    force = pressed * normal - rub
    return jnp.where(pressed > 0, force, 0.0), Stuck(own - apply_transposed(turn, slip), pressed)


def _rubbed(slip: Array, slide: Array, limit: Array, stiffness: Any, late: float) -> tuple[Array, Array]:
    """What is left of a slip at the cone of friction, and the force against it (N)."""
    far = jnp.sqrt(dot(slip, slip) + 1e-30)
    reach = limit / stiffness
    slip = slip * jnp.minimum(1.0, reach / far)
    return slip, stiffness * (slip + jnp.where(far < reach, late, 0.0) * slide)


def on_ground(points: Array, velocity: Array, stiffness: Any, friction: Any, floor: Any) -> Array:
    """Force of the ground on points of the skin (N): rubbing as something that flows slowly, not sticks."""
    depth = floor - points[2]
    pressed = jnp.where(depth > 0, stiffness * jnp.maximum(depth - LATE * velocity[2], 0.0), 0.0)
    slow = friction * pressed / jnp.sqrt(velocity[0] ** 2 + velocity[1] ** 2 + CREEP**2)
    return jnp.stack([-slow * velocity[0], -slow * velocity[1], pressed])


def standing(
    corners: Float[Array, "3 corners *batch"],
    velocity: Float[Array, "3 corners *batch"],
    before: Stuck,
    stiffness: Any,
    friction: Any,
    floor: Any,
) -> tuple[Array, Stuck]:
    """Force of the ground on the object's corners (N), and where they stick now."""
    flat = jnp.array([1.0, 1.0, 0.0]).reshape((3,) + (1,) * (corners.ndim - 1))
    depth = floor - corners[2]
    pressed = jnp.where(depth > 0, stiffness * jnp.maximum(depth - LATE_GROUND * velocity[2], 0.0), 0.0)
    slip = jnp.where(before.force > 0, (corners - before.anchor) * flat, 0.0)
    slip, rub = _rubbed(slip, velocity * flat, friction * pressed, stiffness, LATE_GROUND)
    up = jnp.stack([jnp.zeros_like(pressed), jnp.zeros_like(pressed), pressed])
    return jnp.where(pressed > 0, up - rub, 0.0), Stuck(corners - slip, pressed)
