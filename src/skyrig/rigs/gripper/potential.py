"""The function of which a step takes the least: incremental potential of vehicle, fingers, object and ground.

    sum (x - x~)^T M (x - x~) / 2 h^2  +  energies of material, tendons and contacts at x
      + h times dissipation of the motion from x_n to x,        x~ = x_n + h v_n + h^2 M^-1 f,

with rigid bodies' turns measured by tr(Jd (1 - R^T R~)) / h^2, Jd = tr(J)/2 - J. Its least is backward
Euler's step, all coupled. One flight, xyz last; the frame is the world's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.rigs.gripper import contact
from skyrig.rigs.gripper.contact import FLAT, RigidPose, SkinTouch
from skyrig.rigs.gripper.parameters import GripperMode, GripperParameters
from skyrig.soft import energy
from skyrig.soft.gripper import each_tendon
from skyrig.soft.mesh import Finger
from skyrig.soft.stack import stacked, with_base

LEAST = 1e-9
"""Stiffness of skin that stands for no area (N/m), so that nothing is divided by zero."""


class GripperPlace(NamedTuple):
    """Where everything is: the unknowns of a step."""

    nodes: Float[Array, "fingers slices own 3"]
    vehicle: RigidPose
    object: RigidPose


class StepStart(NamedTuple):
    """What a step knows before it begins."""

    dt: Float[Array, ""]
    begin: GripperPlace
    lengths: Float[Array, "fingers 4"]
    slices: Float[Array, "fingers slices nodes 3"]
    """At the start."""
    aim: Float[Array, "fingers slices nodes 3"]
    """Where the fingers would go if nothing but weight acted."""
    vehicle: RigidPose
    """Where the vehicle would go under thrust and weight alone."""
    object: RigidPose
    """Where the object would go under its weight alone."""
    viscous: Float[Array, "fingers slices dofs dofs"]
    """Damping of the slices, as they stand at the start (N s/m)."""
    normal: Float[Array, "fingers slices points 3"]
    """Of the object at the skin, at the start: along what it rubs."""
    mode: GripperMode


def slices(rig: GripperParameters, at: GripperPlace) -> Float[Array, "fingers slices nodes 3"]:
    """The fingers' slices, their bases on the vehicle."""
    finger = rig.fingers.finger
    base = at.vehicle.place + bases(rig) @ at.vehicle.turn.T
    return stacked(finger, with_base(finger, base, at.nodes))


def bases(rig: GripperParameters) -> Float[Array, "fingers face 3"]:
    """The bases' nodes in the vehicle's frame (m)."""
    ring = rig.fingers
    return ring.place[:, None] + jnp.einsum("fij,aj->fai", ring.turn, ring.finger.base)


def viscous(finger: Finger, nodes: Float[Array, "... nodes 3"]) -> Float[Array, "... dofs dofs"]:
    """Damping of slices (N s/m): the material's response to strain rates in the deformed body.

    It is never negative, and turning or moving a slice as a whole costs nothing.
    """
    count = nodes.shape[-2]
    now = energy.strain(finger, nodes)
    inverse = now.cofactor / now.volume[..., None, None]
    rows = jnp.einsum("...gij,gaj->...gai", inverse, finger.gradient)
    rows = rows.reshape((*rows.shape[:-2], 3 * count))
    whole = jnp.swapaxes(rows, -1, -2) @ (finger.weight[:, None] * rows)
    parts = whole.reshape((*nodes.shape[:-2], count, 3, count, 3))
    trace = jnp.einsum("...aibi->...ab", parts)[..., :, None, :, None] * jnp.eye(3)[:, None, :]
    made = finger.bulk * parts + finger.shear * (jnp.swapaxes(parts, -1, -3) + trace)
    return finger.damping * made.reshape(whole.shape)


def rigid_energy(mass: Any, inertia: Any, aim: RigidPose, at: RigidPose) -> Float[Array, ""]:
    """What it takes to be elsewhere than where it would go by itself, times h^2 (J s^2)."""
    away = at.place - aim.place
    spread = jnp.trace(inertia) / 2 * jnp.eye(3) - inertia
    return mass * (away * away).sum() / 2 + (spread * (jnp.eye(3) - at.turn.T @ aim.turn)).sum()


