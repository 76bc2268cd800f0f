"""A controller as the pilot of a walk: it is told what is measured, and its command is held between ticks."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import multiply
from skyrig.control.actuators import Actuators, Produced
from skyrig.control.interface import Command, Controller, Measurement, Noise, Target
from skyrig.control.winch import reel
from skyrig.rigs.bodies import Bodies, Inputs
from skyrig.sim.packing import Packed
from skyrig.sim.plan import Plan
from skyrig.sim.stepping import choose


class Surroundings(eqx.Module):
    """What acts from outside, one column for each interval (last axis). None means never."""

    share: Float[Array, "n intervals"]
    """Share of its thrust that each vehicle's rotors give."""
    payload_force: Float[Array, "3 intervals"] | None = None
    """N, world frame."""
    payload_torque: Float[Array, "3 intervals"] | None = None
    """N m, world frame."""
    vehicle_force: Float[Array, "3 n intervals"] | None = None
    """N, world frame."""
    vehicle_torque: Float[Array, "3 n intervals"] | None = None
    """N m, world frame."""
    length: Float[Array, "n intervals"] | None = None
    """Free length to which winches shall bring the cables (m)."""


class Memory(eqx.Module):
    """What a pilot remembers from tick to tick."""

    controller: Any
    seen: Measurement
    command: Command
    made: Produced
    rotors: Float[Array, "r n *batch"] | None = None
    """Thrust of every rotor (N), where rotors lag."""
    waiting: tuple[tuple[Array, Array], ...] = ()
    """Thrusts and moments decided but not yet in effect, the oldest first."""


def measure(rig: Any, state: Any) -> Measurement:
    """What a controller is told of a rig, without noise."""
    payload, vehicles = rig.bodies(state)
    length = rig.cable_state(state)[0]
    if length.shape[0] == 0:
        length = jnp.zeros((rig.count, *state.side.shape), state.side.dtype)
    return Measurement(payload, vehicles, length)


def blurred(seen: Measurement, noise: Noise, shake: Float[Array, "4 3 bodies *batch"]) -> Measurement:
    """A measurement with noise added on the manifold (RotorTM, eqs. 75 and 76).

    Args:
        seen: What is so.
        noise: How large.
        shake: Standard normal numbers for position, velocity, attitude and rate of the payload and of each
            vehicle.
    """
    return Measurement(
        _blurred(seen.payload, noise, shake[:, :, 0]),
        _blurred(seen.vehicles, noise, shake[:, :, 1:]),
        seen.length,
    )


def _blurred(bodies: Bodies, noise: Noise, shake: Array) -> Bodies:
    turn = noise.attitude * shake[2] / 2
    square = (turn * turn).sum(0)
    size = jnp.sqrt(jnp.where(square > 0, square, 1.0))
    sinc = jnp.where(square > 0, jnp.sin(size) / size, 1.0)
    small = jnp.concatenate([jnp.where(square > 0, jnp.cos(size), 1.0)[None], sinc * turn])
    return Bodies(
        bodies.position + noise.position * shake[0],
        bodies.velocity + noise.velocity * shake[1],
        multiply(bodies.attitude, small),
        bodies.rate + noise.rate * shake[3],
    )


class Crew(eqx.Module):
    """Who flies: a controller with its actuators and the noise of what it is told."""

    controller: Controller
    actuators: Actuators
    noise: Noise
    period: Float[Array, ""]
    """Between ticks (s)."""
    delay: int = eqx.field(static=True, default=0, kw_only=True)
    """Whole control periods that pass between a measurement and the command it led to."""

    def begin(self, rig: Any, state: Any) -> Memory:
        """The memory at a flight's start: nothing commanded yet."""
        seen = measure(rig, state)
        none = jnp.zeros_like(seen.vehicles.rate)
        still = jnp.zeros_like(none[0])
        rotors = jnp.zeros((self.actuators.low.shape[0], *still.shape), still.dtype)
        winch = None if getattr(rig, "winch", None) is None else still
        return Memory(
            self.controller.start(seen),
            seen,
            Command(still, none, winch),
            Produced(still, none, rotors, rotors > 0),
            # not a number until the first command: rotors are then taken to have been at it already
            None if self.actuators.lag is None else rotors + jnp.nan,
            # nor are there commands on their way: the first is taken to have been given before
            ((still + jnp.nan, none + jnp.nan),) * self.delay,
        )

    def turned(self, memory: Memory, dt: Array, first: Any) -> Memory:
        """The rotors a step later, and what they make on average meanwhile."""
        goes = first & (dt > 0)
        rotors, made = self.actuators(memory.rotors, memory.command, jnp.where(dt > 0, dt, 1.0))
        later = Memory(memory.controller, memory.seen, memory.command, made, rotors, memory.waiting)
        return choose(goes, later, memory)

    def decide(self, rig: Any, memory: Memory, state: Any, now: Any, around: Surroundings) -> Memory:
        """One tick: measure, ask the controller, let the rotors do what they can.

        `now` is the time (s), the target, and the noise's numbers (see `blurred`; None without noise).
        """
        t, target, shake = now
        seen = measure(rig, state)
        if shake is not None:
            seen = blurred(seen, self.noise, shake)
        own, command = self.controller(memory.controller, t, target, seen)
        command, waiting = _delayed(command, memory.waiting)
        command, made = self.made(rig, seen, command, around)
        rotors = memory.rotors
        if rotors is not None:
            rotors = jnp.where(jnp.isnan(rotors), made.rotors, rotors)
        return Memory(own, seen, command, made, rotors, waiting)

    def made(
        self, rig: Any, seen: Measurement, command: Command, around: Surroundings
    ) -> tuple[Command, Produced]:
        """A command with its winches settled, and what the rotors make of it."""
        winch = command.winch
        if getattr(rig, "winch", None) is None:
            winch = None
        elif winch is None:
            assert around.length is not None
            winch = reel(seen.length, around.length, rig.winch, self.period)
        command = Command(command.thrust, command.moment, winch)
        rotors, saturated = self.actuators.rotor_thrusts(command)
        return command, self.actuators.produced(rotors, saturated)


