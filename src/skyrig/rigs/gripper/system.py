"""The linear system of a Newton turn: an arrow, fingers its shaft, rigid bodies and tendons its head.

Fingers are block tridiagonal each and know each other only through the vehicle and the object (six unknowns
each) and through their own tendons, whose pulls are unknowns of their own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.rigs.gripper import contact
from skyrig.rigs.gripper.contact import FLAT, RigidPose
from skyrig.rigs.gripper.parameters import GripperParameters
from skyrig.rigs.gripper.potential import GripperPlace, StepStart, bases, potential, skin, slices, standing
from skyrig.soft import energy
from skyrig.soft.blocks import Blocks, factor, solve
from skyrig.soft.stack import assembled, gathered


class Change(NamedTuple):
    """Of all unknowns: moved nodes, and six numbers for each rigid body: place, then turn (world)."""

    nodes: Float[Array, "fingers slices own 3"]
    vehicle: Float[Array, "6"]
    object: Float[Array, "6"]


def skew(vector: Float[Array, "*shape 3"]) -> Float[Array, "*shape 3 3"]:
    """[v]x."""
    x, y, z = vector[..., 0], vector[..., 1], vector[..., 2]
    none = jnp.zeros_like(x)
    rows = [jnp.stack(row, -1) for row in ([none, -z, y], [z, none, -x], [-y, x, none])]
    return jnp.stack(rows, -2)


def turned(pose: RigidPose, by: Float[Array, "6"]) -> RigidPose:
    """A pose moved and turned, to second order in the turn: enough for first derivatives at none."""
    hat = skew(by[3:])
    return RigidPose(pose.place + by[:3], (jnp.eye(3) + hat + hat @ hat / 2) @ pose.turn)


def rotation(by: Float[Array, "3"]) -> Float[Array, "3 3"]:
    """The exponential of [v]x."""
    square = (by * by).sum()
    small = square < 1e-8
    angle = jnp.sqrt(jnp.where(small, 1.0, square))
    first = jnp.where(small, 1 - square / 6, jnp.sin(angle) / angle)
    second = jnp.where(small, 0.5 - square / 24, (1 - jnp.cos(angle)) / (angle * angle))
    hat = skew(by)
    return jnp.eye(3) + first * hat + second * hat @ hat


def moved(at: GripperPlace, change: Change, share: Any) -> GripperPlace:
    """Unknowns after a share of a change."""

    def body(pose: RigidPose, by: Array) -> RigidPose:
        return RigidPose(pose.place + share * by[:3], rotation(share * by[3:]) @ pose.turn)

    return GripperPlace(
        at.nodes + share * change.nodes, body(at.vehicle, change.vehicle), body(at.object, change.object)
    )


def slope(rig: GripperParameters, step: StepStart, at: GripperPlace) -> Change:
    """Gradient of the potential."""

    def along(change: Change) -> Array:
        place = GripperPlace(
            at.nodes + change.nodes, turned(at.vehicle, change.vehicle), turned(at.object, change.object)
        )
        return potential(rig, step, place)

    none = Change(jnp.zeros_like(at.nodes), jnp.zeros(6), jnp.zeros(6))
    return jax.grad(along)(none)


class Shaft(NamedTuple):
    """A Newton turn's matrix."""

    blocks: Blocks
    """Of the fingers."""
    vehicle: Float[Array, "fingers blocks dofs 6"]
    object: Float[Array, "fingers blocks dofs 6"]
    tendons: Float[Array, "fingers blocks dofs tendons"]
    head: Float[Array, "12 12"]
    """Of vehicle and object."""
    pulls: Float[Array, "fingers 6 tendons"]
    """Of the tendons on the vehicle, through the bases."""
    soft: Float[Array, "fingers tendons"]
    """Minus what a pull gives way by itself (m/N)."""


