"""What a gripper of rods tells: its signals, energies and momenta; components first, the batch last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import apply_transposed, cross, dot
from skyrig.rigs.gripper.dynamics import assumptions, pushes
from skyrig.rigs.gripper.parameters import GripperState
from skyrig.rigs.gripper.skin import gap, wide
from skyrig.soft import rod as rods

if TYPE_CHECKING:
    from skyrig.rigs.gripper.rod import RodGripper


def signals(rig: RodGripper, state: GripperState) -> dict[str, Array]:
    """Of tendons, fingers, and the torque that eq. 22 speaks of."""
    it, now = rig.rod, rig.begun(state)
    at, drift = rig.whole(now)
    _, pull = rods.forces(it, at, drift, rig.tendons(state))
    tip, place = at.place[:, -1], now.object.place
    own = apply_transposed(now.object.turn[:, :, None], tip - wide(place, tip))
    press, stands = now.held.force.sum((0, 1)), now.stood.force.sum(0)
    rim = [
        at.place + it.half * (x * at.inner + y * at.aside) for x, y in ((1, -1), (1, 1), (-1, 1), (-1, -1))
    ]
    loops = [jnp.concatenate([rim[a][:, 1:], rim[b][:, :0:-1]], 1) for a, b in ((0, 1), (2, 3))]
    edges = jnp.stack(loops)  # two, xyz, points, fingers
    pairs = pull.reshape((2, 2, *pull.shape[1:])).sum(1)
    first = rig.count_fingers * it.slice_mass * rig.slices * (it.segment * rig.slices / 2)
    first = first - rig.count_fingers * it.slice_mass * rig.slices * rig.fingers.place[0, 2]
    bound, assumed = assumptions(first, rig.gravity, now.vehicle.turn[:, 2], state.mode.torque)
    return {
        "tendon.tension": jnp.moveaxis(pairs, 0, 1).reshape(state.mode.lengths.shape),
        "tendon.length": state.mode.lengths,
        "fingertip.gap": gap(rig.solid, own)[0],
        "finger.force": press,
        "ground.force": stands[None],
        "object.held": (((press > 0).sum(0) >= 2) & (stands <= 0))[None],
        "gripper.torque": state.mode.torque,
        "gripper.bound": bound[None],
        "gripper.assumed": assumed[None],
        **pushes(state.mode.push),
        "tendon.nodes": jnp.moveaxis(edges, (3, 0, 2, 1), (0, 1, 2, 3)).reshape((-1, *pull.shape[2:])),
    }


def stored(rig: RodGripper, state: GripperState) -> Float[Array, "*batch"]:
    """Energy in fingers, tendons and contacts (J)."""
    now = rig.begun(state)
    at, _ = rig.whole(now)
    skin = (rig.contact_stiffness * jnp.moveaxis(rig.area, 0, 1))[:, :, None]
    pressed = (now.held.force**2 / skin).sum((0, 1, 2)) + (now.grazed**2 / skin).sum((0, 1, 2))
    stood = (now.stood.force**2).sum(0) / rig.ground_stiffness
    return rods.stored(rig.rod, at, rig.tendons(state)) + (pressed + stood) / 2


def energy(rig: RodGripper, state: GripperState) -> Float[Array, "*batch"]:
    """Of motion, fingers, tendons and contacts, without weight (J)."""
    now = rig.begun(state)
    mass, inertia = rods.masses(rig.rod, now.at.place.shape[1] + 1)
    total = (mass * dot(now.drift.place, now.drift.place)).sum((0, 1))
    for leaf in now.drift[1:]:
        total = total + (inertia * dot(leaf, leaf)).sum((0, 1))
    for each, weight in ((now.vehicle, rig.mass[0]), (now.object, rig.payload_mass)):
        total = total + weight * dot(each.velocity, each.velocity) + dot(each.spin, each.rate)
    return stored(rig, state) + total / 2


def momenta(rig: RodGripper, state: GripperState) -> Float[Array, "6 *batch"]:
    """Of everything together: momentum (N s), and angular momentum about the origin (N m s)."""
    now = rig.begun(state)
    mass, inertia = rods.masses(rig.rod, now.at.place.shape[1] + 1)
    push = mass * now.drift.place
    turn = cross(now.at.place, push)
    for arm, leaf in zip(now.at[1:], now.drift[1:], strict=True):
        turn = turn + inertia * cross(arm, leaf)
    push, turn = push.sum((1, 2)), turn.sum((1, 2))
    for each, weight in ((now.vehicle, rig.mass[0]), (now.object, rig.payload_mass)):
        push = push + weight * each.velocity
        turn = turn + cross(each.place, weight * each.velocity) + each.spin
    return jnp.concatenate([push, turn])
