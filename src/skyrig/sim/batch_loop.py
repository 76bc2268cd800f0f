"""Closed-loop flights of many rigs of one kind at once, in one compiled program, the batch behind each array.

All flights share the controller's ticks. Between ticks each has steps of its own (they are split where
something happens to a rig); a flight with fewer waits for the others. What is the same for all flights of a
batch has a last axis of 1, or none where a controller holds it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from skyrig.control.actuators import Actuators
from skyrig.control.interface import Target, targets
from skyrig.elements.pushes import picked
from skyrig.hulls import Outlines
from skyrig.planning import Sample
from skyrig.sim.driver import LoopState, Nothing, Stepped, drive
from skyrig.sim.kernel import in_one_kernel
from skyrig.sim.log import Log
from skyrig.sim.pilot import Autopilot, Memory, Surroundings, effort
from skyrig.sim.plant import Effort, Plant, PlantState
from skyrig.sim.running import ReferencePoint
from skyrig.sim.schedule import Acts, PlanStep, StepPlan
from skyrig.sim.statistics import Statistics
from skyrig.sim.stepping import choose

ROOM = 16
"""Room for events in one step; a flight with more is told as `LOG_FULL`."""


class Batch(eqx.Module):
    """What a batch of flights is made of."""

    plant: Plant
    autopilot: Autopilot
    around: Surroundings
    """Each field (rows, ..., batch or 1)."""
    acts: Acts
    shapes: Outlines
    """What bodies look like and where they may be, the batch (or 1) last."""


class Ticks(eqx.Module):
    """Ticks in a row, and the steps that follow each: (ticks, steps, ..., batch or 1), NumPy's or JAX's."""

    times: Any
    """(ticks,) s."""
    payload: Sample | None
    """Payload's reference at the ticks, (ticks, batch or 1, ...)."""
    vehicles: Sample | None
    """The vehicles', (ticks, batch or 1, n, ...)."""
    target: Target | None
    """What comes of the references; None to prepare them a stretch at a time."""
    count: Any
    """(ticks,) steps after each tick."""
    steps: PlanStep
    """What they are; of no length where a flight has none."""
    fresh: Any
    """Whether each is the first after the inputs changed."""
    wanted: ReferencePoint
    """Where bodies shall be at the end of each."""


class Decided(eqx.Module):
    """A pilot between two ticks: what it decided is held, through what is around."""

    actuators: Actuators
    around: Surroundings

    def __call__(
        self, plant: Plant, memory: Memory, state: PlantState, turn: PlanStep, going: Any, branch: Any
    ) -> tuple[Memory, Effort]:
        """The memory as it is, and what comes of its command."""
        around = _around(self.around, turn.hold, plant.like(state).shape)
        return memory, effort(self.actuators, memory, around)


class Summed(Nothing):
    """The reducer that keeps statistics of a batch of flights; steps in front of its arrays, flights last."""

    shapes: Outlines
    """What bodies look like and where they may be."""
    wanted: ReferencePoint
    """Where bodies shall be at the end of each step."""
    fresh: Any
    """Whether each step is the first after the inputs changed."""
    first: Array
    """Whether the first step is the flight's first instant."""

    def going(self, kept: Statistics) -> Array:
        """Flights that go on."""
        return kept.alive

    def __call__(
        self, kept: Statistics, plant: Plant, pilot: Any, stepped: Stepped
    ) -> tuple[Statistics, Log]:
        """The statistics after one more step, and an empty log."""
        number, turn, acts, state, effort, memory, log = stepped
        later = ~(self.first & (number == 0))
        dt = jnp.where(kept.alive, turn.dt, -1.0)
        end = turn.time + jnp.maximum(turn.dt, 0.0)
        table = None if acts is None else acts.switch.get("cut")
        cut = None if table is None else (table, turn.act, (turn.act >= 0) & kept.alive)
        kept, log = kept.noted(log, turn.time, later, cut)
        signals = plant.rig.signals(end, state.rig, plant.loads(end, state, effort))
        kept = kept.stepped(
            plant.bodies(state),
            signals,
            jax.tree.map(lambda leaf: leaf[number], self.wanted),
            self.shapes,
            dt,
            end,
            memory.made.saturated,
            self.fresh[number],
            log.trouble,
        )
        return choose(later, kept, kept.begun(signals)), log


