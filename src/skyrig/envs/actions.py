"""What an action means: from numbers between -1 and 1 to thrusts and moments.

An action of zeros asks for what holds the rig in hover, at every level. All commands go through the rotors'
limits afterwards, whatever the level.
"""

from __future__ import annotations

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig import checks
from skyrig.algebra import apply, as_jax, cross, dot, rotation_matrix
from skyrig.control.attitude import least_turn, turning, turning_moment, turning_spin, within_reach
from skyrig.control.interface import Command, Measurement
from skyrig.envs.pool import PooledRig


class Level(eqx.Module):
    """How an action commands a vehicle."""

    @property
    def drives(self) -> tuple[str, ...]:
        """The rig's own drives that it commands."""
        return ()

    @abstractmethod
    def size(self, plants: PooledRig) -> int:
        """Numbers in one vehicle's action."""

    @abstractmethod
    def command(self, plant: PooledRig, seen: Measurement, action: Float[Array, "a n *batch"]) -> Command:
        """The command an action stands for; every entry lies between -1 and 1."""


class RotorThrusts(Level):
    """One number for each rotor: -1 its least thrust, 0 its thrust in hover, 1 its most."""

    def size(self, plants: PooledRig) -> int:
        """The number of rotors; vehicles with fewer than others leave the rest unused."""
        return plants.actuators.low.shape[0]

    def command(self, plant: PooledRig, seen: Measurement, action: Float[Array, "a n *batch"]) -> Command:
        """Thrust and moment that the rotors make together."""
        rotors = plant.actuators
        hover, _ = rotors.rotor_thrusts(Command(plant.thrust, plant.moment))
        wanted = _between(rotors.low, hover, rotors.high, action)
        force = (rotors.mixing * wanted[None]).sum(1)
        return Command(force[0], force[1:])


class ThrustAndRates(Level):
    """Collective thrust and three body rates; a rate loop at the control rate makes the moments.

    The thrust goes from the least (-1) over hover (0) to the most the rotors give (1).
    """

    most: Float[Array, " 3"]
    """Body rate about each axis at an action of 1 (rad/s)."""
    time: Float[Array, ""]
    """In which a rate error shall vanish (s)."""

    def size(self, plants: PooledRig) -> int:
        """Four: thrust, roll rate, pitch rate, yaw rate."""
        return 4

    def command(self, plant: PooledRig, seen: Measurement, action: Float[Array, "a n *batch"]) -> Command:
        """The thrust asked for, and the moments that bring the body rates asked for."""
        thrust = _between(plant.thrust_min, plant.thrust, plant.thrust_max, action[0])
        rate, inertia = seen.vehicles.rate, plant.inertia
        most = self.most.reshape((3,) + (1,) * (rate.ndim - 1))
        spin = (most * action[1:] - rate) / self.time
        moment = apply(inertia, spin) + cross(rate, apply(inertia, rate)) + plant.moment
        return Command(thrust, moment)


class WantedAcceleration(Level):
    """The acceleration each vehicle shall have (world axes, yaw kept at zero); an attitude loop turns it."""

    most: Float[Array, " 3"]
    """Along x, y and z at an action of 1 (m/s^2)."""

    def size(self, plants: PooledRig) -> int:
        """Three: along x, y, z of the world."""
        return 3

    def command(self, plant: PooledRig, seen: Measurement, action: Float[Array, "a n *batch"]) -> Command:
        """Thrust along the vehicle's axis, and moments that turn it to where the thrust is wanted."""
        craft = seen.vehicles
        most = self.most.reshape((3,) + (1,) * (action.ndim - 1))
        wanted = plant.push + plant.loaded * most * action
        wanted, _ = within_reach(wanted, plant.thrust_min, plant.thrust_max)
        rotation = rotation_matrix(craft.attitude)
        way = turning(rotation, craft.rate, least_turn(wanted, 0 * wanted), 0 * craft.rate)
        one = jnp.ones_like(plant.thrust)
        moment = turning_moment(plant.inertia, craft.rate, turning_spin(way, plant.bandwidth, one))
        return Command(dot(wanted, rotation[:, 2]), moment + plant.moment)


LEVELS = ("rotors", "rates", "acceleration")
"""Names of the action levels."""


def level(name: str, period: float) -> Level:
    """The action level of that name, for commands every `period` (s)."""
    checks.choice("action", name, LEVELS)
    if name == "rotors":
        return RotorThrusts()
    if name == "rates":
        return ThrustAndRates(as_jax(np.array([6.0, 6.0, 3.0])), as_jax(max(0.04, 2 * period)))
    return WantedAcceleration(as_jax(np.array([5.0, 5.0, 5.0])))


def _between(low: Array, middle: Array, high: Array, action: Array) -> Array:
    """`low` at -1, `middle` at 0, `high` at 1, straight in between."""
    return middle + jnp.where(action > 0, high - middle, middle - low) * action
