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

from skyrig.contacts import Outlines
from skyrig.control.interface import Target, targets
from skyrig.elements.pushes import picked
from skyrig.planning import Sample
from skyrig.sim.kernel import in_one_kernel
from skyrig.sim.log import Log
from skyrig.sim.pilot import Autopilot, Memory, Surroundings, effort
from skyrig.sim.plant import Plant, PlantState
from skyrig.sim.schedule import Acts
from skyrig.sim.statistics import ReferencePoint, Statistics
from skyrig.sim.stepping import choose, step, when

ROOM = 16
"""Room for events in one step; a flight with more is told as `LOG_FULL`."""


class Slots(eqx.Module):
    """The steps between ticks: (ticks, slots, batch or 1) in every array but `count`; NumPy's or JAX's."""

    count: Any
    """(ticks,) how many of the slots are in use after each tick."""
    dt: Any
    """Length of each step (s); negative where a flight has none."""
    time: Any
    """At its end (s)."""
    around: Any
    """Row of what is around that holds during it."""
    fresh: Any
    """Whether it is the first after the inputs changed."""
    act: Any
    """Row of what happens at its end, or -1."""


class Batch(eqx.Module):
    """What a batch of flights is made of."""

    plant: Plant
    autopilot: Autopilot
    around: Surroundings
    """Each field (rows, ..., batch or 1)."""
    happenings: Acts
    shapes: Outlines
    """What bodies look like and where they may be, the batch (or 1) last."""


class Ticks(eqx.Module):
    """Ticks in a row, and the steps that follow each."""

    times: Any
    """(ticks,) s."""
    payload: Sample | None
    """Payload's reference at the ticks, (ticks, batch or 1, ...)."""
    vehicles: Sample | None
    """The vehicles', (ticks, batch or 1, n, ...)."""
    target: Target | None
    """What comes of the references; None to prepare them a stretch at a time."""
    slots: Slots
    wanted: ReferencePoint
    """At the end of every slot, (ticks, slots, ..., batch or 1)."""


class Carry(eqx.Module):
    """Where a batch is between two ticks."""

    state: PlantState
    memory: Memory
    statistics: Statistics
    log: Log


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
            now = Ticks(now.times, None, None, made, now.slots, now.wanted)
        count = min(STRETCH, len(ticks.times) - start)
        carry = _flown(batch, carry, now, noise(count), np.int32(count), np.bool_(start == 0))
    return carry.statistics


_prepared = jax.jit(targets)


@jax.jit
def _begun(batch: Batch, state: PlantState, wanted: ReferencePoint) -> Carry:
    plant = batch.plant
    statistics = Statistics.empty(plant, state, wanted)
    return Carry(state, batch.autopilot.begin(plant, state), statistics, Log.empty(plant, state, ROOM))


@jax.jit
def _flown(
    batch: Batch, carry: Carry, ticks: Ticks, shake: Array | None, count: Array, first: Array
) -> Carry:
    """A stretch of `count` ticks, the flight's `first` or a later one."""

    def tick(index: Array, carry: Carry) -> Carry:
        now = jax.tree.map(lambda leaf: jax.lax.dynamic_index_in_dim(leaf, index, keepdims=False), ticks)
        numbers = None if shake is None else jnp.moveaxis(shake[:, index], 0, -1)
        around = _around(batch, carry, now.slots.around[0])
        given = (batch, carry, now, numbers, around)
        memory = in_one_kernel(now.slots.count >= 0, _decided, *given)

        def one(slot: Array, carry: Carry) -> Carry:
            own = Slots(now.slots.count, *(leaf[slot] for leaf in jax.tree.leaves(now.slots)[1:]))
            due = jax.tree.map(lambda leaf: leaf[slot], now.wanted)
            return _slot(batch, carry, own, due, ~first | (index + slot > 0))

        carry = Carry(carry.state, memory, carry.statistics, carry.log)
        return jax.lax.fori_loop(0, now.slots.count, one, carry)

    return jax.lax.fori_loop(0, count, tick, carry)


def _decided(batch: Batch, carry: Carry, now: Ticks, shake: Array | None, around: Surroundings) -> Memory:
    """The memory after a tick of the flights that go on."""
    assert now.target is not None
    told = (now.times, now.target, shake)
    decided = batch.autopilot.decide(batch.plant, carry.memory, carry.state, told, around)
    return choose(carry.statistics.alive, decided, carry.memory)


def _slot(batch: Batch, carry: Carry, slot: Slots, wanted: ReferencePoint, later: Array) -> Carry:
    """One step of every flight that has one here."""
    plant = batch.plant
    state, memory, statistics, log = carry.state, carry.memory, carry.statistics, carry.log
    around = _around(batch, carry, slot.around)
    dt = jnp.where(statistics.alive, slot.dt, -1.0)
    held = effort(batch.autopilot.actuators, memory, around)
    start = slot.time - jnp.maximum(slot.dt, 0.0)
    state, log = step(plant, start, plant.engaged(state, held), held, dt, log, 0)
    statistics, log = statistics.noted(log, start, later)
    signals = plant.rig.signals(slot.time, state.rig, plant.loads(slot.time, state, held))
    statistics = statistics.stepped(
        plant.bodies(state),
        signals,
        wanted,
        batch.shapes,
        dt,
        slot.time,
        memory.made.saturated,
        slot.fresh,
        log.trouble,
    )
    statistics = choose(later, statistics, statistics.begun(signals))
    # what happens at the end of a step comes before the tick at that instant, as in `drive`
    acts = (slot.act >= 0) & statistics.alive

    def happen(pair: tuple[PlantState, Statistics]) -> tuple[PlantState, Statistics]:
        state, statistics = pair
        done = batch.happenings.done(
            plant.rig, state.rig, lambda table: picked(table, jnp.maximum(slot.act, 0))
        )
        cut = batch.happenings.switch.get("cut")
        gone = (
            jnp.zeros_like(statistics.taut) if cut is None else picked(cut, jnp.maximum(slot.act, 0)) & acts
        )
        state = PlantState(choose(acts, done, state.rig), state.rotors, state.memories)
        return state, statistics.cut(gone, slot.time)

    state, statistics = when(jnp.any(acts), happen, (state, statistics))
    return Carry(state, memory, statistics, log)


def _around(batch: Batch, carry: Carry, index: Array) -> Surroundings:
    shape = batch.plant.like(carry.state).shape

    def held(table: Array) -> Array:
        own = picked(table, jnp.maximum(index, 0))
        return jnp.broadcast_to(own, (*own.shape[:-1], *shape))

    return jax.tree.map(held, batch.around)
