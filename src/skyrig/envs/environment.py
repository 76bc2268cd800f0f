"""An environment as pure functions: reset a flight from a key, step it by an action.

Everything is a pytree and can be compiled, batched and differentiated around (not through events). Inside,
components come first and the batch last, as everywhere in the physics: an action is (a, n, *batch), an
observation (size, *batch). No batch is a batch of shape ().
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt32

from skyrig.algebra import apply, multiply, rotation_matrix, turn_by, upward_axis
from skyrig.control.interface import Command, Measurement
from skyrig.envs import observations
from skyrig.envs.actions import Level
from skyrig.envs.pool import PooledRig
from skyrig.envs.tasks import Rewards, Task, length
from skyrig.rigs.bodies import Bodies
from skyrig.sim.driver import LoopState, Nothing, Steady, drive
from skyrig.sim.log import OK, Log
from skyrig.sim.pilot import Noise, blurred, measure, shake_shape
from skyrig.sim.plant import Effort, PlantState
from skyrig.sim.schedule import Even

ROOM = 16
"""Events in one control period before the episode ends as diverged."""

Info = dict[str, Array]


class EnvState(eqx.Module):
    """All there is to know of a flight under way."""

    rig: Any
    tick: Int[Array, "*batch"]
    """Control periods since the start."""
    plant: Int[Array, "*batch"]
    """Which rig of the pool is flown."""
    task: Any
    """What the task remembers of the episode."""
    rotors: Float[Array, "r n *batch"] | None
    """Speed of every rotor (rad/s), where rotors lag."""
    memories: dict[str, Any]
    """What each element remembers."""
    key: UInt32[Array, "2 *batch"]
    """Where the next episode's chances come from."""