def _delayed(command: Command, waiting: tuple[Any, ...]) -> tuple[Command, tuple[Any, ...]]:
    """The command that takes effect now, and those still on their way; winches answer at once."""
    new = (command.thrust, command.moment)
    line = (*(jax.tree.map(_known, each, new) for each in waiting), new)
    thrust, moment = line[0]
    return Command(thrust, moment, command.winch), line[1:]


def _known(old: Array, new: Array) -> Array:
    return jnp.where(jnp.isnan(old), new, old)


class Pilot(Crew):
    """A crew with its targets, and what befalls the rig meanwhile."""

    target: Target
    """Of every tick, ticks in front."""
    times: Float[Array, " ticks"]
    """Of the ticks (s)."""
    around: Surroundings
    shake: Float[Array, "ticks 4 3 bodies *batch"]
    """Standard normal numbers for the noise of every tick; see `blurred`."""
    memory: Packed | None = None
    """Where another walk left off; None at a flight's start."""
    ticks: Packed | None = None
    """Time, target and noise of every tick, once `ready`."""
    intervals: Packed | None = None
    """What is around in every interval, once `ready`."""

    def ready(self, real: Any) -> Pilot:
        """This pilot, prepared for many steps in numbers of dtype `real`."""
        around = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, -1, 0), self.around)
        packed = (
            Packed.of((self.times, self.target, self.shake), real, 1),
            Packed.of(around, real, 1),
        )
        return eqx.tree_at(
            lambda it: (it.ticks, it.intervals), self, packed, is_leaf=lambda leaf: leaf is None
        )

    def start(self, rig: Any, state: Any) -> Packed:
        """The memory to begin with."""
        return self.fresh(rig, state) if self.memory is None else self.memory

    def fresh(self, rig: Any, state: Any) -> Packed:
        """The memory at a flight's start, packed."""
        return Packed.of(self.begin(rig, state), state.side.dtype)

    def __call__(
        self, rig: Any, memory: Packed, state: Any, plan: Plan, index: Array, first: Any, branch: Any
    ) -> tuple[Packed, Inputs]:
        """The inputs of the coming step, the controller's command renewed where one of its ticks falls."""
        assert self.ticks is not None and self.intervals is not None
        tick = plan.tick[index]
        around = self.intervals.row(plan.hold[index])
        # the row is taken out here: a branch that carried all rows would be too large for one kernel
        now = self.ticks.row(jnp.maximum(tick, 0))

        def decided(memory: Packed) -> Packed:
            return memory.changed(lambda tree: self.decide(rig, tree, state, now, around))

        memory = branch(first & (tick >= 0), decided, memory)
        if self.actuators.lag is not None:
            dt = plan.dt[index]
            memory = memory.changed(lambda tree: self.turned(tree, dt, first))
        return memory, inputs(memory.tree(), around)

    def held(self, memory: Packed, interval: Array) -> Inputs:
        """What is held in an interval with the command at hand."""
        assert self.intervals is not None
        return inputs(memory.tree(), self.intervals.row(interval))

    def kept(self, memory: Packed) -> tuple[Bodies, Bodies, Command, Produced, dict[str, Array]]:
        """What the controller was told, asked for, what the rotors made of it, and what it says of itself."""
        tree = memory.tree()
        signals = self.controller.signals(tree.controller)
        return tree.seen.payload, tree.seen.vehicles, tree.command, tree.made, signals


def inputs(memory: Memory, around: Surroundings) -> Inputs:
    """What acts on the rig while a command is held."""
    return Inputs(
        thrust=memory.made.thrust * around.share,
        moment=memory.made.moment * around.share,
        payload_force=around.payload_force,
        payload_torque=around.payload_torque,
        vehicle_force=around.vehicle_force,
        vehicle_torque=around.vehicle_torque,
        winch=memory.command.winch,
    )


def resumed(fresh: Any, memory: Packed, pilot: Pilot, rig: Any, state: Any) -> Pilot:
    """`pilot` with its memory: a new one where `fresh`, else `memory`."""
    memory = choose(fresh, pilot.fresh(rig, state), memory)
    return eqx.tree_at(lambda it: it.memory, pilot, memory, is_leaf=lambda leaf: leaf is None)