STRETCH = 64
"""Ticks flown by one call: what passes then fits in a loop that XLA makes one kernel of, however long the
flight, and all flights run the same program."""


def fly_batch(batch: Batch, state: PlantState, ticks: Ticks, noise: Callable[[int], Any]) -> Statistics:
    """Fly all flights of a batch from `state` to their ends.

    Args:
        batch: What is flown.
        state: Where the flights begin.
        ticks: All of them, NumPy's.
        noise: Called with a number of ticks, in order: (batch, ticks, 4, 3, bodies) numbers for the noise of
            those that come next, or None.
    """
    carry = _begun(batch, state, jax.tree.map(lambda leaf: leaf[0, 0], ticks.wanted))
    for start in range(0, len(ticks.times), STRETCH):
        index = np.minimum(np.arange(start, start + STRETCH), len(ticks.times) - 1)
        now = jax.tree.map(lambda leaf, index=index: leaf[index], ticks)
        if now.target is None:
            # by itself: together with the flight it would take twice as long to compile
            made = _prepared(batch.autopilot.controller, now.payload, now.vehicles)
            now = Ticks(now.times, None, None, made, now.count, now.steps, now.fresh, now.wanted)
        count = min(STRETCH, len(ticks.times) - start)
        carry = _flown(batch, carry, now, noise(count), np.int32(count), np.bool_(start == 0))
    return carry.kept


_prepared = jax.jit(targets)


@jax.jit
def _begun(batch: Batch, state: PlantState, wanted: ReferencePoint) -> LoopState:
    plant = batch.plant
    statistics = Statistics.empty(plant, state, wanted)
    return LoopState(state, batch.autopilot.begin(plant, state), Log.empty(plant, state, ROOM), statistics)


@jax.jit
def _flown(
    batch: Batch, carry: LoopState, ticks: Ticks, shake: Array | None, count: Array, first: Array
) -> LoopState:
    """A stretch of `count` ticks, the flight's `first` or a later one."""

    def tick(index: Array, carry: LoopState) -> LoopState:
        now = jax.tree.map(lambda leaf: jax.lax.dynamic_index_in_dim(leaf, index, keepdims=False), ticks)
        numbers = None if shake is None else jnp.moveaxis(shake[:, index], 0, -1)
        memory = in_one_kernel(now.count >= 0, _decided, batch, carry, now, numbers)
        it = now.steps
        plan = StepPlan(it.time, it.dt, it.hold, it.act, None, batch.acts)
        keep = Summed(batch.shapes, now.wanted, now.fresh, first & (index == 0))
        return drive(
            batch.plant,
            Decided(batch.autopilot.actuators, batch.around),
            plan,
            carry._replace(memory=memory),
            keep,
            now.count,
        )

    return jax.lax.fori_loop(0, count, tick, carry)


def _decided(batch: Batch, carry: LoopState, now: Ticks, shake: Array | None) -> Memory:
    """The memory after a tick of the flights that go on."""
    assert now.target is not None
    known = (now.times, now.target, shake)
    around = _around(batch.around, now.steps.hold[0], batch.plant.like(carry.state).shape)
    decided = batch.autopilot.decide(batch.plant, carry.memory, carry.state, known, around)
    return choose(carry.kept.alive, decided, carry.memory)


def _around(table: Surroundings, index: Array, shape: tuple[int, ...]) -> Surroundings:
    def held(table: Array) -> Array:
        own = picked(table, jnp.maximum(index, 0))
        return jnp.broadcast_to(own, (*own.shape[:-1], *shape))

    return jax.tree.map(held, table)