class Environment(eqx.Module):
    """A rig, a task and the meaning of actions; `skyrig.envs.build` makes one from a scenario."""

    plants: PooledRig
    """A pool, from which every episode takes one."""
    task: Task
    level: Level
    rewards: Rewards
    noise: Noise | None
    """Of what is measured; None for none."""
    dt: Float[Array, ""]
    """Physics step (s)."""
    limit: Int[Array, ""]
    """Control periods after which an episode is truncated."""
    substeps: int = eqx.field(static=True)
    """Physics steps in a control period."""
    turns: bool = eqx.field(static=True)
    """Whether the load has an attitude."""
    teams: bool = eqx.field(static=True)
    """Whether every vehicle observes for itself."""

    @property
    def period(self) -> float:
        """Time between actions (s)."""
        return float(self.dt) * self.substeps

    @property
    def count(self) -> int:
        """Number of vehicles."""
        return self.plants.rig.count

    @property
    def action_size(self) -> int:
        """Numbers in one vehicle's action."""
        return self.level.size(self.plants)

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """Of one flight: (size,), or (size, n) where every vehicle observes for itself."""
        return jax.eval_shape(self.reset, jax.ShapeDtypeStruct((2,), jnp.uint32))[1].shape

    def reset(self, key: UInt32[Array, "2 *batch"]) -> tuple[EnvState, Array]:
        """A new episode: its first state and observation.

        Args:
            key: From `jax.random.PRNGKey`; for a batch of flights, one key in each column.
        """
        if key.ndim == 2:
            return jax.vmap(self.reset, in_axes=-1, out_axes=-1)(key)
        following, start, task, choice = jax.random.split(key, 4)
        index = jax.random.randint(choice, (), 0, self.plants.size)
        plant = self.plants.pick(index)
        memory, offset = self.task.begin(task)
        tick = jnp.zeros((), jnp.int32)
        wanted = self.task.wanted(memory, tick)
        rig = self._scattered(start, plant, wanted.position + offset, wanted.velocity)
        motors = plant.flown.motors
        hover = plant.actuators.rotor_thrusts(Command(plant.thrust, plant.moment))[0]
        rotors = None if motors is None else motors.speeds(hover)
        memories = plant.flown.start(rig).memories
        state = EnvState(rig, tick, index, memory, rotors, memories, following)
        return state, self._observed(plant, state, self._seen(plant, state))

    def step(
        self, state: EnvState, action: Float[Array, "a n *batch"]
    ) -> tuple[EnvState, Array, Array, Bool[Array, "*batch"], Bool[Array, "*batch"], Info]:
        """One control period: state, observation, reward, terminated, truncated, info.

        Nothing starts again by itself: what comes after an end is for the caller to decide.

        Args:
            state: Where the flight is.
            action: One column for each vehicle; entries are cut to -1 ... 1.
        """
        plant = self.plants.pick(state.plant)
        before = measure(plant.rig, state.rig)
        # the rotors' loops know what the agent was told, noise included
        action = jnp.clip(action.astype(self.dt.dtype), -1.0, 1.0)
        command = self.level.command(plant, self._seen(plant, state), action)
        begun = self.task.touched(state.task, state.tick, plant, state.rig)
        after, log = self._flown(plant, PlantState(begun, state.rotors, state.memories), command, state.tick)
        state = EnvState(
            after.rig, state.tick + 1, state.plant, state.task, after.rotors, after.memories, state.key
        )
        after = measure(plant.rig, state.rig)

        wanted = self.task.wanted(state.task, state.tick)
        error = length(wanted.position - after.payload.position)
        spins = jnp.abs(after.vehicles.rate).max(axis=(0, 1))
        diverged = ~jnp.isfinite(error + spins) | (log.trouble != OK)
        left = ~diverged & (error > self.task.arena)
        flipped = ~diverged & (upward_axis(after.vehicles.attitude)[2] < 0).any(0)
        verdict = self.task.verdict(state.task, before, after)
        failed = diverged | left | flipped | verdict.failed
        reward = self.rewards(wanted, after, self.task.arena, action) + verdict.bonus
        reward = jnp.where(failed, self.rewards.failure, reward).astype(jnp.float32)
        truncated = ~failed & (state.tick >= self.limit)
        info = {
            "load_error": error,
            "events": log.count,
            "left": left,
            "flipped": flipped,
            "diverged": diverged,
            "struck": verdict.failed,
        }
        observation = self._observed(plant, state, self._seen(plant, state))
        return state, observation, reward, failed, truncated, info

    def _flown(
        self, plant: PooledRig, state: PlantState, command: Command, tick: Array
    ) -> tuple[PlantState, Log]:
        """The rig and its rotors a control period later, and what happened."""
        rotors, saturated = plant.actuators.rotor_thrusts(command)
        made = plant.actuators.produced(rotors, saturated)
        effort = Effort(made.thrust, made.moment, command.drives or {}, rotors=rotors)
        flown = plant.flown
        carry = LoopState(state, None, Log.empty(flown, state, ROOM), None)
        steps = Even(self.dt, tick * self.substeps)
        end = drive(flown, Steady(effort), steps, carry, Nothing(), self.substeps)
        return end.state, end.log

    def _seen(self, plant: PooledRig, state: EnvState) -> Measurement:
        """What is measured now: the same whenever it is asked for at this tick."""
        seen = measure(plant.rig, state.rig)
        if self.noise is None:
            return seen

        shape = shake_shape(self.plants.rig.layout.bodies)

        def shaken(key: Array, tick: Array) -> Array:
            return jax.random.normal(jax.random.fold_in(key, tick), shape)

        many = state.tick.ndim == 1
        draw = jax.vmap(shaken, in_axes=-1, out_axes=-1) if many else shaken
        return blurred(seen, self.noise, draw(state.key, state.tick))

    def _observed(self, plant: PooledRig, state: EnvState, seen: Measurement) -> Array:
        wanted = self.task.wanted(state.task, state.tick)
        extras = self.task.extras(state.task, state.tick, seen)
        parts = observations.view(plant, seen, wanted, extras, self.turns)
        return observations.by_agent(parts) if self.teams else observations.central(parts)

    def _scattered(self, key: Array, plant: PooledRig, place: Array, velocity: Array) -> Any:
        """A start near `place` (m) and `velocity` (m/s): the hover, moved, swung and tilted by chance."""
        spread, groups = self.task.spread, plant.rig.bodies(plant.hover)
        moving, swinging, tilting, last = jax.random.split(key, 4)
        drift = velocity + spread.velocity * jax.random.uniform(moving, (3,), minval=-1.0)
        around = spread.swing * jax.random.uniform(swinging, (2,), minval=-1.0)
        swing = turn_by(jnp.concatenate([around, jnp.zeros(1)]))
        tilts = spread.tilt * jax.random.uniform(tilting, (3, self.count), minval=-1.0)
        load, craft = groups["payload"].only(), groups["vehicles"]
        attitude = multiply(craft.attitude, turn_by(tilts))

        # cables keep their length: hooks turn about the load with it, vehicles go where their hooks are
        def end(attitude: Array) -> Array:
            return apply(rotation_matrix(attitude), plant.hook)

        hooks = craft.position + end(craft.attitude) - load.position[:, None]
        turned = apply(rotation_matrix(swing)[:, :, None], hooks)
        payload = Bodies(place, drift, multiply(swing, load.attitude), load.rate)
        vehicles = Bodies(
            place[:, None] + turned - end(attitude),
            jnp.broadcast_to(drift[:, None], craft.velocity.shape),
            attitude,
            craft.rate,
        )
        bodies = self.task.scattered(last, {"payload": payload.alone(), "vehicles": vehicles})
        return plant.rig.shifted(plant.hover, bodies)