def matrix(rig: GripperParameters, step: StepStart, at: GripperPlace, shift: Any) -> Shaft:
    """Second derivatives of the potential, those left out that could make it bend down."""
    finger = rig.fingers.finger
    nodes = slices(rig, at)
    run = energy.tendons(finger, nodes, step.lengths)
    inertia = finger.density / step.dt**2 * jnp.kron(finger.overlap, jnp.eye(3))
    stiff = energy.material_stiffness(finger, nodes) + energy.tendon_stiffness(finger, run) + inertia
    stiff = stiff + step.viscous / step.dt
    touching, coupling, head = _touching(rig, step, at, nodes)
    stiff = stiff + touching
    taut = (run.stretch > 0)[:, None, None, :]
    columns = energy.tendon_columns(finger, run) * taut
    face = 3 * finger.face
    lever = _levers(rig, at.vehicle)
    through = stiff[:, 0, :, :face] @ lever  # first slices' forces when the vehicle moves
    head = head + jnp.pad(jnp.einsum("fni,fnj->ij", lever, through[:, :face]), (0, 6))
    cross = jnp.pad(jnp.einsum("fni,fnj->ij", lever, coupling[:, 0, :face]), ((0, 6), (6, 0)))
    head = head + cross + cross.T
    whole = assembled(finger, stiff)
    eye = shift * jnp.eye(whole.diagonal.shape[-1])
    blocks = Blocks(whole.diagonal[:, 1:] + eye, whole.below[:, 1:])
    by_vehicle = jnp.zeros((*blocks.diagonal.shape[:3], 6)).at[:, 0].set(through[:, face:])
    soft = jnp.where(taut[:, 0, 0], -1 / (2 * finger.tendon_stiffness), -1.0)
    return Shaft(
        blocks,
        by_vehicle,
        gathered(finger, coupling)[:, 1:],
        gathered(finger, columns)[:, 1:],
        head + _rigid(rig, step, at),
        jnp.einsum("fni,fnt->fit", lever, columns[:, 0, :face]),
        soft,
    )


def solved(shaft: Shaft, down: Change) -> Change:
    """The Newton step: minus the matrix's inverse times the slope."""
    fingers, blocks, size, _ = shaft.vehicle.shape
    force = down.nodes.reshape(fingers, blocks, size, 1)
    right = jnp.concatenate([force, shaft.vehicle, shaft.object, shaft.tendons], -1)
    answered = solve(factor(shaft.blocks), right)
    small = jnp.einsum("fkri,fkrj->fij", right[..., 1:], answered)
    tendons = shaft.tendons.shape[-1]
    count = fingers * tendons
    head = shaft.head - small[:, :12, 1:13].sum(0)
    pulls = jnp.pad(shaft.pulls, ((0, 0), (0, 6), (0, 0))) - small[:, :12, 13:]
    own = -small[:, 12:, 13:] + jnp.eye(tendons) * shaft.soft[:, None, :]
    corner = jnp.einsum("fg,fij->figj", jnp.eye(fingers), own).reshape(count, count)
    wide = jnp.moveaxis(pulls, 0, 1).reshape(12, count)
    whole = jnp.block([[head, wide], [wide.T, corner]])
    rest = jnp.concatenate([down.vehicle, down.object])
    rest = jnp.concatenate([rest - small[:, :12, 0].sum(0), -small[:, 12:, 0].reshape(-1)])
    found = -jnp.linalg.solve(whole, rest)
    each = jnp.concatenate(
        [jnp.broadcast_to(found[:12], (fingers, 12)), found[12:].reshape(fingers, tendons)], 1
    )
    nodes = -answered[..., 0] - jnp.einsum("fkri,fi->fkr", answered[..., 1:], each)
    return Change(nodes.reshape(down.nodes.shape), found[:6], found[6:12])


def _levers(rig: GripperParameters, vehicle: RigidPose) -> Float[Array, "fingers dofs 6"]:
    """How the bases' nodes move with the vehicle."""
    arm = bases(rig) @ vehicle.turn.T
    lever = jnp.concatenate([jnp.broadcast_to(jnp.eye(3), (*arm.shape, 3)), -skew(arm)], -1)
    return lever.reshape(arm.shape[0], -1, 6)


