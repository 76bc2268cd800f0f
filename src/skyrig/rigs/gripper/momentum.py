"""Momenta and energies of a gripper, and velocities that keep them (one flight, world frame)."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.rigs.gripper import contact
from skyrig.rigs.gripper.contact import FLAT, RigidPose
from skyrig.rigs.gripper.parameters import GripperParameters
from skyrig.rigs.gripper.potential import (
    LEAST,
    GripperPlace,
    Skin,
    StepStart,
    bases,
    skin_energy,
    slices,
    standing,
)


class Speed(NamedTuple):
    """How everything moves, world frame."""

    nodes: Float[Array, "fingers slices own 3"]
    vehicle: Float[Array, "3"]
    vehicle_turn: Float[Array, "3"]
    object: Float[Array, "3"]
    object_turn: Float[Array, "3"]


class OutsidePush(NamedTuple):
    """What acts from outside over a step, world frame, about centres of mass."""

    vehicle: Float[Array, "3"]
    """N."""
    vehicle_turn: Float[Array, "3"]
    """N m."""
    object: Float[Array, "3"]
    object_turn: Float[Array, "3"]


def exact(
    rig: GripperParameters,
    step: StepStart,
    end: GripperPlace,
    before: Speed,
    after: Speed,
    push: OutsidePush,
    touched: Skin,
) -> Speed:
    """The velocities with momenta as the forces of the step leave them.

    Backward Euler loses angular momentum at first order in the step, of whatever turns or swings. Vehicle
    with fingers, and the object, are each given the rigid motion on top that makes up for it.
    """
    force = -jax.grad(lambda it: skin_energy(rig, step, _at(rig, step, end, it)))(touched.points)
    dt, down = step.dt, jnp.array([0.0, 0.0, -1.0]) * rig.gravity
    ground = -_corner_slope(rig, step, end)
    corners, _ = standing(rig, step, end.object)
    hand_force, hand_torque = force.sum((0, 1, 2)), jnp.cross(touched.points, force).sum((0, 1, 2))
    held = force + _ground_part(rig, step, touched)  # what the object does to the skin
    object_force, object_torque = -held.sum((0, 1, 2)), -jnp.cross(touched.points, held).sum((0, 1, 2))
    hand0, hand1 = _hand(rig, step.begin, before), _hand(rig, end, after)
    mass, centre, inertia = _body(rig, end)
    gain = dt * (push.vehicle + mass * down + hand_force)
    turn = push.vehicle_turn + jnp.cross(end.vehicle.place, push.vehicle) + mass * jnp.cross(centre, down)
    whirls = dt * (turn + hand_torque)
    lift, whirl = _missing(hand0, hand1, gain, whirls, mass, centre, inertia)
    arm = end.nodes - centre
    load = (rig.payload_mass, end.object.place)
    thing0 = _rigid(rig, step.begin.object, before.object, before.object_turn)
    thing1 = _rigid(rig, end.object, after.object, after.object_turn)
    pull = push.object + rig.payload_mass * down + object_force + ground.sum(0)
    twist = push.object_turn + jnp.cross(end.object.place, push.object + rig.payload_mass * down)
    twist = twist + object_torque + jnp.cross(corners, ground).sum(0)
    whole = end.object.turn @ rig.payload_inertia @ end.object.turn.T
    lift_object, whirl_object = _missing(thing0, thing1, dt * pull, dt * twist, *load, whole)
    return Speed(
        after.nodes + lift + jnp.cross(whirl, arm),
        after.vehicle + lift + jnp.cross(whirl, end.vehicle.place - centre),
        after.vehicle_turn + whirl,
        after.object + lift_object,
        after.object_turn + whirl_object,
    )


def momenta(rig: GripperParameters, at: GripperPlace, speed: Speed) -> Float[Array, "6"]:
    """Of everything together: momentum (N s), and angular momentum about the origin (N m s)."""
    hand, thing = _hand(rig, at, speed), _rigid(rig, at.object, speed.object, speed.object_turn)
    return jnp.concatenate([hand[0] + thing[0], hand[1] + thing[1]])


def kinetic_energy(rig: GripperParameters, at: GripperPlace, speed: Speed) -> Float[Array, ""]:
    """Of everything together (J)."""
    finger = rig.fingers.finger
    _, drift = lumps(rig, at, speed)
    total = finger.density * jnp.einsum("fsai,ab,fsbi->", drift, finger.overlap, drift)
    total = (
        total + rig.mass[0] * speed.vehicle @ speed.vehicle + rig.payload_mass * speed.object @ speed.object
    )
    total = total + speed.vehicle_turn @ spin(rig.inertia[:, :, 0], at.vehicle, speed.vehicle_turn)
    return (total + speed.object_turn @ spin(rig.payload_inertia, at.object, speed.object_turn)) / 2


def _missing(
    before: Any, after: Any, gain: Array, spin: Array, mass: Array, centre: Array, inertia: Array
) -> tuple[Array, Array]:
    """Velocity and turning of the rigid motion that brings momenta to what they must be."""
    short = before[0] + gain - after[0]
    turn = before[1] + spin - after[1] - jnp.cross(centre, short)
    return short / mass, jnp.linalg.solve(inertia, turn)


def _rigid(rig: GripperParameters, pose: RigidPose, velocity: Array, turn: Array) -> tuple[Array, Array]:
    """Momenta of the object about the origin."""
    push = rig.payload_mass * velocity
    return push, jnp.cross(pose.place, push) + spin(rig.payload_inertia, pose, turn)


def lumps(rig: GripperParameters, at: GripperPlace, speed: Speed) -> tuple[Array, Array]:
    """Slices of all fingers, and how their nodes move."""
    finger = rig.fingers.finger
    arm = bases(rig) @ at.vehicle.turn.T
    base = speed.vehicle + jnp.cross(speed.vehicle_turn, arm)
    drift = jnp.concatenate(
        [jnp.concatenate([base[:, None], speed.nodes[:, :-1, finger.between :]], 1), speed.nodes], 2
    )
    return slices(rig, at), drift


def _hand(rig: GripperParameters, at: GripperPlace, speed: Speed) -> tuple[Array, Array]:
    """Momenta of vehicle and fingers about the origin."""
    finger = rig.fingers.finger
    place, drift = lumps(rig, at, speed)
    carried = finger.density * jnp.einsum("ab,fsbi->fsai", finger.overlap, drift)
    push = rig.mass[0] * speed.vehicle
    turn = jnp.cross(at.vehicle.place, push) + spin(rig.inertia[:, :, 0], at.vehicle, speed.vehicle_turn)
    return push + carried.sum((0, 1, 2)), turn + jnp.cross(place, carried).sum((0, 1, 2))


def _body(rig: GripperParameters, at: GripperPlace) -> tuple[Array, Array, Array]:
    """Mass, centre and inertia of vehicle and fingers together."""
    finger = rig.fingers.finger
    place = slices(rig, at)
    weight = finger.density * finger.overlap
    mass = rig.mass[0] + rig.fingers.mass
    centre = (rig.mass[0] * at.vehicle.place + jnp.einsum("ab,fsbi->i", weight, place)) / mass
    away = place - centre
    second = jnp.einsum("ab,fsai,fsbj->ij", weight, away, away)
    arm = at.vehicle.place - centre
    second = second + rig.mass[0] * arm[:, None] * arm
    own = at.vehicle.turn @ rig.inertia[:, :, 0] @ at.vehicle.turn.T
    return mass, centre, own + jnp.trace(second) * jnp.eye(3) - second


def _at(rig: GripperParameters, step: StepStart, end: GripperPlace, points: Array) -> Skin:
    """The skin with its points elsewhere."""
    arm = step.mode.held.anchor @ end.object.turn.T
    slip = contact.flatten(points - end.object.place - arm, step.normal)
    drag = (points - step.mode.grazed.anchor) * FLAT
    stiffness = rig.contact_stiffness * rig.area + LEAST
    touch = contact.on_solid(rig.solid, points, end.object)
    return Skin(points, stiffness, touch, slip, arm, points[..., 2] - rig.floor, drag)


def _ground_part(rig: GripperParameters, step: StepStart, it: Skin) -> Array:
    """Gradient of what the ground stores by the skin's points: minus its force on them (N)."""
    limit = rig.ground_friction * step.mode.grazed.force

    def stored(points: Array) -> Array:
        pressed = contact.press_energy(it.stiffness, points[..., 2] - rig.floor)
        return pressed + contact.rub_energy(it.stiffness, limit, (points - step.mode.grazed.anchor) * FLAT)

    return jax.grad(stored)(it.points)


def _corner_slope(rig: GripperParameters, step: StepStart, end: GripperPlace) -> Array:
    """Gradient of what the ground stores by the object's corners (N)."""
    places, _ = standing(rig, step, end.object)
    limit = rig.ground_friction * step.mode.stood.force

    def stored(points: Array) -> Array:
        pressed = contact.press_energy(rig.ground_stiffness, points[:, 2] - rig.floor)
        return pressed + contact.rub_energy(
            rig.ground_stiffness, limit, (points - step.mode.stood.anchor) * FLAT
        )

    return jax.grad(stored)(places)


def spin(inertia: Array, pose: RigidPose, turn: Array) -> Array:
    """Angular momentum about the centre of mass (N m s, world)."""
    return pose.turn @ (inertia @ (pose.turn.T @ turn))
