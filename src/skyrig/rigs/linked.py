"""Vehicles fixed to the payload by rigid links: one composite body with full inertia (RotorTM eqs. 24-26)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jaxtyping import Array, Float

from skyrig import algebra, checks
from skyrig.algebra import apply, apply_transposed, as_jax, cross
from skyrig.constants import GRAVITY
from skyrig.errors import InputError
from skyrig.rigs.bodies import Bodies, Inputs, bodies_from_arrays
from skyrig.rigs.cables import checked, inverse
from skyrig.rigs.smooth import Smooth


class LinkedState(eqx.Module):
    """Where a linked rig is: its composite body, at the common centre of mass, in the payload's frame."""

    body: Bodies
    side: Float[Array, "*batch"]
    """Which side of z = 0 the payload is on (+1, -1); 0 just after passing it."""


class LinkedRate(eqx.Module):
    """Time derivative of a `LinkedState`."""

    body: Bodies

    def advance(self, state: LinkedState, dt: Array) -> LinkedState:
        """`state` moved along this rate for `dt` (s)."""
        return LinkedState(jax.tree.map(lambda x, k: x + dt * k, state.body, self.body), state.side)


class Linked(Smooth):
    """n vehicles rigidly on one payload, each with its own yaw; build one with `Linked.build`."""

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
        turn = checked(checks.numbers, "yaw", np.zeros(n) if yaw is None else yaw, (n,))
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
            rotation = _about_z(turn[k])
            inertia = inertia + rotation @ matrix @ rotation.T + mass[k] * _steiner(offset[:, k])
        return Linked(
            mass=total,
            inertia=inertia,
            inverse_inertia=as_jax(inverse(inertia)),
            payload_offset=-centre,
            vehicle_offset=offset,
            vehicle_yaw=turn,
            gravity=checked(checks.numbers, "gravity", gravity),
        )

    @property
    def count(self) -> int:
        """Number of vehicles."""
        return self.vehicle_yaw.shape[0]

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
        arm = apply(algebra.rotation_matrix(payload.attitude), -self.payload_offset)
        swing = apply(algebra.rotation_matrix(payload.attitude), cross(payload.rate, -self.payload_offset))
        body = Bodies(payload.position + arm, payload.velocity + swing, payload.attitude, payload.rate)
        return LinkedState(body, jnp.sign(payload.position[2]))

    def bodies(self, state: LinkedState) -> tuple[Bodies, Bodies]:
        """Payload and vehicles, recovered from the composite body exactly."""
        body = state.body
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
        return payload, vehicles

    def net_wrench(self, inputs: Inputs) -> tuple[Float[Array, "*batch"], Float[Array, "3 *batch"]]:
        """Total thrust (N) and moment about the common centre of mass (N m), body frame (RotorTM eq. 26)."""
        up = jnp.zeros_like(self.vehicle_offset).at[2].set(1.0)
        moment = cross(self.vehicle_offset, inputs.thrust * up) + _turned(inputs.moment, self.vehicle_yaw)
        return inputs.thrust.sum(0), moment.sum(1)

    def derivative(self, state: LinkedState, inputs: Inputs) -> LinkedRate:
        """Time derivative of the state, pure."""
        body = state.body
        rotation = algebra.rotation_matrix(body.attitude)
        thrust, moment = self.net_wrench(inputs)
        force = thrust * rotation[:, 2]
        for push, arm in (
            (inputs.payload_force, self.payload_offset),
            (inputs.vehicle_force, self.vehicle_offset),
        ):
            if push is not None:
                many = push.ndim > force.ndim
                local = apply_transposed(rotation[:, :, None] if many else rotation, push)
                turning = cross(arm, local)
                force = force + (push.sum(1) if many else push)
                moment = moment + (turning.sum(1) if many else turning)
        if inputs.payload_torque is not None:
            moment = moment + apply_transposed(rotation, inputs.payload_torque)
        if inputs.vehicle_torque is not None:
            moment = moment + apply_transposed(rotation, inputs.vehicle_torque.sum(1))
        zero = jnp.zeros_like(self.gravity)
        gyroscopic = cross(body.rate, apply(self.inertia, body.rate))
        return LinkedRate(
            Bodies(
                body.velocity,
                force / self.mass - jnp.stack([zero, zero, self.gravity]),
                algebra.attitude_rate(body.attitude, body.rate),
                apply(self.inverse_inertia, moment - gyroscopic),
            )
        )

    def tidy(self, state: LinkedState) -> LinkedState:
        """Quaternion back at length one."""
        attitude = algebra.normalised(state.body.attitude)
        return eqx.tree_at(lambda s: s.body.attitude, state, attitude)

    def poke(self, state: LinkedState, impulse: Array, point: Array) -> LinkedState:
        """An impulse (N s, world frame) at a point of the payload (m, payload frame)."""
        body = state.body
        local = apply_transposed(algebra.rotation_matrix(body.attitude), impulse)
        spin = apply(self.inverse_inertia, cross(self.payload_offset + point, local))
        changed = Bodies(body.position, body.velocity + impulse / self.mass, body.attitude, body.rate + spin)
        return LinkedState(changed, state.side)


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