class Skin(NamedTuple):
    """The skin's points, their stiffness, and what they touch."""

    points: Float[Array, "fingers slices points 3"]
    stiffness: Float[Array, "slices points"]
    touch: SkinTouch
    slip: Float[Array, "fingers slices points 3"]
    """From the anchors on the object, along it (m)."""
    arm: Float[Array, "fingers slices points 3"]
    """From the object's middle to the anchors (m)."""
    height: Float[Array, "fingers slices points"]
    """Above the ground (m)."""
    drag: Float[Array, "fingers slices points 3"]
    """From the anchors on the ground (m)."""


def skin(rig: GripperParameters, step: StepStart, at: GripperPlace, nodes: Array) -> Skin:
    """Where the fingers' skin is, next to object and ground."""
    points = jnp.einsum("ca,fsai->fsci", rig.skin, nodes)
    arm = step.mode.held.anchor @ at.object.turn.T
    slip = contact.flatten(points - at.object.place - arm, step.normal)
    touch = contact.on_solid(rig.solid, points, at.object)
    drag = (points - step.mode.grazed.anchor) * FLAT
    stiffness = rig.contact_stiffness * rig.area + LEAST
    return Skin(points, stiffness, touch, slip, arm, points[..., 2] - rig.floor, drag)


def skin_energy(rig: GripperParameters, step: StepStart, it: Skin) -> Float[Array, ""]:
    """Of the skin on object and ground (J)."""
    hold, graze = rig.friction * step.mode.held.force, rig.ground_friction * step.mode.grazed.force
    total = contact.press_energy(it.stiffness, it.touch.gap) + contact.press_energy(it.stiffness, it.height)
    total = total + contact.rub_energy(it.stiffness, hold, it.slip)
    return total + contact.rub_energy(it.stiffness, graze, it.drag)


def standing(rig: GripperParameters, step: StepStart, at: RigidPose) -> tuple[Array, Array]:
    """The object's corners (m), and how far they are from their anchors along the ground (m)."""
    places = contact.corners(rig.solid, at, step.begin.object)
    return places, (places - step.mode.stood.anchor) * FLAT


def standing_energy(rig: GripperParameters, step: StepStart, at: RigidPose) -> Float[Array, ""]:
    """Of the object on the ground (J)."""
    places, slip = standing(rig, step, at)
    limit = rig.ground_friction * step.mode.stood.force
    pressed = contact.press_energy(rig.ground_stiffness, places[:, 2] - rig.floor)
    return pressed + contact.rub_energy(rig.ground_stiffness, limit, slip)


def potential(rig: GripperParameters, step: StepStart, at: GripperPlace) -> Float[Array, ""]:
    """The function whose least is where the step ends (J)."""
    finger, square = rig.fingers.finger, step.dt**2
    nodes = slices(rig, at)
    away = nodes - step.aim
    total = finger.density * jnp.einsum("fsai,ab,fsbi->", away, finger.overlap, away) / (2 * square)
    total = total + energy.material_energy(finger, nodes).sum()
    total = total + energy.tendon_energy(finger, nodes, step.lengths).sum()
    moved = (nodes - step.slices).reshape((*nodes.shape[:2], -1))
    total = total + jnp.einsum("fsi,fsij,fsj->", moved, step.viscous, moved) / (2 * step.dt)
    total = total + rigid_energy(rig.mass[0], rig.inertia[:, :, 0], step.vehicle, at.vehicle) / square
    total = total + rigid_energy(rig.payload_mass, rig.payload_inertia, step.object, at.object) / square
    total = total + skin_energy(rig, step, skin(rig, step, at, nodes))
    return total + standing_energy(rig, step, at.object)


def tendon_lengths(rig: GripperParameters, mode: GripperMode) -> Float[Array, "fingers 4"]:
    """Of all tendons (m)."""
    return each_tendon(mode.lengths.reshape(-1, 2))
