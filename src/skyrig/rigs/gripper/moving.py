"""A gripper of rods between two sub-steps, from a state and back; components first, the batch last."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig import algebra
from skyrig.algebra import apply, apply_transposed
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.gripper.skin import RigidBody, Stuck
from skyrig.soft.rod import RodNodes


class MovingRod(NamedTuple):
    """A flight between two sub-steps."""

    vehicle: RigidBody
    object: RigidBody
    at: RodNodes
    """Of the fingers without their bases."""
    drift: RodNodes
    held: Stuck
    """Skin on the object, (3, points, slices, fingers, *batch)."""
    stood: Stuck
    """The object on the ground, (3, corners, *batch)."""
    grazed: Array
    """How hard the skin presses on the ground (N)."""
    torque: Array
    """Of the fingers on the vehicle, summed over sub-steps (N m)."""


def free(at: RodNodes) -> RodNodes:
    """Without the bases."""
    return RodNodes(*(leaf[:, 1:] for leaf in at))


def packed(at: RodNodes) -> Float[Array, "fingers slices 3 3 *batch"]:
    """As a state holds nodes: finger by finger, place and directors, xyz last."""
    return jnp.moveaxis(jnp.stack(at), (3, 2, 0, 1), (0, 1, 2, 3))


def unpacked(nodes: Float[Array, "fingers slices 3 3 *batch"]) -> RodNodes:
    """Nodes as a state holds them."""
    return RodNodes(*jnp.moveaxis(nodes, (0, 1, 2, 3), (3, 2, 0, 1)))


def turned(force: Array) -> Array:
    """Points, slices, fingers from fingers, slices, points, and back."""
    return jnp.moveaxis(force, (0, 1, 2), (2, 1, 0))


def rigid(bodies: Bodies, inertia: Array) -> RigidBody:
    """A group of one body as a rigid body in the world."""
    attitude = bodies.attitude[:, 0]
    turn = algebra.rotation_matrix(attitude)
    spin = apply(turn, apply(inertia, bodies.rate[:, 0]))
    rate = apply(turn, bodies.rate[:, 0])
    return RigidBody(bodies.position[:, 0], bodies.velocity[:, 0], attitude, turn, spin, rate)


def advanced(body: RigidBody, mass: Any, back: Array, force: Array, torque: Array, dt: Any) -> RigidBody:
    """A rigid body after a sub-step: its momenta first, then its pose; `back` is its inertia's inverse."""
    velocity, spin = body.velocity + dt * force / mass, body.spin + dt * torque
    rate = apply(body.turn, apply(back, apply_transposed(body.turn, spin)))
    attitude = algebra.normalised(algebra.multiply(algebra.turn_by(dt * rate), body.attitude))
    turn = algebra.rotation_matrix(attitude)
    rate = apply(turn, apply(back, apply_transposed(turn, spin)))
    return RigidBody(body.place + dt * velocity, velocity, attitude, turn, spin, rate)


def inverse(inertia: Array) -> Array:
    """Of an inertia (3, 3, *batch)."""
    return jnp.moveaxis(jnp.linalg.inv(jnp.moveaxis(inertia, (0, 1), (-2, -1))), (-2, -1), (0, 1))


def as_bodies(body: RigidBody) -> Bodies:
    """As a state holds a body."""
    rate = apply_transposed(body.turn, body.rate)
    return Bodies(body.place[:, None], body.velocity[:, None], body.attitude[:, None], rate[:, None])


def gained(body: RigidBody, before: Bodies) -> Array:
    """Velocity that a body has gained (m/s)."""
    return body.velocity - before.velocity[:, 0]
