"""One step of a gripper: Newton's method on the incremental potential, then momenta made exact."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from skyrig.rigs.gripper import contact
from skyrig.rigs.gripper.contact import FLAT, RigidPose
from skyrig.rigs.gripper.momentum import OutsidePush, Speed, exact, lumps, spin
from skyrig.rigs.gripper.parameters import Grip, GripperMode, GripperParameters
from skyrig.rigs.gripper.potential import (
    GripperPlace,
    Skin,
    StepStart,
    potential,
    skin,
    slices,
    standing,
    tendon_lengths,
    viscous,
)
from skyrig.rigs.gripper.system import Change, matrix, moved, rotation, slope, solved

TOLERANCE = 1e-5
"""Force left over when a step is done (N)."""
MOST_TURNS = 40
HALVINGS = 20


class GripperStep(NamedTuple):
    """Where a step ends."""

    place: GripperPlace
    speed: Speed
    mode: GripperMode
    failed: Bool[Array, ""]


def advance(
    rig: GripperParameters,
    at: GripperPlace,
    speed: Speed,
    mode: GripperMode,
    push: OutsidePush,
    dt: Float[Array, ""],
) -> GripperStep:
    """One step of `dt` (s) of one flight."""
    step = begun(rig, at, speed, _carried(rig, mode, dt), push, dt)
    end, failed = _least(rig, step, _guess(step, speed))
    reached = _speed(at, end, dt)
    nodes = slices(rig, end)
    touched = skin(rig, step, end, nodes)
    made = exact(rig, step, end, speed, reached, push, touched)
    torque = (
        spin(rig.inertia[:, :, 0], end.vehicle, made.vehicle_turn)
        - spin(rig.inertia[:, :, 0], at.vehicle, speed.vehicle_turn)
    ) / dt - push.vehicle_turn
    down = jnp.array([0.0, 0.0, -1.0]) * rig.gravity
    pushed = jnp.stack(
        [
            rig.payload_mass * ((made.object - speed.object) / dt - down) - push.object,
            rig.mass[0] * ((made.vehicle - speed.vehicle) / dt - down) - push.vehicle,
        ],
        1,
    )
    return GripperStep(end, made, _gripped(rig, step, end, touched, torque, pushed), failed)


def _carried(rig: GripperParameters, mode: GripperMode, dt: Array) -> GripperMode:
    """Anchors on the ground, where it has run to at the end of the step."""
    grazed, stood = (Grip(it.anchor + dt * rig.belt, it.force) for it in (mode.grazed, mode.stood))
    return GripperMode(mode.lengths, mode.held, grazed, stood, mode.torque, mode.push)


def begun(
    rig: GripperParameters, at: GripperPlace, speed: Speed, mode: GripperMode, push: OutsidePush, dt: Array
) -> StepStart:
    """What a step knows before it begins."""
    finger = rig.fingers.finger
    down = jnp.array([0.0, 0.0, -1.0]) * rig.gravity
    now, drift = lumps(rig, at, speed)
    points = jnp.einsum("ca,fsai->fsci", rig.skin, now)
    return StepStart(
        dt,
        at,
        tendon_lengths(rig, mode),
        now,
        now + dt * drift + dt * dt * down,
        _free(
            rig.mass[0],
            rig.inertia[:, :, 0],
            at.vehicle,
            speed.vehicle,
            speed.vehicle_turn,
            push[:2],
            down,
            dt,
        ),
        _free(
            rig.payload_mass,
            rig.payload_inertia,
            at.object,
            speed.object,
            speed.object_turn,
            push[2:],
            down,
            dt,
        ),
        viscous(finger, now),
        contact.on_solid(rig.solid, points, at.object).normal,
        mode,
    )


def _free(
    mass: Array,
    inertia: Array,
    at: RigidPose,
    velocity: Array,
    turn: Array,
    push: Any,
    down: Array,
    dt: Array,
) -> RigidPose:
    """Where a rigid body goes under a push and its weight."""
    whole = at.turn @ inertia @ at.turn.T
    spin = turn + dt * jnp.linalg.solve(whole, push[1] - jnp.cross(turn, whole @ turn))
    place = at.place + dt * velocity + dt * dt * (down + push[0] / mass)
    return RigidPose(place, rotation(dt * spin) @ at.turn)


def _guess(step: StepStart, speed: Speed) -> GripperPlace:
    """Where to begin: everything goes on as it went."""
    before = step.begin
    going = before.object.place + step.dt * speed.object
    return GripperPlace(
        before.nodes + step.dt * speed.nodes, step.vehicle, RigidPose(going, step.object.turn)
    )


class _Search(NamedTuple):
    place: GripperPlace
    value: Array
    shift: Array
    left: Array
    turns: Array
    stuck: Array


def _least(rig: GripperParameters, step: StepStart, guess: GripperPlace) -> tuple[GripperPlace, Array]:
    """Where the potential is least, and whether that could not be found."""
    first = potential(rig, step, guess)
    bad = ~jnp.isfinite(first)
    start = jax.tree.map(lambda a, b: jnp.where(bad, b, a), guess, step.begin)
    none = jnp.zeros_like(first)

    def unfinished(it: _Search) -> Array:
        return (it.left > TOLERANCE) & (it.turns < MOST_TURNS) & ~it.stuck

    end = jax.lax.while_loop(
        unfinished,
        lambda it: _turn(rig, step, it),
        _Search(start, potential(rig, step, start), none, none + jnp.inf, jnp.zeros((), int), bad & False),
    )
    return end.place, ~jnp.isfinite(end.value) | (end.left > 1e3 * TOLERANCE)


def _turn(rig: GripperParameters, step: StepStart, it: _Search) -> _Search:
    """One Newton turn with a line search."""
    down = slope(rig, step, it.place)
    left = _size(down)
    done = left <= TOLERANCE
    way = solved(matrix(rig, step, it.place, it.shift), down)
    downhill = sum((a * b).sum() for a, b in zip(down, way, strict=True))
    good = jnp.isfinite(downhill) & (downhill < 0) & ~done
    way = jax.tree.map(lambda leaf: jnp.where(good, leaf, 0.0), way)
    downhill = jnp.where(good, downhill, 0.0)
    slack = 1e-12 * jnp.abs(it.value) + 1e-14

    def too_far(tried: tuple[Array, Array, Array]) -> Array:
        share, value, count = tried
        return ~(value <= it.value + 1e-4 * share * downhill + slack) & (count < HALVINGS)

    def halved(tried: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        share = tried[0] / 2
        return share, potential(rig, step, moved(it.place, way, share)), tried[2] + 1

    one = jnp.ones_like(it.value)
    whole = (one, potential(rig, step, moved(it.place, way, one)), jnp.zeros((), int))
    share, value, count = jax.lax.while_loop(too_far, halved, whole)
    taken = good & (count < HALVINGS)
    place = jax.tree.map(lambda a, b: jnp.where(taken, a, b), moved(it.place, way, share), it.place)
    calm, more = jnp.where(it.shift > 0.5, it.shift / 4, 0.0), jnp.maximum(4 * it.shift, 1.0)
    return _Search(
        place,
        jnp.where(taken, value, it.value),
        jnp.where(good, calm, more),
        left,
        it.turns + 1,
        ~done & good & ~taken,
    )


def _size(change: Change) -> Array:
    return jnp.sqrt(sum((leaf * leaf).sum() for leaf in change))


def _speed(before: GripperPlace, after: GripperPlace, dt: Array) -> Speed:
    def turn(a: RigidPose, b: RigidPose) -> Array:
        return logarithm(b.turn @ a.turn.T) / dt

    return Speed(
        (after.nodes - before.nodes) / dt,
        (after.vehicle.place - before.vehicle.place) / dt,
        turn(before.vehicle, after.vehicle),
        (after.object.place - before.object.place) / dt,
        turn(before.object, after.object),
    )


def logarithm(turn: Float[Array, "3 3"]) -> Float[Array, "3"]:
    """The vector of a rotation (rad), for turns well below half a round."""
    odd = jnp.stack([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
    square = (odd * odd).sum()
    small = square < 1e-14
    sine = jnp.sqrt(jnp.where(small, 1.0, square))
    angle = jnp.arctan2(sine, (jnp.trace(turn) - 1) / 2)
    return odd * jnp.where(small, 1.0, angle / sine)


def _gripped(
    rig: GripperParameters, step: StepStart, end: GripperPlace, it: Skin, torque: Array, push: Array
) -> GripperMode:
    """Anchors and forces at the end of a step."""
    mode = step.mode
    slip = contact.flatten(it.points - end.object.place - it.arm, it.touch.normal)
    held = contact.dragged(mode.held, it.stiffness, rig.friction, slip, it.points)
    held = (held - end.object.place) @ end.object.turn
    grazed = contact.dragged(mode.grazed, it.stiffness, rig.ground_friction, it.drag, it.points)
    places, rolled = standing(rig, step, end.object)
    stood = contact.dragged(mode.stood, rig.ground_stiffness, rig.ground_friction, rolled, places)
    if rig.solid.kind == "ball":  # what is lowest now has stuck nowhere yet
        stood = stood + (end.object.place - places) * FLAT
    return GripperMode(
        mode.lengths,
        Grip(held, jnp.maximum(-it.stiffness * it.touch.gap, 0.0)),
        Grip(grazed, jnp.maximum(-it.stiffness * it.height, 0.0)),
        Grip(stood, jnp.maximum(rig.ground_stiffness * (rig.floor - places[:, 2]), 0.0)),
        torque,
        push,
    )
