"""Tasks in which something happens: a path to track, a poke to recover from, a gate to pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from skyrig.control.interface import Measurement
from skyrig.envs.observations import Goal
from skyrig.envs.pool import PooledRig
from skyrig.envs.tasks import Task, TaskVerdict
from skyrig.sim.stepping import choose

PREVIEW = (0.2, 0.4, 0.6)
"""How far ahead a tracking agent sees the path (s)."""


class TrackPath(Task):
    """Follow a path with the load, from any point of it."""

    path: Float[Array, "3 ticks"]
    """Goal places at every tick (m)."""
    speed: Float[Array, "3 ticks"]
    """Goal velocities (m/s)."""
    latest: Int[Array, ""]
    """The last tick at which an episode may begin."""
    ahead: Int[Array, " k"]
    """Ticks of the preview."""

    def begin(self, key: Array) -> tuple[Array, Array]:
        """A tick of the path, and a small offset from it."""
        one, two = jax.random.split(key)
        offset = self.spread.position * jax.random.uniform(one, (3,), minval=-1.0)
        return jax.random.randint(two, (), 0, self.latest + 1), offset

    def wanted(self, memory: Array, tick: Int[Array, "*batch"]) -> Goal:
        """The path's point."""
        now = jnp.minimum(memory + tick, self.path.shape[1] - 1)
        return Goal(self.path[:, now], self.speed[:, now])

    def extras(self, memory: Array, tick: Int[Array, "*batch"], seen: Measurement) -> Array:
        """The path 0.2, 0.4 and 0.6 s from now, from where the load shall be now (m)."""
        now = self.wanted(memory, tick).position
        later = [self.wanted(memory, tick + ahead).position - now for ahead in self.ahead]
        return jnp.concatenate(later)


class Blow(NamedTuple):
    """A poke to come."""

    tick: Int[Array, "*batch"]
    change: Float[Array, "3 *batch"]
    """What it adds to a free load's velocity (m/s)."""


class Recover(Task):
    """Hold the load in one place, and bring it back after a poke at an unknown time."""

    hardest: Float[Array, ""]
    """Most a poke changes a free load's velocity (m/s)."""
    window: Int[Array, " 2"]
    """First and last tick of a poke."""

    def begin(self, key: Array) -> tuple[Blow, Array]:
        """When and how hard the poke will be."""
        one, two, three, four = jax.random.split(key, 4)
        offset = self.spread.position * jax.random.uniform(one, (3,), minval=-1.0)
        tick = jax.random.randint(two, (), self.window[0], self.window[1] + 1)
        way = jax.random.normal(three, (3,))
        size = self.hardest * jax.random.uniform(four, minval=0.5)
        return Blow(tick, size * way / jnp.sqrt((way * way).sum())), offset

    def touched(self, memory: Blow, tick: Int[Array, "*batch"], plant: PooledRig, state: Any) -> Any:
        """The poke, at the load's centre of mass, when its tick has come."""
        blow = (plant.payload_mass * memory.change)[:, None]
        poked = plant.rig.poke(state, "payload", blow, jnp.zeros_like(blow))
        return choose(tick == memory.tick, poked, state)


class Passage(NamedTuple):
    """Where the gate stands, from the task's place (m)."""

    centre: Float[Array, "3 *batch"]


class Gate(Task):
    """Bring the load through a gate and hold it behind.

    The gate is an opening in the plane x = 0 through the task's place; the load is wanted `beyond` behind it.
    """

    beyond: Float[Array, " 3"]
    """From the gate's usual centre to where the load is wanted (m)."""
    before: Float[Array, " 3"]
    """From where the load is wanted to where it starts on average (m)."""
    half: Float[Array, " 2"]
    """Half the opening's width and height (m)."""
    shift: Float[Array, " 2"]
    """How far the gate is moved at most, along y and z (m)."""
    prize: Float[Array, ""]
    """Reward of passing."""

    def begin(self, key: Array) -> tuple[Passage, Array]:
        """Where the gate stands this time."""
        one, two = jax.random.split(key)
        offset = self.before + self.spread.position * jax.random.uniform(one, (3,), minval=-1.0)
        aside = self.shift * jax.random.uniform(two, (2,), minval=-1.0)
        return Passage(jnp.concatenate([jnp.zeros(1), aside])), offset

    def wanted(self, memory: Passage, tick: Int[Array, "*batch"]) -> Goal:
        """Behind the gate."""
        behind = (self.place + self.beyond).reshape((3,) + (1,) * tick.ndim)
        still = jnp.zeros((3, *tick.shape), self.place.dtype)
        return Goal(behind + still, still)

    def extras(self, memory: Passage, tick: Int[Array, "*batch"], seen: Measurement) -> Array:
        """The gate's centre from the load (m), in world axes."""
        return self._centre(memory) - seen.payload.position

    def verdict(self, memory: Passage, before: Measurement, after: Measurement) -> TaskVerdict:
        """A prize when the load passes inside; the end when a body goes through the plane outside."""
        centre = self._centre(memory)
        load, outside = self._crossing(
            centre[:, None], before.payload.position[:, None], after.payload.position[:, None]
        )
        _, scraped = self._crossing(centre[:, None], before.vehicles.position, after.vehicles.position)
        struck = outside.any(0) | scraped.any(0)
        passed = (load & ~outside).any(0) & (after.payload.position[0] > centre[0])
        return TaskVerdict(jnp.where(passed & ~struck, self.prize, 0.0), struck)

    def drawn(self, memory: Passage) -> np.ndarray:
        """The opening's frame."""
        wide, high = np.asarray(self.half, dtype=float)
        corners = np.array([[0, -wide, -high], [0, wide, -high], [0, wide, high], [0, -wide, high]])
        placed = np.asarray(self._centre(memory), dtype=float) + corners
        return np.stack([placed, np.roll(placed, -1, axis=0)], axis=1)

    def _centre(self, memory: Passage) -> Array:
        return self.place.reshape((3,) + (1,) * (memory.centre.ndim - 1)) + memory.centre

    def _crossing(self, centre: Array, old: Array, new: Array) -> tuple[Array, Array]:
        """Which bodies go through the plane, and which of them outside the opening."""
        a, b = old - centre, new - centre
        through = (a[0] > 0) != (b[0] > 0)
        run = jnp.where(through, b[0] - a[0], 1.0)
        at = a[1:] - (a[0] / run) * (b[1:] - a[1:])
        half = self.half.reshape((2,) + (1,) * (at.ndim - 1))
        return through, through & (jnp.abs(at) > half).any(0)
