"""Grasp an object with soft fingers and lift it: the task, and actions that close a hand."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from skyrig.algebra import as_jax
from skyrig.control.interface import Command, Measurement
from skyrig.envs.actions import Level, WantedAcceleration
from skyrig.envs.observations import Goal
from skyrig.envs.pool import PooledRig
from skyrig.envs.tasks import Task, TaskVerdict, length
from skyrig.errors import InputError
from skyrig.rigs.bodies import Bodies
from skyrig.scenario import Scenario

ABOVE = 0.15
"""How far above the object's middle the vehicle is when fingers close on it (m)."""
OPENED, CLOSED = (1.055, 0.776), (2 / 3, 0.927)
"""Lengths of inner and outer tendons over those of straight fingers: as `skyrig.soft.lengths_for` finds them
for the default gripper and a target below it, spread and grasped with some squeeze."""
PACE = 0.1
"""Of tendons (m/s): a hand closes in half a second."""


class GraspTask(Task):
    """Grasp what stands on the ground, lift it and hold it where it is wanted."""

    lift: Float[Array, ""]
    """How far above its stand the object is wanted (m)."""

    def begin(self, key: Array) -> tuple[None, Array]:
        """The object stands on the ground, somewhere below where it is wanted."""
        aside = self.spread.position * jax.random.uniform(key, (3,), minval=-1.0)
        return None, aside.at[2].set(-self.lift)

    def scattered(self, key: Array, bodies: dict[str, Bodies]) -> dict[str, Bodies]:
        """The vehicle is moved from above the object by as much again, either way along each axis."""
        craft = bodies["vehicles"]
        aside = self.spread.position * jax.random.uniform(key, (3,), minval=-1.0)
        moved = Bodies(craft.position + aside[:, None], craft.velocity, craft.attitude, craft.rate)
        return bodies | {"vehicles": moved}

    def wanted(self, memory: Any, tick: Int[Array, "*batch"]) -> Goal:
        """Above the place where it might have stood."""
        goal = super().wanted(memory, tick)
        up = jnp.array([0.0, 0.0, 1.0]).reshape((3,) + (1,) * tick.ndim)
        return Goal(goal.position + self.lift * up, goal.velocity)

    def extras(self, memory: Any, tick: Int[Array, "*batch"], seen: Measurement) -> Array:
        """Mean length of the inner and of the outer tendons (dm)."""
        lengths = seen.readings["tendon.length"]
        return 10 * lengths.reshape((-1, 2, *lengths.shape[1:])).mean(0)

    def verdict(self, memory: Any, before: Measurement, after: Measurement) -> TaskVerdict:
        """Up to 0.5 for being where a grasp begins, and up to 2 for the object's height."""
        thing, craft = after.payload.position, after.vehicles.position[:, 0]
        up = jnp.array([0.0, 0.0, ABOVE]).reshape((3,) + (1,) * (thing.ndim - 1))
        near = 0.5 * jnp.exp(-8.0 * length(craft - thing - up))
        high = jnp.clip((thing[2] - self.place[2]) / self.lift, 0.0, 1.0)
        return TaskVerdict(near + 2.0 * high, jnp.zeros(near.shape, bool))


class Hand(Level):
    """As `WantedAcceleration`, and one number more: -1 for open fingers, 1 for a closed hand."""

    move: WantedAcceleration
    opened: Float[Array, " pairs"]
    """Lengths of the tendons of an open hand (m)."""
    closed: Float[Array, " pairs"]
    """The same of a closed one."""
    reach: Float[Array, ""]
    """How far tendons go between two actions (m)."""

    @staticmethod
    def of(move: WantedAcceleration, scenario: Scenario, period: float) -> Hand:
        """For the gripper of a scenario: opened as for an approach, closed on what is between its fingers."""
        gripper = getattr(scenario.parts, "gripper", None)
        if gripper is None:
            raise InputError(f"{scenario.where}: rig must be a gripper for actions of a hand.")
        straight = np.asarray(gripper().straight)
        opened, closed = ((straight * share).reshape(-1) for share in (OPENED, CLOSED))
        return Hand(move, as_jax(opened), as_jax(closed), as_jax(np.asarray(PACE * period)))

    @property
    def drives(self) -> tuple[str, ...]:
        """Tendons, at any pace."""
        return ("tendon", "tendon_pace")

    def size(self, plants: PooledRig) -> int:
        """Four: along x, y, z of the world, and how far the hand is closed."""
        return 4

    def command(self, plant: PooledRig, seen: Measurement, action: Float[Array, "a n *batch"]) -> Command:
        """Thrust, moment, and the tendons' lengths at the end of the period."""
        base: Command = self.move.command(plant, seen, action[:3])
        now = seen.readings["tendon.length"]
        opened, closed = (it.reshape((-1,) + (1,) * (now.ndim - 1)) for it in (self.opened, self.closed))
        goal = opened + (closed - opened) * (action[3, 0] + 1) / 2
        return Command(
            base.thrust, base.moment, {"tendon": now + jnp.clip(goal - now, -self.reach, self.reach)}
        )
