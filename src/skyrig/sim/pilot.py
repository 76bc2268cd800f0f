"""A controller as the pilot of a drive: it is told what is measured, its command is held between ticks."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig.algebra import computed_once, multiply, turn_by
from skyrig.control.actuators import Actuators, Produced
from skyrig.control.interface import Command, Controller, Measurement, Noise
from skyrig.rigs.bodies import Bodies
from skyrig.sim.packing import Packed
from skyrig.sim.plant import Effort, Plant, PlantState
from skyrig.sim.schedule import PlanStep
from skyrig.sim.stepping import choose


class Surroundings(eqx.Module):
    """What is done to the actuators from outside, one column for each interval (last axis)."""

    share: Float[Any, "n intervals"]
    """Share of its thrust that each vehicle's rotors give."""
    drives: dict[str, Float[Any, "..."]] = eqx.field(default_factory=dict)
    """Where the rig's own drives shall go, such as {'winch': free lengths in m}."""
    alive: Float[Array, "r n intervals"] | None = None
    """One for every rotor that turns, zero for one that has stopped; None if none ever stops."""
    noticed: Float[Array, "n intervals"] | None = None
    """Of how many stopped rotors each vehicle's mixer knows."""


class Memory(eqx.Module):
    """What a pilot remembers from tick to tick."""

    controller: Any
    seen: Measurement
    command: Command
    made: Produced
    waiting: tuple[tuple[Array, Array], ...] = ()
    """Thrusts and moments decided but not yet in effect, the oldest first."""


def measure(rig: Any, state: Any) -> Measurement:
    """What a controller is told of a rig, without noise."""
    return Measurement(rig.bodies(state), rig.readings(state))


def shake_shape(bodies: int) -> tuple[int, ...]:
    """Of the numbers that a tick's noise is made of: position, velocity, attitude, rate; xyz; body."""
    return 4, 3, bodies


def blurred(seen: Measurement, noise: Noise, shake: Float[Array, "4 3 bodies *batch"]) -> Measurement:
    """A measurement with noise added on the manifold (RotorTM, eqs. 75 and 76).

    Args:
        seen: What is so.
        noise: How large.
        shake: Standard normal numbers for position, velocity, attitude and rate of every body, by group.
    """
    bodies, first = {}, 0
    for group, them in seen.bodies.items():
        count = them.position.shape[1]
        bodies[group] = _blurred(them, noise, shake[:, :, first : first + count])
        first += count
    return Measurement(bodies, seen.readings)


def _blurred(bodies: Bodies, noise: Noise, shake: Array) -> Bodies:
    return Bodies(
        bodies.position + noise.position * shake[0],
        bodies.velocity + noise.velocity * shake[1],
        multiply(bodies.attitude, turn_by(noise.attitude * shake[2])),
        bodies.rate + noise.rate * shake[3],
    )


class Autopilot(eqx.Module):
    """Who flies: a controller with its actuators and the noise of what it is told."""

    controller: Controller
    actuators: Actuators
    noise: Noise
    period: Float[Array, ""] | Float[np.ndarray, ""]
    """Between ticks (s)."""
    delay: int = eqx.field(static=True, default=0, kw_only=True)
    """Whole control periods that pass between a measurement and the command it led to."""

    def begin(self, plant: Plant, state: PlantState) -> Memory:
        """The memory at a flight's start: nothing commanded yet."""
        seen = measure(plant.rig, state.rig)
        none = jnp.zeros_like(seen.vehicles.rate)
        still = jnp.zeros_like(none[0])
        rotors = jnp.zeros((self.actuators.low.shape[0], *still.shape), still.dtype)
        drives = {
            it.name: jnp.zeros((it.count, *still.shape[1:]), still.dtype) for it in plant.rig.layout.drives
        }
        return Memory(
            self.controller.start(seen),
            seen,
            Command(still, none, drives),
            Produced(still, none, rotors, rotors > 0),
            # there are no commands on their way: the first is taken to have been given before
            ((still + jnp.nan, none + jnp.nan),) * self.delay,
        )

    def decide(
        self, plant: Plant, memory: Memory, state: PlantState, now: Any, around: Surroundings
    ) -> Memory:
        """One tick: measure, ask the controller, let the rotors do what they can.

        `now` is the time (s), the target, and the noise's numbers (see `blurred`; None without noise).
        """
        t, target, shake = now
        seen = measure(plant.rig, state.rig)
        if shake is not None:
            seen = computed_once(blurred(seen, self.noise, shake))
        own, command = computed_once(self.controller(memory.controller, t, target, seen))
        command, waiting = _delayed(command, memory.waiting)
        return Memory(own, seen, *self.made(plant.rig, seen, command, around), waiting)

    def made(
        self, rig: Any, seen: Measurement, command: Command, around: Surroundings
    ) -> tuple[Command, Produced]:
        """A command with its drives settled, and what the rotors make of it."""
        drives = command.drives
        if drives is None:
            drives = rig.follow(seen.readings, around.drives, self.period) if rig.layout.drives else {}
        if command.rotors is None:
            rotors, saturated = self.actuators.rotor_thrusts(command, around.noticed)
            thrust, moment = command.thrust, command.moment
        else:
            asked = self.actuators.produced(command.rotors, command.rotors > 0)
            rotors, saturated = self.actuators.within_limits(command.rotors)
            thrust, moment = asked.thrust, asked.moment
        return Command(thrust, moment, drives), self.actuators.produced(rotors, saturated)