def _rigid(rig: GripperParameters, step: StepStart, at: GripperPlace) -> Float[Array, "12 12"]:
    """Inertia of vehicle and object."""

    def body(mass: Array, inertia: Array, aim: RigidPose, pose: RigidPose) -> Array:
        spread = jnp.trace(inertia) / 2 * jnp.eye(3) - inertia
        turn = pose.turn @ spread @ aim.turn.T
        turning = jnp.trace(turn) * jnp.eye(3) - (turn + turn.T) / 2
        return jax.scipy.linalg.block_diag(mass * jnp.eye(3), turning)

    both = (
        body(rig.mass[0], rig.inertia[:, :, 0], step.vehicle, at.vehicle),
        body(rig.payload_mass, rig.payload_inertia, step.object, at.object),
    )
    return jax.scipy.linalg.block_diag(*both) / step.dt**2


def _touching(
    rig: GripperParameters, step: StepStart, at: GripperPlace, nodes: Array
) -> tuple[Array, Array, Array]:
    """Stiffness of contacts: of slices, between slices and object, and of the object."""
    it = skin(rig, step, at, nodes)
    normal = it.touch.normal
    pressed = jnp.where(it.touch.gap < 0, it.stiffness, 0.0)
    arm = it.points - at.object.place
    way = jnp.concatenate([-normal, -jnp.cross(arm, normal)], -1)  # the gap's slope by the object's pose
    skin_skin = pressed[..., None, None] * normal[..., :, None] * normal[..., None, :]
    skin_object = pressed[..., None, None] * normal[..., :, None] * way[..., None, :]
    flat = way.reshape(-1, 6)
    object_object = flat.T @ (pressed.reshape(-1, 1) * flat)
    rub = contact.rub_stiffness(it.stiffness, rig.friction * step.mode.held.force, it.slip)
    across = jnp.eye(3) - step.normal[..., :, None] * step.normal[..., None, :]
    rub = across @ rub @ across
    lever = jnp.concatenate([-jnp.broadcast_to(jnp.eye(3), (*it.arm.shape, 3)), skew(it.arm)], -1)
    dragged = rub @ lever
    skin_skin, skin_object = skin_skin + rub, skin_object + dragged
    object_object = object_object + jnp.einsum("fscio,fscip->op", lever, dragged)
    ground = contact.rub_stiffness(it.stiffness, rig.ground_friction * step.mode.grazed.force, it.drag)
    below = jnp.where(it.height < 0, it.stiffness, 0.0)
    skin_skin = skin_skin + _level(ground, below)
    count = 3 * nodes.shape[-2]
    pairs = jnp.einsum("ca,cb->cab", rig.skin, rig.skin)
    whole = jnp.einsum("cab,fscij->fsaibj", pairs, skin_skin).reshape((*nodes.shape[:2], count, count))
    coupling = jnp.einsum("ca,fscio->fsaio", rig.skin, skin_object).reshape((*nodes.shape[:2], count, 6))
    head = jnp.zeros((12, 12)).at[6:, 6:].set(object_object + _standing(rig, step, at.object))
    return whole, coupling, head


def _level(rub: Array, press: Array) -> Array:
    """Stiffness on level ground."""
    flat = rub * FLAT[:, None] * FLAT
    return flat + press[..., None, None] * jnp.diag(1 - FLAT)


def _standing(rig: GripperParameters, step: StepStart, pose: RigidPose) -> Float[Array, "6 6"]:
    places, slip = standing(rig, step, pose)
    rub = contact.rub_stiffness(rig.ground_stiffness, rig.ground_friction * step.mode.stood.force, slip)
    pressed = jnp.where(places[:, 2] < rig.floor, rig.ground_stiffness, 0.0)
    arm = places - pose.place
    lever = jnp.concatenate([jnp.broadcast_to(jnp.eye(3), (*arm.shape, 3)), -skew(arm)], -1)
    if rig.solid.kind == "ball":  # a ball's lowest point does not go up or down as it rolls
        lever = lever.at[:, 2, 3:].set(0.0)
    return jnp.einsum("cio,cij,cjp->op", lever, _level(rub, pressed), lever)
