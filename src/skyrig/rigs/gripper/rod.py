"""A gripper whose fingers are rods (`elements: rod`): cheap explicit sub-steps, whole batches at once."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig import algebra
from skyrig.algebra import apply, cross
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.gripper import rod_measures
from skyrig.rigs.gripper.momentum import OutsidePush
from skyrig.rigs.gripper.moving import (
    MovingRod,
    advanced,
    as_bodies,
    free,
    gained,
    inverse,
    packed,
    rigid,
    turned,
    unpacked,
)
from skyrig.rigs.gripper.parameters import Grip, GripperMode, GripperMotion, GripperState
from skyrig.rigs.gripper.rig import SoftGripper
from skyrig.rigs.gripper.skin import (
    LATE,
    LATE_GROUND,
    RigidBody,
    Stuck,
    on_ground,
    on_object,
    standing,
    wide,
)
from skyrig.rigs.protocol import Loads
from skyrig.soft import rod as rods
from skyrig.soft.mesh import FingerDesign
from skyrig.soft.rod import Rod, RodNodes

ACROSS = (-1.0, 0.0, 1.0)
"""Points of the skin across the face that closes, in half widths; behind there is one a segment."""
HANGING = 1.0
"""How long fingers may swing before a flight, to hang at rest (s)."""


class RodGripper(SoftGripper):
    """A vehicle with fingers that are rods; `motion.nodes` has a place and two directors a node."""

    @classmethod
    def build(cls, *parts: Any, **named: Any) -> RodGripper:
        """As `SoftGripper.build`; a design's elements are not asked for."""
        made = super().build(*parts, **named)
        assert isinstance(made, RodGripper)
        return made

    @staticmethod
    def skin_of(design: FingerDesign) -> tuple[np.ndarray, np.ndarray]:
        """No weights, and the areas of the points (m^2), rows across the face first.

        Rows are not further apart than points of a row are: an edge of the object would go in between.
        """
        segment = design.length / design.slices
        rows = int(np.ceil(2 * segment / design.width - 1e-9))
        share = np.append(np.tile([0.25, 0.5, 0.25], rows) / rows, 1.0)
        return np.zeros((share.size, 0)), np.tile(design.width * segment * share, (design.slices, 1))

    def hung(self, craft: Bodies) -> tuple[Array, Array]:
        """The fingers' nodes and their velocities, at rest below a vehicle."""
        turn = algebra.rotation_matrix(craft.attitude[:, 0])
        base = self._bases(jnp.zeros(3), turn)
        at = rods.straight(self.rod, base.place[:, 0], self._frames(turn), self.slices)
        lengths = jnp.broadcast_to(self.fingers.finger.length, (4, self.count_fingers))
        at = rods.settled(self.rod, at, lengths, self._down(at.place[:, 1:]), HANGING)
        spin = wide(apply(turn, craft.rate[:, 0]), at.place)
        drift = RodNodes(
            wide(craft.velocity[:, 0], at.place) + cross(spin, at.place),
            *(cross(spin, leaf) for leaf in at[1:]),
        )
        at = at._replace(place=at.place + wide(craft.position[:, 0], at.place))
        return packed(free(at)), packed(free(drift))

    @property
    def rod(self) -> Rod:
        """Of every finger."""
        return rods.rod(self.fingers.finger)

    @property
    def slices(self) -> int:
        """Segments of a finger."""
        return self.fingers.finger.rest.shape[0]

    @property
    def count_fingers(self) -> int:
        """How many fingers."""
        return self.fingers.place.shape[0]

    def _frames(self, turn: Array) -> Float[Array, "3 3 fingers *batch"]:
        """Of the fingers, in the world."""
        own = jnp.moveaxis(self.fingers.turn, 0, 2)
        return (turn[:, :, None, None] * own[None]).sum(1)

    def _bases(self, place: Array, turn: Array) -> RodNodes:
        """The bases' nodes, (3, 1, fingers, *batch)."""
        own, frames = jnp.moveaxis(self.fingers.place, 0, 1), self._frames(turn)
        where = wide(place, own) + apply(turn[:, :, None], own)
        return RodNodes(where[:, None], frames[:, 0, None], frames[:, 1, None])

    def _down(self, like: Array) -> Array:
        """Gravity (m/s^2)."""
        none = jnp.zeros_like(like[0])
        return jnp.stack([none, none, none - self.gravity])

    def _skin(self, at: RodNodes) -> Float[Array, "3 points slices fingers *batch"]:
        """Points of the skin from all nodes, bases included; linear, so that it serves for velocities too."""
        upper, lower = (RodNodes(*(leaf[:, rows] for leaf in at)) for rows in (np.s_[1:], np.s_[:-1]))
        half, rows, points = self.rod.half, self.area.shape[1] // len(ACROSS), []
        for row in range(1, rows):
            mixed = jax.tree.map(lambda a, b, up=row / rows: up * a + (1 - up) * b, upper, lower)
            points += [mixed.place + half * (mixed.inner + y * mixed.aside) for y in ACROSS]
        points += [upper.place + half * (upper.inner + y * upper.aside) for y in ACROSS]
        return jnp.stack([*points, upper.place - half * upper.inner], 1)

    def whole(self, now: MovingRod) -> tuple[RodNodes, RodNodes]:
        """All nodes and their velocities, those of the bases with the vehicle."""
        base = self._bases(now.vehicle.place, now.vehicle.turn)
        spin = wide(now.vehicle.rate, base.place)
        arm = base.place - wide(now.vehicle.place, base.place)
        swept = wide(now.vehicle.velocity, base.place) + cross(spin, arm)
        going = RodNodes(swept, cross(spin, base.inner), cross(spin, base.aside))
        join = [jnp.concatenate(pair, 1) for pair in zip(base, now.at, strict=True)]
        moves = [jnp.concatenate(pair, 1) for pair in zip(going, now.drift, strict=True)]
        return RodNodes(*join), RodNodes(*moves)

    def step_alone(self, state: GripperState, push: OutsidePush, dt: Array) -> tuple[GripperState, Array]:
        """One flight's step: as many sub-steps as material, tendons and contacts need; loads are held."""
        begin = self.begun(state)
        count = jnp.ceil(dt.max() / self._longest()).astype(int)
        share = dt / count
        tendons = self.tendons(state)

        backs = inverse(self.inertia[:, :, 0]), inverse(self.payload_inertia)

        def one(_: Any, now: MovingRod) -> MovingRod:
            return self._sub_step(now, push, tendons, backs, share)

        end = jax.lax.fori_loop(0, count, one, begin)
        end = end._replace(torque=end.torque / count)
        made = self._ended(state, end, push, dt)
        return made, ~jnp.isfinite(end.at.place.sum((0, 1, 2)) + end.object.place.sum(0))

    def tendons(self, state: GripperState) -> Float[Array, "4 fingers *batch"]:
        """Lengths of all tendons (m)."""
        pairs = state.mode.lengths.reshape((self.count_fingers, 2, *state.mode.lengths.shape[1:]))
        return jnp.repeat(jnp.moveaxis(pairs, 1, 0), 2, axis=0)

    def _longest(self) -> Array:
        """The longest sub-step (s)."""
        inner = self.area.sum(1).max(0) / 2
        own = rods.longest(self.rod, self.contact_stiffness * inner, LATE)
        corners = self.solid.corners
        weak = 1 / self.payload_mass + (corners**2).sum(1).max() / jnp.diagonal(self.payload_inertia).max()
        stands = self.ground_stiffness * max(corners.shape[0] / 2, 1) * weak
        return jnp.minimum(own, rods.SAFETY * rods.stable(stands, LATE_GROUND * stands))

    def begun(self, state: GripperState) -> MovingRod:
        """A flight before its first sub-step."""
        motion, mode = state.motion, state.mode
        inertia = self.inertia[:, :, 0]
        held = Stuck(jnp.moveaxis(mode.held.anchor, (3, 2, 1, 0), (0, 1, 2, 3)), turned(mode.held.force))
        stood = Stuck(jnp.moveaxis(mode.stood.anchor, 1, 0), mode.stood.force)
        return MovingRod(
            rigid(motion.vehicles, inertia),
            rigid(motion.payload, self.payload_inertia),
            unpacked(motion.nodes),
            unpacked(motion.drift),
            held,
            stood,
            jnp.zeros_like(held.force),
            jnp.zeros_like(motion.vehicles.position[:, 0]),
        )

    def _sub_step(
        self, now: MovingRod, push: OutsidePush, tendons: Array, backs: tuple[Array, Array], dt: Array
    ) -> MovingRod:
        """Forces where things are, then velocities, then places: momentum is kept to rounding."""
        it = self.rod
        at, drift = self.whole(now)
        force, _ = rods.forces(it, at, drift, tendons)
        points, back = jax.vjp(self._skin, at)
        moves = self._skin(drift)
        stiffness = (self.contact_stiffness * jnp.moveaxis(self.area, 0, 1))[:, :, None]
        on_skin, held = on_object(self.solid, now.object, points, moves, now.held, stiffness, self.friction)
        slides = moves - wide(self.belt, moves)
        ground = on_ground(points, slides, stiffness, self.ground_friction, self.floor)
        force = jax.tree.map(jnp.add, force, back(on_skin + ground)[0])
        thing, stood = self._object_moved(now, points, on_skin, push, backs[1], dt)
        mass, inertia = rods.masses(it, at.place.shape[1])
        gain = RodNodes(
            force.place[:, 1:] / mass + self._down(now.at.place),
            *(leaf[:, 1:] / inertia for leaf in force[1:]),
        )
        drift = jax.tree.map(lambda v, a: v + dt * a, now.drift, gain)
        torque = jnp.zeros_like(now.torque)
        arms = (at.place - wide(now.vehicle.place, at.place), at.inner, at.aside)
        for arm, pull in zip(arms, force, strict=True):
            torque = torque + cross(arm[:, 0], pull[:, 0]).sum(1)
        weight = self.mass[0] * self._down(push.vehicle)
        vehicle = advanced(
            now.vehicle,
            self.mass[0],
            backs[0],
            push.vehicle + weight + force.place[:, 0].sum(1),
            push.vehicle_turn + torque,
            dt,
        )
        moved = jax.tree.map(lambda x, v: x + dt * v, now.at, drift)
        return MovingRod(vehicle, thing, moved, drift, held, stood, ground[2], now.torque + torque)

    def _object_moved(
        self, now: MovingRod, points: Array, on_skin: Array, push: OutsidePush, back: Array, dt: Array
    ) -> tuple[RigidBody, Stuck]:
        """The object after a sub-step, and where its corners stick."""
        thing = now.object
        arm = self._corners(thing)
        slides = wide(thing.velocity, arm) + cross(wide(thing.rate, arm), arm)
        belt = wide(self.belt, arm)
        pushed, stood = standing(
            arm + wide(thing.place, arm),
            slides - belt,
            now.stood._replace(anchor=now.stood.anchor + dt * belt),
            self.ground_stiffness,
            self.ground_friction,
            self.floor,
        )
        axes = (1, 2, 3)
        force = push.object + self.payload_mass * self._down(push.object) - on_skin.sum(axes) + pushed.sum(1)
        twist = push.object_turn - cross(points - wide(thing.place, points), on_skin).sum(axes)
        twist = twist + cross(arm, pushed).sum(1)
        moved = advanced(thing, self.payload_mass, back, force, twist, dt)
        if self.solid.kind == "ball":  # its lowest point goes with its middle, not with its skin
            rolled = dt * cross(wide(moved.rate, arm), arm)
            stood = stood._replace(anchor=stood.anchor - rolled)
        return moved, stood

    def _corners(self, thing: RigidBody) -> Float[Array, "3 corners *batch"]:
        """What the object stands on, from its middle (m)."""
        own = jnp.moveaxis(self.solid.corners, 1, 0)
        if self.solid.kind == "ball":
            none = jnp.zeros_like(thing.place[:1])
            return jnp.stack([none, none, none - self.solid.size[0]])
        return apply(thing.turn[:, :, None], own)

    def _ended(self, state: GripperState, end: MovingRod, push: OutsidePush, dt: Array) -> GripperState:
        mode, before = state.mode, state.motion
        down = self._down(push.object)
        pushed = (
            self.payload_mass * (gained(end.object, before.payload) / dt - down) - push.object,
            self.mass[0] * (gained(end.vehicle, before.vehicles) / dt - down) - push.vehicle,
        )
        held = Grip(jnp.moveaxis(end.held.anchor, (0, 1, 2, 3), (3, 2, 1, 0)), turned(end.held.force))
        grazed = Grip(mode.grazed.anchor, turned(end.grazed))
        stood = Grip(jnp.moveaxis(end.stood.anchor, 0, 1), end.stood.force)
        return GripperState(
            GripperMotion(
                as_bodies(end.vehicle),
                as_bodies(end.object),
                packed(end.at),
                packed(end.drift),
            ),
            GripperMode(mode.lengths, held, grazed, stood, end.torque, jnp.stack(pushed, 1)),
        )

    def signals(self, t: ArrayLike, state: GripperState, loads: Loads) -> dict[str, Array]:
        """Of tendons, fingers, and the torque that eq. 22 speaks of."""
        return rod_measures.signals(self, state)

    def stored(self, state: GripperState) -> Float[Array, "*batch"]:
        """Energy in fingers, tendons and contacts (J)."""
        return rod_measures.stored(self, state)

    def energy(self, state: GripperState) -> Float[Array, "*batch"]:
        """Of motion, fingers, tendons and contacts, without weight (J)."""
        return rod_measures.energy(self, state)

    def momenta(self, state: GripperState) -> Float[Array, "6 *batch"]:
        """Of everything together: momentum (N s), and angular momentum about the origin (N m s)."""
        return rod_measures.momenta(self, state)
