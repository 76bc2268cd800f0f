"""How a gripper moves and what it tells, batches behind every array."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from skyrig import algebra
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.gripper import contact
from skyrig.rigs.gripper.contact import RigidPose
from skyrig.rigs.gripper.events import grasp_events
from skyrig.rigs.gripper.momentum import OutsidePush, Speed, kinetic_energy
from skyrig.rigs.gripper.parameters import (
    GripperMotion,
    GripperParameters,
    GripperState,
    in_turn,
    one_by_one,
)
from skyrig.rigs.gripper.potential import LEAST, GripperPlace, slices, tendon_lengths
from skyrig.rigs.gripper.step import advance
from skyrig.rigs.protocol import Loads, Wrench
from skyrig.soft import energy
from skyrig.soft.surface import edges

FASTEST = 0.5
"""At which tendons go where nobody says how fast (m/s)."""


class GripperDynamics(GripperParameters):
    """A gripper in motion."""

    def step(self, state: GripperState, loads: Any, dt: Array) -> tuple[GripperState, Bool[Array, "*batch"]]:
        """The rig's own step, asked for by the integrator `own`; loads are held over it."""
        acting = loads(0.0, state)
        return in_turn(self, state, outside(acting, state), dt)

    def step_alone(
        self, state: GripperState, push: OutsidePush, dt: Array
    ) -> tuple[GripperState, Bool[Array, ""]]:
        """One flight's step."""
        return _step(self, state, push, dt)

    def derivative(self, t: ArrayLike, state: GripperState, loads: Loads) -> GripperMotion:
        """Not known: contacts are too stiff for any step but the rig's own."""
        raise NotImplementedError("a gripper steps itself: leave loop.integrator at 'own'")

    def tidy(self, state: GripperState) -> GripperState:
        """Quaternions at length one."""
        return eqx.tree_at(
            lambda it: (it.motion.vehicles.attitude, it.motion.payload.attitude),
            state,
            tuple(algebra.normalised(it.attitude) for it in (state.motion.vehicles, state.motion.payload)),
        )

    def prepare(self, state: GripperState, loads: Loads, dt: Array) -> GripperState:
        """Pull the tendons to the lengths that are asked for."""
        asked = loads.drives.get("tendon")
        return state if asked is None else eqx.tree_at(lambda it: it.mode.lengths, state, asked)

    def bodies(self, state: GripperState) -> dict[str, Bodies]:
        """Object and vehicle."""
        return {"payload": state.motion.payload, "vehicles": state.motion.vehicles}

    def readings(self, state: GripperState) -> dict[str, Array]:
        """The tendons' lengths, which their drums know."""
        return {"tendon.length": state.mode.lengths}

    def rest_goals(self) -> dict[str, Any]:
        """Straight tendons (m), reached as fast as may be (m/s)."""
        lengths = np.asarray(self.fingers.straight).reshape(-1)
        return {"tendon": lengths, "tendon_pace": np.full_like(lengths, FASTEST)}

    def follow(
        self, readings: dict[str, Array], goals: dict[str, Array], period: ArrayLike
    ) -> dict[str, Array]:
        """Tendons go towards their lengths at their pace, within what they can."""
        low, high = self.fingers.shortest, self.fingers.longest
        now, most = readings["tendon.length"], goals["tendon_pace"] * period
        moved = now + jnp.clip(jnp.clip(goals["tendon"], low, high) - now, -most, most)
        return {"tendon": moved, "tendon_pace": goals["tendon_pace"]}

    def signals(self, t: ArrayLike, state: GripperState, loads: Loads) -> dict[str, Array]:
        """Of tendons, fingers, and the torque that eq. 22 speaks of."""
        batch = self.like(state).ndim
        run: Any = one_by_one(self, _signals, batch)
        return run(self, state, outside(loads, state), self.like(state))

    def happened(self, times: Any, told: dict[str, Any]) -> list[Any]:
        """Touch, grasped, lifted, released, dropped."""
        return grasp_events(times, told)

    def stored(self, state: GripperState) -> Float[Array, "*batch"]:
        """Energy in fingers, tendons and contacts (J)."""
        like = self.like(state)
        run: Any = one_by_one(self, _stored, like.ndim)
        return run(self, state, _none(state), like)

    def energy(self, state: GripperState) -> Float[Array, "*batch"]:
        """Of motion, fingers, tendons and contacts, without weight (J)."""
        like = self.like(state)
        run: Any = one_by_one(self, _moving, like.ndim)
        return self.stored(state) + run(self, state, _none(state), like)

    def poke(self, state: GripperState, group: str, impulse: Array, point: Array) -> GripperState:
        """Blows (N s, world) on the vehicle or the object, at points of theirs (m)."""
        where = "payload" if group == "payload" else "vehicles"
        body = getattr(state.motion, where)
        own = self.payload_inertia[:, :, None] if where == "payload" else self.inertia
        mass = self.payload_mass[None] if where == "payload" else self.mass
        local = algebra.apply_transposed(algebra.rotation_matrix(body.attitude), impulse)
        back = jnp.moveaxis(jnp.linalg.inv(jnp.moveaxis(own, (0, 1), (-2, -1))), (-2, -1), (0, 1))
        spin = algebra.apply(back, algebra.cross(point, local))
        hit = Bodies(body.position, body.velocity + impulse / mass, body.attitude, body.rate + spin)
        return eqx.tree_at(lambda it: getattr(it.motion, where), state, hit)