def _delayed(command: Command, waiting: tuple[Any, ...]) -> tuple[Command, tuple[Any, ...]]:
    """The command that takes effect now, and those still on their way; winches answer at once."""
    new = (command.thrust, command.moment)
    line = (*(jax.tree.map(_known, each, new) for each in waiting), new)
    thrust, moment = line[0]
    return Command(thrust, moment, command.drives, command.rotors), line[1:]


def _known(old: Array, new: Array) -> Array:
    return jnp.where(jnp.isnan(old), new, old)


class Pilot(Autopilot):
    """An autopilot with its targets, and what befalls the rig meanwhile."""

    target: Any = None
    """A `Target` of every tick, ticks in front; it and the next three are needed until `ready`."""
    times: Any = None
    """(ticks,) Of the ticks (s)."""
    around: Any = None
    """`Surroundings` of every interval."""
    shake: Any = None
    """(ticks, 4, 3, bodies, *batch) standard normal numbers for the noise of every tick; see `blurred`."""
    memory: Packed | None = None
    """Where another drive left off; None at a flight's start."""
    ticks: Packed | None = None
    """Time, target and noise of every tick, once `ready`."""
    intervals: Packed | None = None
    """What is around in every interval, once `ready`."""

    @property
    def autopilot(self) -> Autopilot:
        """The part that stays the same from tick to tick."""
        return Autopilot(self.controller, self.actuators, self.noise, self.period, delay=self.delay)

    def ready(self, real: Any) -> Pilot:
        """This pilot, prepared for many steps in numbers of dtype `real`."""
        if self.ticks is not None:
            return self
        around = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, -1, 0), self.around)
        packed = (
            Packed.of((self.times, self.target, self.shake), real, 1),
            Packed.of(around, real, 1),
        )
        return eqx.tree_at(
            lambda it: (it.ticks, it.intervals), self, packed, is_leaf=lambda leaf: leaf is None
        )

    def start(self, plant: Plant, state: PlantState) -> Packed:
        """The memory to begin with."""
        return self.fresh(plant, state) if self.memory is None else self.memory

    def fresh(self, plant: Plant, state: PlantState) -> Packed:
        """The memory at a flight's start, packed."""
        return Packed.of(self.begin(plant, state), plant.like(state).dtype)

    def __call__(
        self, plant: Plant, memory: Packed, state: PlantState, turn: PlanStep, going: Any, branch: Any
    ) -> tuple[Packed, Effort]:
        """The effort of the coming step, the controller's command renewed where one of its ticks falls."""
        assert self.ticks is not None and self.intervals is not None
        around = self.intervals.row(turn.hold)
        # the row is taken out here: a branch that carried all rows would be too large for one kernel
        now = self.ticks.row(jnp.maximum(turn.tick, 0))

        def decided(memory: Packed) -> Packed:
            return memory.changed(lambda tree: self.decide(plant, tree, state, now, around))

        memory = branch(going & (turn.tick >= 0), decided, memory)
        return memory, effort(self.actuators, memory.tree(), around)

    def held(self, memory: Packed, interval: Array) -> Effort:
        """What is held in an interval with the command at hand."""
        assert self.intervals is not None
        return effort(self.actuators, memory.tree(), self.intervals.row(interval))

    def kept(self, memory: Packed) -> tuple[dict[str, Bodies], Command, Produced, dict[str, Array]]:
        """What the controller was told, asked for, what the rotors made of it, and what it says of itself."""
        tree = memory.tree()
        return tree.seen.bodies, tree.command, tree.made, self.controller.signals(tree.controller)


def effort(actuators: Actuators, memory: Memory, around: Surroundings) -> Effort:
    """What the actuators do while a command is held."""
    made = memory.made
    if around.alive is not None:
        made = actuators.produced(around.alive * made.rotors, made.saturated)
    return Effort(
        thrust=made.thrust * around.share,
        moment=made.moment * around.share,
        drives=memory.command.drives or {},
        rotors=made.rotors,
        share=around.share,
        speeds=actuators.speeds(made.rotors),
    )


def resumed(fresh: Any, memory: Packed, pilot: Pilot, plant: Plant, state: PlantState) -> Pilot:
    """`pilot` with its memory: a new one where `fresh`, else `memory`."""
    memory = choose(fresh, pilot.fresh(plant, state), memory)
    return eqx.tree_at(lambda it: it.memory, pilot, memory, is_leaf=lambda leaf: leaf is None)
