"""One step of a gripper: Newton's method on the incremental potential, then momenta made exact."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from skyrig.rigs.gripper import contact
from skyrig.rigs.gripper.contact import FLAT, Pose
from skyrig.rigs.gripper.parameters import Grip, GripperMode, GripperParameters
from skyrig.rigs.gripper.potential import (
    Place,
    Skin,
    Step,
    bases,
    potential,
    skin,
    skin_energy,
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


class Speed(NamedTuple):
    """How everything moves, world frame."""

    nodes: Float[Array, "fingers slices own 3"]
    vehicle: Float[Array, "3"]
    vehicle_turn: Float[Array, "3"]
    object: Float[Array, "3"]
    object_turn: Float[Array, "3"]


class Push(NamedTuple):
    """What acts from outside over a step, world frame, about centres of mass."""

    vehicle: Float[Array, "3"]
    """N."""
    vehicle_turn: Float[Array, "3"]
    """N m."""
    object: Float[Array, "3"]
    object_turn: Float[Array, "3"]


class Stepped(NamedTuple):
    """Where a step ends."""

    place: Place
    speed: Speed
    mode: GripperMode
    failed: Bool[Array, ""]


def advance(
    rig: GripperParameters, at: Place, speed: Speed, mode: GripperMode, push: Push, dt: Float[Array, ""]
) -> Stepped:
    """One step of `dt` (s) of one flight."""
    step = begun(rig, at, speed, mode, push, dt)
    end, failed = _least(rig, step, _guess(step, speed))
    reached = _speed(at, end, dt)
    nodes = slices(rig, end)
    touched = skin(rig, step, end, nodes)
    made = _exact(rig, step, end, speed, reached, push, touched)
    torque = (
        _spin(rig.inertia[:, :, 0], end.vehicle, made.vehicle_turn)
        - _spin(rig.inertia[:, :, 0], at.vehicle, speed.vehicle_turn)
    ) / dt - push.vehicle_turn
    return Stepped(end, made, _gripped(rig, step, end, touched, torque), failed)


def begun(rig: GripperParameters, at: Place, speed: Speed, mode: GripperMode, push: Push, dt: Array) -> Step:
    """What a step knows before it begins."""
    finger = rig.fingers.finger
    down = jnp.array([0.0, 0.0, -1.0]) * rig.gravity
    now = slices(rig, at)
    arm = bases(rig) @ at.vehicle.turn.T
    base = speed.vehicle + jnp.cross(speed.vehicle_turn, arm)
    drift = jnp.concatenate(
        [jnp.concatenate([base[:, None], speed.nodes[:, :-1, finger.between :]], 1), speed.nodes], 2
    )
    points = jnp.einsum("ca,fsai->fsci", rig.skin, now)
    return Step(
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
    mass: Array, inertia: Array, at: Pose, velocity: Array, turn: Array, push: Any, down: Array, dt: Array
) -> Pose:
    """Where a rigid body goes under a push and its weight."""
    whole = at.turn @ inertia @ at.turn.T
    spin = turn + dt * jnp.linalg.solve(whole, push[1] - jnp.cross(turn, whole @ turn))
    place = at.place + dt * velocity + dt * dt * (down + push[0] / mass)
    return Pose(place, rotation(dt * spin) @ at.turn)


def _guess(step: Step, speed: Speed) -> Place:
    """Where to begin: everything goes on as it went."""
    before = step.begin
    going = before.object.place + step.dt * speed.object
    return Place(before.nodes + step.dt * speed.nodes, step.vehicle, Pose(going, step.object.turn))


class _Search(NamedTuple):
    place: Place
    value: Array
    shift: Array
    left: Array
    turns: Array
    stuck: Array


def _least(rig: GripperParameters, step: Step, guess: Place) -> tuple[Place, Array]:
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


def _turn(rig: GripperParameters, step: Step, it: _Search) -> _Search:
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


def _speed(before: Place, after: Place, dt: Array) -> Speed:
    def turn(a: Pose, b: Pose) -> Array:
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


def _spin(inertia: Array, pose: Pose, turn: Array) -> Array:
    """Angular momentum about the centre of mass (N m s, world)."""
    return pose.turn @ (inertia @ (pose.turn.T @ turn))


def _exact(
    rig: GripperParameters,
    step: Step,
    end: Place,
    before: Speed,
    after: Speed,
    push: Push,
    touched: Skin,
) -> Speed:
    """The velocities with momenta as the forces of the step leave them.

    Backward Euler loses angular momentum at first order in the step, of whatever turns or swings. Vehicle with fingers, and the object, are each given the rigid motion on top that makes up for it.
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
    spin = dt * (turn + hand_torque)
    lift, whirl = _missing(hand0, hand1, gain, spin, mass, centre, inertia)
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