def _pose(body: Bodies) -> RigidPose:
    return RigidPose(body.position[:, 0], algebra.rotation_matrix(body.attitude[:, 0]))


def place_of(state: GripperState) -> GripperPlace:
    """Where everything is, of one flight."""
    return GripperPlace(state.motion.nodes, _pose(state.motion.vehicles), _pose(state.motion.payload))


def speed_of(state: GripperState) -> Speed:
    """How everything moves, of one flight."""
    craft, thing = state.motion.vehicles, state.motion.payload
    at = place_of(state)
    return Speed(
        state.motion.drift,
        craft.velocity[:, 0],
        at.vehicle.turn @ craft.rate[:, 0],
        thing.velocity[:, 0],
        at.object.turn @ thing.rate[:, 0],
    )


def outside(loads: Loads, state: GripperState) -> OutsidePush:
    """What acts from outside, world frame."""
    craft = state.motion.vehicles
    turn = algebra.rotation_matrix(craft.attitude)
    force = loads.thrust * turn[:, 2]
    torque = algebra.apply(turn, loads.moment)
    none = jnp.zeros_like(state.motion.payload.position)
    hand = loads.wrenches.get("vehicles", Wrench(jnp.zeros_like(force)))
    thing = loads.wrenches.get("payload", Wrench(none))
    torque = torque if hand.torque is None else torque + hand.torque
    twist = none if thing.torque is None else thing.torque
    return OutsidePush((force + hand.force)[:, 0], torque[:, 0], thing.force[:, 0], twist[:, 0])


def _none(state: GripperState) -> OutsidePush:
    still = jnp.zeros_like(state.motion.payload.position[:, 0])
    return OutsidePush(still, still, still, still)


def _body(pose: RigidPose, velocity: Array, turn: Array, before: Array) -> Bodies:
    """A body from its pose, its attitude near the one `before`."""
    quaternion = as_quaternion(pose.turn)
    quaternion = jnp.where((quaternion * before[:, 0]).sum() < 0, -quaternion, quaternion)
    return Bodies(pose.place[:, None], velocity[:, None], quaternion[:, None], (pose.turn.T @ turn)[:, None])


