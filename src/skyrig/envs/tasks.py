"""What a task is, and the two that hold still: hover with a slung load, carry a rigid one."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from skyrig.algebra import as_jax, dot, rotation_matrix
from skyrig.control.interface import Measurement
from skyrig.envs.observations import Goal
from skyrig.envs.pool import PooledRig
from skyrig.rigs.bodies import Bodies


class Spread(eqx.Module):
    """How far starts are scattered, each uniformly."""

    position: Float[Array, " 3"]
    """Of the load from where it is wanted, either way along each axis (m)."""
    velocity: Float[Array, ""]
    """Of the whole rig, either way along each axis (m/s)."""
    swing: Float[Array, ""]
    """Turn of the whole rig about the load, either way about x and y (rad)."""
    tilt: Float[Array, ""]
    """Turn of each vehicle, either way about each of its axes (rad)."""


class TaskVerdict(NamedTuple):
    """What a task says about one control period."""

    bonus: Float[Array, "*batch"]
    """Added to the reward."""
    failed: Bool[Array, "*batch"]
    """Whether the episode ends here for the task's own reasons."""


class Task(eqx.Module):
    """What is wanted in an episode. Components come first in every array, the batch last.

    A task of your own derives from this and overrides what it needs; `begin` runs for one flight.
    """

    place: Float[Array, " 3"]
    """Where the load shall be, or where the task has its origin (m)."""
    spread: Spread
    arena: Float[Array, ""]
    """The episode ends when the load is farther than this from where it is wanted (m)."""

    def begin(self, key: Array) -> tuple[Any, Float[Array, " 3"]]:
        """What the episode remembers, and how far from the wanted place the load starts (m)."""
        return None, self.spread.position * jax.random.uniform(key, (3,), minval=-1.0)

    def scattered(self, key: Array, bodies: dict[str, Bodies]) -> dict[str, Bodies]:
        """The bodies at the start, after the common scatter; groups (3, k)."""
        return bodies

    def drawn(self, memory: Any) -> np.ndarray:
        """What stands in the load's way, for pictures: (E, 2, 3) line segments (m); of one flight."""
        return np.zeros((0, 2, 3))

    def wanted(self, memory: Any, tick: Int[Array, "*batch"]) -> Goal:
        """Where the load shall be at a tick of the control rate."""
        place = self.place.reshape((3,) + (1,) * tick.ndim)
        still = jnp.zeros((3, *tick.shape), self.place.dtype)
        return Goal(place + still, still)

    def extras(self, memory: Any, tick: Int[Array, "*batch"], seen: Measurement) -> Array | None:
        """(k, *batch) what the observation tells besides; None for nothing."""
        return None

    def touched(self, memory: Any, tick: Int[Array, "*batch"], plant: PooledRig, state: Any) -> Any:
        """The state after what befalls the rig at this tick."""
        return state

    def verdict(self, memory: Any, before: Measurement, after: Measurement) -> TaskVerdict:
        """What the period from `before` to `after` brings besides the common reward."""
        error = after.payload.position[0]
        return TaskVerdict(jnp.zeros_like(error), jnp.zeros(error.shape, bool))


class HoverTask(Task):
    """Hold the load in one place."""


class CarryTask(Task):
    """Hold a rigid load in one place, level and unturned."""

    def verdict(self, memory: Any, before: Measurement, after: Measurement) -> TaskVerdict:
        """Minus 0.2 times the sum of 1 - cos of the turn about the three axes."""
        turn = rotation_matrix(after.payload.attitude)
        off = 3.0 - turn[0, 0] - turn[1, 1] - turn[2, 2]
        return TaskVerdict(-0.2 * off, jnp.zeros(off.shape, bool))


class Rewards(eqx.Module):
    """The reward that all tasks share, for one control period.

    near * exp(-sharp e) + far * (1 - e / arena) - swift |v| - turning |rates| - effort |action|^2

    e is the load's distance from where it is wanted (m), v its velocity against the wanted one (m/s), |rates|
    the mean size of the vehicles' body rates (rad/s), |action|^2 the mean square of the action's entries.
    """

    near: Float[Array, ""]
    sharp: Float[Array, ""]
    """1/m."""
    far: Float[Array, ""]
    swift: Float[Array, ""]
    """s/m."""
    turning: Float[Array, ""]
    """s/rad."""
    effort: Float[Array, ""]
    failure: Float[Array, ""]
    """The reward of a period in which the episode fails."""

    @staticmethod
    def usual() -> Rewards:
        """What the tasks of the catalogue reward."""
        numbers = (0.5, 3.0, 0.5, 0.02, 0.01, 0.02, -10.0)
        return Rewards(*(as_jax(np.asarray(number)) for number in numbers))

    def __call__(
        self,
        wanted: Goal,
        seen: Measurement,
        arena: Float[Array, ""],
        action: Float[Array, "a n *batch"],
    ) -> Float[Array, "*batch"]:
        """The shared reward."""
        error = length(wanted.position - seen.payload.position)
        drift = length(wanted.velocity - seen.payload.velocity)
        rates = length(seen.vehicles.rate).mean(0)
        effort = (action * action).mean((0, 1))
        close = self.near * jnp.exp(-self.sharp * error) + self.far * (1 - error / arena)
        return close - self.swift * drift - self.turning * rates - self.effort * effort


def length(vector: Float[Array, "3 *batch"]) -> Float[Array, "*batch"]:
    """Euclidean length over the leading axis."""
    return jnp.sqrt(dot(vector, vector))