def momenta(rig: GripperParameters, at: Place, speed: Speed) -> Float[Array, "6"]:
    """Of everything together: momentum (N s), and angular momentum about the origin (N m s)."""
    hand, thing = _hand(rig, at, speed), _rigid(rig, at.object, speed.object, speed.object_turn)
    return jnp.concatenate([hand[0] + thing[0], hand[1] + thing[1]])


def kinetic_energy(rig: GripperParameters, at: Place, speed: Speed) -> Float[Array, ""]:
    """Of everything together (J)."""
    finger = rig.fingers.finger
    _, drift = _lumps(rig, at, speed)
    total = finger.density * jnp.einsum("fsai,ab,fsbi->", drift, finger.overlap, drift)
    total = (
        total + rig.mass[0] * speed.vehicle @ speed.vehicle + rig.payload_mass * speed.object @ speed.object
    )
    total = total + speed.vehicle_turn @ _spin(rig.inertia[:, :, 0], at.vehicle, speed.vehicle_turn)
    return (total + speed.object_turn @ _spin(rig.payload_inertia, at.object, speed.object_turn)) / 2


def _missing(
    before: Any, after: Any, gain: Array, spin: Array, mass: Array, centre: Array, inertia: Array
) -> tuple[Array, Array]:
    """Velocity and turning of the rigid motion that brings momenta to what they must be."""
    short = before[0] + gain - after[0]
    turn = before[1] + spin - after[1] - jnp.cross(centre, short)
    return short / mass, jnp.linalg.solve(inertia, turn)


def _rigid(rig: GripperParameters, pose: Pose, velocity: Array, turn: Array) -> tuple[Array, Array]:
    """Momenta of the object about the origin."""
    push = rig.payload_mass * velocity
    return push, jnp.cross(pose.place, push) + _spin(rig.payload_inertia, pose, turn)


def _lumps(rig: GripperParameters, at: Place, speed: Speed) -> tuple[Array, Array]:
    """Slices of all fingers, and how their nodes move."""
    finger = rig.fingers.finger
    arm = bases(rig) @ at.vehicle.turn.T
    base = speed.vehicle + jnp.cross(speed.vehicle_turn, arm)
    drift = jnp.concatenate(
        [jnp.concatenate([base[:, None], speed.nodes[:, :-1, finger.between :]], 1), speed.nodes], 2
    )
    return slices(rig, at), drift


def _hand(rig: GripperParameters, at: Place, speed: Speed) -> tuple[Array, Array]:
    """Momenta of vehicle and fingers about the origin."""
    finger = rig.fingers.finger
    place, drift = _lumps(rig, at, speed)
    carried = finger.density * jnp.einsum("ab,fsbi->fsai", finger.overlap, drift)
    push = rig.mass[0] * speed.vehicle
    turn = jnp.cross(at.vehicle.place, push) + _spin(rig.inertia[:, :, 0], at.vehicle, speed.vehicle_turn)
    return push + carried.sum((0, 1, 2)), turn + jnp.cross(place, carried).sum((0, 1, 2))


def _body(rig: GripperParameters, at: Place) -> tuple[Array, Array, Array]:
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


def _at(rig: GripperParameters, step: Step, end: Place, points: Array) -> Skin:
    """The skin with its points elsewhere."""
    arm = step.mode.held.anchor @ end.object.turn.T
    slip = contact.flatten(points - end.object.place - arm, step.normal)
    drag = (points - step.mode.grazed.anchor) * FLAT
    stiffness = rig.contact_stiffness * rig.area + 1e-9
    touch = contact.on_solid(rig.solid, points, end.object)
    return Skin(points, stiffness, touch, slip, arm, points[..., 2] - rig.floor, drag)


def _ground_part(rig: GripperParameters, step: Step, it: Skin) -> Array:
    """Gradient of what the ground stores by the skin's points: minus its force on them (N)."""
    limit = rig.ground_friction * step.mode.grazed.force

    def stored(points: Array) -> Array:
        pressed = contact.press_energy(it.stiffness, points[..., 2] - rig.floor)
        return pressed + contact.rub_energy(it.stiffness, limit, (points - step.mode.grazed.anchor) * FLAT)

    return jax.grad(stored)(it.points)


def _corner_slope(rig: GripperParameters, step: Step, end: Place) -> Array:
    """Gradient of what the ground stores by the object's corners (N)."""
    places, _ = standing(rig, step, end.object)
    limit = rig.ground_friction * step.mode.stood.force

    def stored(points: Array) -> Array:
        pressed = contact.press_energy(rig.ground_stiffness, points[:, 2] - rig.floor)
        return pressed + contact.rub_energy(
            rig.ground_stiffness, limit, (points - step.mode.stood.anchor) * FLAT
        )

    return jax.grad(stored)(places)


def _gripped(rig: GripperParameters, step: Step, end: Place, it: Skin, torque: Array) -> GripperMode:
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
    )