def as_quaternion(turn: Float[Array, "3 3"]) -> Float[Array, "4"]:
    """Quaternion wxyz of a rotation, by whichever of the four is largest."""
    xx, yy, zz = turn[0, 0], turn[1, 1], turn[2, 2]
    squares = jnp.stack([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz])
    odd = jnp.stack([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    xy, yz, zx = turn[1, 0] + turn[0, 1], turn[2, 1] + turn[1, 2], turn[0, 2] + turn[2, 0]
    rows = jnp.stack(
        [
            jnp.stack([squares[0], odd[0], odd[1], odd[2]]),
            jnp.stack([odd[0], squares[1], xy, zx]),
            jnp.stack([odd[1], xy, squares[2], yz]),
            jnp.stack([odd[2], zx, yz, squares[3]]),
        ]
    )
    row = rows[squares.argmax()]
    return row / jnp.sqrt((row * row).sum())


def _step(
    rig: GripperDynamics, state: GripperState, push: OutsidePush, dt: Array
) -> tuple[GripperState, Bool[Array, ""]]:
    """One flight's step."""
    done = advance(rig, place_of(state), speed_of(state), state.mode, push, dt)
    speed = done.speed
    motion = GripperMotion(
        _body(done.place.vehicle, speed.vehicle, speed.vehicle_turn, state.motion.vehicles.attitude),
        _body(done.place.object, speed.object, speed.object_turn, state.motion.payload.attitude),
        done.place.nodes,
        speed.nodes,
    )
    return GripperState(motion, done.mode), done.failed


def _signals(rig: GripperDynamics, state: GripperState, push: OutsidePush, like: Array) -> dict[str, Array]:
    ring, at = rig.fingers, place_of(state)
    finger = ring.finger
    nodes = slices(rig, at)
    pull = energy.tension(finger, energy.tendons(finger, nodes, tendon_lengths(rig, state.mode)))
    tip = jnp.einsum("a,fai->fi", finger.tip, nodes[:, -1, -finger.face :])
    rim = edges(finger, _blocks(rig, nodes))
    torque = state.mode.torque
    bound, assumed = assumptions(_first_moment(rig), rig.gravity, at.vehicle.turn[:, 2], torque)
    press, stands = state.mode.held.force.sum((1, 2)), state.mode.stood.force.sum()
    # the inner edges, then the outer ones: fingers, two, points, xyz
    loops = jnp.stack([_loop(rim, 3, 0), _loop(rim, 1, 2)], 1)
    return {
        "tendon.tension": pull.reshape(-1, 2, 2).sum(-1).reshape(-1),
        "tendon.length": state.mode.lengths,
        "fingertip.gap": contact.on_solid(rig.solid, tip, at.object).gap,
        "finger.force": press,
        "ground.force": stands[None],
        "object.held": (((press > 0).sum() >= 2) & (stands <= 0))[None],
        "gripper.torque": torque,
        "gripper.bound": bound[None],
        "gripper.assumed": assumed[None],
        **pushes(state.mode.push),
        "tendon.nodes": loops.reshape(-1),
    }


def assumptions(
    first: Any, gravity: Any, axis: Float[Array, "3 *batch"], torque: Float[Array, "3 *batch"]
) -> tuple[Array, Array]:
    """What a rigid gripper's weight would turn the vehicle by (N m), and whether eq. 22 holds.

    Args:
        first: Mass of the fingers times how far it hangs below the vehicle (kg m).
        gravity: m/s^2.
        axis: The vehicle's own z axis, in the world.
        torque: Of the fingers on the vehicle (N m, world).
    """
    turning = gravity * jnp.stack([-axis[1], axis[0], jnp.zeros_like(axis[0])])
    bound, size = (first * algebra.dot(turning, turning) ** 0.5, algebra.dot(torque, torque) ** 0.5)
    # what is below a thousandth of the fingers' own weight on their own lever is no torque at all
    small = 1e-3 * first * gravity
    agrees = (algebra.dot(torque, turning) >= 0) | (size < small)
    return bound, (axis[2] >= 0) & (size <= bound + small) & agrees


def pushes(push: Float[Array, "3 2 *batch"]) -> dict[str, Array]:
    """Signals of what pushes object and vehicle (N, world)."""
    return {f"push.{axis}": push[k] for k, axis in enumerate("xyz")}


def _blocks(rig: GripperDynamics, nodes: Array) -> Array:
    """Blocks of whole slices; see `skyrig.soft.stack`."""
    finger = rig.fingers.finger
    first = jnp.concatenate([jnp.zeros((nodes.shape[0], finger.between, 3)), nodes[:, 0, : finger.face]], 1)
    return jnp.concatenate([first[:, None], nodes[:, :, finger.face :]], 1)


def _loop(rim: Array, out: int, back: int) -> Array:
    """Along one edge of fingers to the tip and back along the next, without the bases."""
    return jnp.concatenate([rim[:, 1:, out], rim[:, :0:-1, back]], 1)


def _first_moment(rig: GripperDynamics) -> Array:
    """Mass of the fingers times how far it hangs below the vehicle (kg m)."""
    finger, ring = rig.fingers.finger, rig.fingers
    rest = ring.place[:, None, None] + jnp.einsum("fij,saj->fsai", ring.turn, finger.rest)
    return -finger.density * jnp.einsum("ab,fsb->", finger.overlap, rest[..., 2])


def _moving(rig: GripperDynamics, state: GripperState, push: OutsidePush, like: Array) -> Array:
    return kinetic_energy(rig, place_of(state), speed_of(state))


def _stored(rig: GripperDynamics, state: GripperState, push: OutsidePush, like: Array) -> Array:
    at = place_of(state)
    finger = rig.fingers.finger
    nodes = slices(rig, at)
    lengths = tendon_lengths(rig, state.mode)
    total = energy.material_energy(finger, nodes).sum() + energy.tendon_energy(finger, nodes, lengths).sum()
    mode, skin = state.mode, rig.contact_stiffness * rig.area + LEAST
    pressed = (mode.held.force**2 / skin).sum() + (mode.grazed.force**2 / skin).sum()
    return total + (pressed + (mode.stood.force**2).sum() / rig.ground_stiffness) / 2
