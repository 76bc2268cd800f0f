"""A vehicle with a soft gripper: the geometric controller of Fishman and Carlone (2021), and ours.

    f = -b_z . (k_p e_p + k_v e_v + m g - m p_d'')                                        (19)
    tau = -k_r e_r - k_Omega e_Omega + Omega x J Omega
        - J (Omega x R^T R_d Omega_d - R^T R_d Omega_d')                                  (20, 21)

The gripper's torque is a disturbance of which the controller knows nothing. The wanted attitude turns as
the wanted force does, errors included (Lee, Leok and McClamroch).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig import algebra
from skyrig.algebra import apply, as_jax, cross, dot
from skyrig.control.attitude import WantedFrame, projected_frame, relative_rotation, rotation_error, turning
from skyrig.control.estimate import Filter, Late
from skyrig.control.gains import Clock, Gain, read_gains, vehicle_bandwidths
from skyrig.control.interface import (
    Command,
    Controller,
    Measurement,
    Target,
    axes,
    concrete,
    fitted,
    fitted_target,
    part,
    wanted_of,
)
from skyrig.control.nominal import motion
from skyrig.control.position_loop import PositionGains, PositionNominal, position_nominal
from skyrig.control.vehicle import Vehicles
from skyrig.planning import Sample
from skyrig.rigs.gripper.rig import SoftGripper
from skyrig.vehicles import Airframe

PUBLISHED = {"position": 16.0, "velocity": 5.6, "attitude": 8.81, "rate": 2.54}
"""The paper's gains: 1/s^2 and 1/s (times the mass, as in Lee's paper), N m/rad and N m s/rad."""


class SoftDroneGains(eqx.Module):
    """Gains of eqs. 19-21."""

    position: Float[Array, " ..."] = axes(0)
    """k_p over the mass (1/s^2)."""
    velocity: Float[Array, " ..."] = axes(0)
    """k_v over the mass (1/s)."""
    attitude: Float[Array, " ..."] = axes(0)
    """k_r (N m/rad)."""
    rate: Float[Array, " ..."] = axes(0)
    """k_Omega (N m s/rad)."""


class SoftDrone(Controller):
    """Eqs. 18-21; build one with `skyrig.control.build('gripper', ..., flavour='published')`."""

    prepares_from: ClassVar[tuple[str, ...] | None] = ("gravity",)

    mass: Float[Array, "1 ..."] = axes(1)
    """Of vehicle and gripper (kg)."""
    inertia: Float[Array, "3 3 1 ..."] = axes(3)
    gravity: Float[Array, " ..."] = axes(0)
    gains: SoftDroneGains = part()

    def prepare(self, payload: Sample | None = None, vehicles: Sample | None = None) -> PositionNominal:
        """The vehicle's reference and its derivatives."""
        model = jax.tree.map(concrete, self)
        body = motion(wanted_of("vehicles", vehicles), 0 * model.gravity, bodies=1)
        return position_nominal(body.position, body.euler[..., 2], model.gravity, projected=True)

    def __call__(self, memory: Any, t: Any, target: Target, measurement: Measurement) -> tuple[Any, Command]:
        """Thrust and moment from position and yaw errors."""
        craft = measurement.vehicles
        it = fitted(self, craft.position[0])
        nominal: PositionNominal = fitted_target(target, measurement).nominal
        gains, rotation = it.gains, algebra.rotation_matrix(craft.attitude)
        place, velocity, acceleration, jerk = nominal.position
        up = jnp.zeros_like(place).at[2].set(it.gravity)
        axis, spin = rotation[:, 2], apply(rotation, craft.rate)
        wanted = _pull(gains, craft.position - place, craft.velocity - velocity) + up + acceleration
        size = dot(wanted, axis)
        # what the errors do next, if the thrust is what is asked for (Lee's paper, eqs. 60 and on)
        late = size * axis - up - acceleration
        wanted_rate = _pull(gains, craft.velocity - velocity, late) + jerk
        axis_rate = cross(spin, axis)
        later = (dot(wanted_rate, axis) + dot(wanted, axis_rate)) * axis + size * axis_rate - jerk
        wanted_spin = _pull(gains, late, later)

        def frame_rate(force: Array, rate: Array) -> Array:
            frame, turn = jax.jvp(lambda it: projected_frame(it, nominal.heading), (force,), (rate,))
            return rotation_error(relative_rotation(frame, turn))

        rate, rate_rate = jax.jvp(frame_rate, (wanted, wanted_rate), (wanted_rate, wanted_spin))
        aimed = WantedFrame(projected_frame(wanted, nominal.heading), rate)
        way = turning(rotation, craft.rate, aimed, rate_rate)
        moment = gains.attitude * way.error + gains.rate * way.rate_error
        moment = moment + apply(it.inertia, way.spin) + cross(craft.rate, apply(it.inertia, craft.rate))
        return memory, Command(it.mass * size, moment)


def _pull(gains: SoftDroneGains, place: Array, velocity: Array) -> Array:
    """Acceleration that feedback asks for (m/s^2)."""
    return -gains.position * place - gains.velocity * velocity


def soft_drone(
    rig: SoftGripper,
    airframes: Sequence[Airframe],
    gains: Mapping[str, Any] | None,
    flavour: str,
    clock: Clock,
) -> Controller:
    """The vehicle of a gripper follows its reference."""
    hand = np.asarray(rig.fingers.mass)
    mass = rig.mass + hand
    if flavour == "published":
        values = read_gains(gains, {name: Gain(value) for name, value in PUBLISHED.items()}, 1)
        return SoftDrone(mass, rig.inertia, rig.gravity, SoftDroneGains(**values))
    gravity = float(rig.gravity)
    tilt = vehicle_bandwidths(airframes, np.array([float(hand)]), gravity, clock)
    prompt = vehicle_bandwidths(airframes, np.array([float(hand)]), gravity, clock.prompt)
    slow, lift = tilt.tilt.min(), airframes[0].total_thrust_max / float(mass[0])
    known = {
        "position": Gain(np.array([slow / 6, slow / 6, clock.height_bandwidth(prompt.tilt.min() / 5)]), "3"),
        "attitude": Gain(tilt.vehicle, "3n"),
        "integral": Gain(min(0.3, slow / 48), zero=True),
        "damping": Gain(0.9),
        "reach": Gain(0.6),
        "most_side": Gain(0.3 * gravity),
        "most_up": Gain(min(max(0.5 * (lift - gravity), 0.02 * gravity), 0.3 * gravity)),
        "learn": Gain(0.05),
        "most_push": Gain(0.3 * gravity),
        "most_turn": Gain(50.0),
    }
    return Vehicles(
        mass=mass,
        inertia=rig.inertia,
        gravity=rig.gravity,
        thrust_min=as_jax([each.total_thrust_min for each in airframes]),
        thrust_max=as_jax([each.total_thrust_max for each in airframes]),
        late=Late.of(clock),
        sight=Filter.sharp(),
        load=as_jax(np.zeros(1)),
        gains=PositionGains(**read_gains(gains, known, 1)),
    )
