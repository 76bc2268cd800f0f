"""Vehicles fixed to the payload by rigid links: one composite body with full inertia (RotorTM eqs. 24-26)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig import algebra, checks
from skyrig.algebra import apply, apply_transposed, as_jax, cross
from skyrig.constants import GRAVITY
from skyrig.errors import InputError
from skyrig.rigs.bodies import Bodies, bodies_from_arrays
from skyrig.rigs.cables import checked, inverse
from skyrig.rigs.equilibrium import Trim, checked_pose
from skyrig.rigs.layout import Group, Layout
from skyrig.rigs.protocol import Loads, Rig, State
from skyrig.turns import turn


class LinkedState(State):
    """Where a linked rig is: its motion is that of the composite body.

    The composite body stands at the common centre of mass, in the payload's frame.
    """

    motion: Bodies
    mode: None = None


class Linked(Rig):
    """n vehicles rigidly on one payload, each with its own yaw; build one with `Linked.build`."""

    mechanism: ClassVar[str] = "links"

    mass: Float[Array, "*batch"]
    """Total mass (kg)."""
    inertia: Float[Array, "3 3 *batch"]
    """Inertia about the common centre of mass, payload axes (kg m^2)."""
    inverse_inertia: Float[Array, "3 3 *batch"]
    payload_offset: Float[Array, "3 *batch"]
    """Payload's centre of mass from the common one, payload axes (m)."""
    vehicle_offset: Float[Array, "3 n *batch"]
    vehicle_yaw: Float[Array, "n *batch"]
    """Turn of each vehicle about the payload's z axis (rad)."""
    gravity: Float[Array, "*batch"]

    @staticmethod
    def build(
        vehicles: Sequence[Any],
        payload: Any,
        attachments: npt.ArrayLike,
        yaw: npt.ArrayLike | None = None,
        gravity: float = GRAVITY,
    ) -> Linked:
        """A linked rig from its parts.

        Args:
            vehicles: Anything with `mass` (kg) and `inertia` (kg m^2).
            payload: Anything with `mass` (kg) and `inertia` (kg m^2, or None for a point mass).
            attachments: (n, 3) where each vehicle's centre of mass sits, payload frame (m).
            yaw: (n,) turn of each vehicle about the payload's z axis (rad), zero where left out.
            gravity: m/s^2, downwards.
        """
        n = len(vehicles)
        if n == 0:
            raise InputError("vehicles must name at least one vehicle, but the list is empty.")
        places = np.shape(attachments)
        if len(places) != 2 or places[0] != n:
            raise InputError(
                f"attachments must be one point for each of {n} vehicles, but its shape is {places}."
            )
        place = checked(checks.numbers, "attachments", attachments, (n, 3)).T
        heading = checked(checks.numbers, "yaw", np.zeros(n) if yaw is None else yaw, (n,))
        masses = [checked(checks.positive, f"vehicles[{k}].mass", v.mass) for k, v in enumerate(vehicles)]
        inertias = [
            checked(checks.inertia, f"vehicles[{k}].inertia", v.inertia) for k, v in enumerate(vehicles)
        ]
        load = checked(checks.positive, "payload.mass", payload.mass)
        own = (
            jnp.zeros((3, 3))
            if payload.inertia is None
            else checked(checks.inertia, "payload.inertia", payload.inertia)
        )
        mass = jnp.stack(masses)
        total = load + mass.sum()
        centre = (mass * place).sum(1) / total
        offset = place - centre[:, None]
        inertia = own + load * _steiner(-centre)
        for k, matrix in enumerate(inertias):
            rotation = _about_z(heading[k])
            inertia = inertia + rotation @ matrix @ rotation.T + mass[k] * _steiner(offset[:, k])
        return Linked(
            mass=total,
            inertia=inertia,
            inverse_inertia=as_jax(inverse(inertia)),
            payload_offset=-centre,
            vehicle_offset=offset,
            vehicle_yaw=heading,
            gravity=checked(checks.numbers, "gravity", gravity),
        )

    @property
    def count(self) -> int:
        """Number of vehicles."""
        return self.vehicle_yaw.shape[0]

    @property
    def layout(self) -> Layout:
        """One payload and n vehicles."""
        return Layout((Group("payload", 1), Group("vehicles", self.count)))

    def state(
        self,
        payload_position: npt.ArrayLike,
        *,
        payload_velocity: npt.ArrayLike | None = None,
        payload_attitude: npt.ArrayLike | None = None,
        payload_rate: npt.ArrayLike | None = None,
    ) -> LinkedState:
        """A state from the payload's, arrays with xyz last; what is left out is zero (level)."""
        payload = bodies_from_arrays(
            "payload", (), payload_position, payload_velocity, payload_attitude, payload_rate
        )
        return self._around(payload)

    def placed(self, bodies: dict[str, Bodies]) -> LinkedState:
        """A start with the payload as given: the vehicles are where it is."""
        return self._around(bodies["payload"].only())

    def shifted(self, state: LinkedState, bodies: dict[str, Bodies]) -> LinkedState:
        """The rig with its payload elsewhere."""
        return self._around(bodies["payload"].only())

    def _around(self, payload: Bodies) -> LinkedState:
        turn = algebra.rotation_matrix(payload.attitude)
        arm, swing = apply(turn, -self.payload_offset), apply(turn, cross(payload.rate, -self.payload_offset))
        return LinkedState(
            Bodies(payload.position + arm, payload.velocity + swing, payload.attitude, payload.rate)
        )

    def like(self, state: LinkedState) -> Float[Array, "*batch"]:
        """One number of the motion for each flight."""
        return state.motion.position[0]

    def bodies(self, state: LinkedState) -> dict[str, Bodies]:
        """Payload and vehicles, recovered from the composite body exactly."""
        body = state.motion
        rotation = algebra.rotation_matrix(body.attitude)
        payload = Bodies(
            body.position + apply(rotation, self.payload_offset),
            body.velocity + apply(rotation, cross(body.rate, self.payload_offset)),
            body.attitude,
            body.rate,
        )
        spread, rate = rotation[:, :, None], body.rate[:, None]
        half = self.vehicle_yaw / 2
        zero = jnp.zeros_like(half)
        heading = jnp.stack([jnp.cos(half), zero, zero, jnp.sin(half)])
        vehicles = Bodies(
            body.position[:, None] + apply(spread, self.vehicle_offset),
            body.velocity[:, None] + apply(spread, cross(rate, self.vehicle_offset)),
            algebra.multiply(body.attitude[:, None] + 0 * heading, heading),
            _turned(rate, -self.vehicle_yaw),
        )
        return {"payload": payload.alone(), "vehicles": vehicles}

    def net_wrench(self, loads: Loads) -> tuple[Float[Array, "*batch"], Float[Array, "3 *batch"]]:
        """Total thrust (N) and moment about the common centre of mass (N m), body frame (RotorTM eq. 26)."""
        up = jnp.zeros_like(self.vehicle_offset).at[2].set(1.0)
        moment = cross(self.vehicle_offset, loads.thrust * up) + _turned(loads.moment, self.vehicle_yaw)
        return loads.thrust.sum(0), moment.sum(1)

    def derivative(self, t: ArrayLike, state: LinkedState, loads: Loads) -> Bodies:
        """Time derivative of the composite body's motion, pure."""
        body = state.motion
        rotation = algebra.rotation_matrix(body.attitude)
        thrust, moment = self.net_wrench(loads)
        force = thrust * rotation[:, 2]
        for group, arm in (("payload", self.payload_offset[:, None]), ("vehicles", self.vehicle_offset)):
            outside = loads.wrenches.get(group)
            if outside is None:
                continue
            force = force + outside.force.sum(1)
            moment = moment + cross(arm, apply_transposed(rotation[:, :, None], outside.force)).sum(1)
            if outside.torque is not None:
                moment = moment + apply_transposed(rotation, outside.torque.sum(1))
        zero = jnp.zeros_like(self.gravity)
        gyroscopic = cross(body.rate, apply(self.inertia, body.rate))
        return Bodies(
            body.velocity,
            force / self.mass - jnp.stack([zero, zero, self.gravity]),
            algebra.attitude_rate(body.attitude, body.rate),
            apply(self.inverse_inertia, moment - gyroscopic),
        )

    def tidy(self, state: LinkedState) -> LinkedState:
        """Quaternion back at length one."""
        attitude = algebra.normalised(state.motion.attitude)
        return eqx.tree_at(lambda s: s.motion.attitude, state, attitude)

    def poke(self, state: LinkedState, group: str, impulse: Array, point: Array) -> LinkedState:
        """Blows (N s, world frame) at points of the group's bodies (m, their frames)."""
        body = state.motion
        arm = point + self.payload_offset[:, None]
        if group == "vehicles":
            arm = _turned(point, self.vehicle_yaw) + self.vehicle_offset
        local = apply_transposed(algebra.rotation_matrix(body.attitude)[:, :, None], impulse)
        spin = apply(self.inverse_inertia, cross(arm, local).sum(1))
        speed = body.velocity + impulse.sum(1) / self.mass
        return LinkedState(Bodies(body.position, speed, body.attitude, body.rate + spin))

    def trim(self, position: Any, attitude: Any = (1.0, 0.0, 0.0, 0.0), lean: float | None = None) -> Trim:
        """The hover with the thrusts upright: yaw is kept, `lean` has no meaning; see `skyrig.trim`."""
        place, pose = checked_pose(position, attitude)
        forward, up = turn(pose, np.eye(3)[[0, 2]])
        yaw = np.arctan2(forward[1], forward[0])
        exact = bool(up[2] > 1 - 1e-15)
        level = pose if exact else np.array([np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)])
        note = "The payload hovers at the pose asked for."
        if not exact:
            note = (
                "Linked vehicles hover only with their thrust upright; the payload is levelled, its yaw kept."
            )
        n = self.count
        offset = np.asarray(self.vehicle_offset).T
        heading = np.asarray(self.vehicle_yaw)
        weight = float(self.mass) * float(self.gravity)
        # least effort over thrusts and moments; a moment counts as a thrust at half the span would
        span = max(np.linalg.norm(offset[:, :2], axis=1).max(), 0.05)
        balance = np.zeros((4, 4 * n))
        for k in range(n):
            cos, sin = np.cos(heading[k]), np.sin(heading[k])
            balance[0, 4 * k] = 1
            balance[1:, 4 * k] = np.cross(offset[k], [0, 0, 1.0])
            balance[1:, 4 * k + 1 : 4 * k + 4] = (
                np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]]) * span / 2
            )
        effort = np.linalg.lstsq(balance, np.array([weight, 0, 0, 0]), rcond=None)[0].reshape(n, 4)
        state = self.state(place, payload_attitude=level)
        return Trim(state, effort[:, 0], effort[:, 1:] * span / 2, exact, note, {})


def _steiner(arm: Array) -> Array:
    """Inertia of a unit mass at the end of `arm` (parallel axis theorem)."""
    return (arm @ arm) * jnp.eye(3) - jnp.outer(arm, arm)


def _about_z(angle: Array) -> Array:
    cos, sin, zero, one = jnp.cos(angle), jnp.sin(angle), jnp.zeros_like(angle), jnp.ones_like(angle)
    return jnp.stack(
        [jnp.stack([cos, -sin, zero]), jnp.stack([sin, cos, zero]), jnp.stack([zero, zero, one])]
    )


def _turned(vector: Array, angle: Array) -> Array:
    """Vectors turned about z."""
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    x, y, z = vector
    return jnp.stack([cos * x - sin * y, sin * x + cos * y, z + 0 * cos])
