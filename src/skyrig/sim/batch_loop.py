"""Closed-loop flights of many rigs of one kind at once, in one compiled program, the batch behind each array.

All flights share the controller's ticks. Between ticks each has steps of its own (they are split where
something happens to a rig); a flight with fewer waits for the others. What is the same for all flights of a
batch has a last axis of 1, or none where a controller holds it.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from skyrig.contacts import Outlines
from skyrig.control.interface import Target, row, targets
from skyrig.elements.pushes import picked
from skyrig.planning import Sample
from skyrig.sim.log import Log
from skyrig.sim.pilot import Autopilot, Memory, Surroundings, effort
from skyrig.sim.plant import Plant, PlantState
from skyrig.sim.schedule import Acts
from skyrig.sim.statistics import ReferencePoint, Statistics
from skyrig.sim.stepping import choose, step, when

ROOM = 16
"""Room for events in one step; a flight with more is told as `LOG_FULL`."""


class Slots(eqx.Module):
    """The steps between ticks: (ticks, slots, batch or 1) in every array but `count`."""

    count: Array
    """(ticks,) how many of the slots are in use after each tick."""
    dt: Array
    """Length of each step (s); negative where a flight has none."""
    time: Array
    """At its end (s)."""
    around: Array
    """Row of what is around that holds during it."""
    fresh: Array
    """Whether it is the first after the inputs changed."""
    act: Array
    """Row of what happens at its end, or -1."""


class Batch(eqx.Module):
    """All that it takes to fly a batch."""

    plant: Plant
    state: PlantState
    autopilot: Autopilot
    count: Array
    """How many ticks there are; arrays may have more."""
    times: Array
    """(ticks,) s."""
    payload: Sample | None
    """Payload's reference at the ticks, (ticks, batch or 1, ...)."""
    vehicles: Sample | None
    """The vehicles', (ticks, batch or 1, n, ...)."""
    target: Target | None
    """The targets of all ticks where all flights share them; None to prepare them in the loop."""
    shake: Array | None
    """(batch, ticks, 4, 3, bodies) numbers for the noise, if there is any: as the host draws them."""
    around: Surroundings
    """Each field (rows, ..., batch or 1)."""
    happenings: Acts
    slots: Slots
    wanted: ReferencePoint
    """At the end of every slot, (ticks, slots, ..., batch or 1)."""
    shapes: Outlines
    """What bodies look like and where they may be, the batch (or 1) last."""


@eqx.filter_jit
def fly_batch(batch: Batch) -> Statistics:
    """Fly all flights of a batch to their ends."""
    plant, autopilot = batch.plant, batch.autopilot
    statistics = Statistics.empty(plant, batch.state, jax.tree.map(lambda leaf: leaf[0, 0], batch.wanted))
    log = Log.empty(plant, batch.state, ROOM)

    def tick(index: Array, carry: tuple[Any, Memory, Statistics, Log]) -> tuple[Any, Memory, Statistics, Log]:
        state, memory, statistics, log = carry
        slots, wanted = jax.tree.map(
            lambda leaf: jax.lax.dynamic_index_in_dim(leaf, index, keepdims=False),
            (batch.slots, batch.wanted),
        )
        shake = None if batch.shake is None else jnp.moveaxis(batch.shake[:, index], 0, -1)
        time, goal = batch.times[index], _goal(batch, index)
        around = _around(batch, slots.around[0])

        def decide(pair: tuple[Memory, Array]) -> tuple[Memory, Array]:
            decided = autopilot.decide(plant, pair[0], state, (time, _target(autopilot, goal), shake), around)
            return choose(pair[1], decided, pair[0]), pair[1]

        def one(
            slot: Array, carry: tuple[Any, Memory, Statistics, Log]
        ) -> tuple[Any, Memory, Statistics, Log]:
            own = Slots(slots.count, *(leaf[slot] for leaf in jax.tree.leaves(slots)[1:]))
            due = jax.tree.map(lambda leaf: leaf[slot], wanted)
            return _slot(batch, carry, own, due, index + slot > 0)

        # two loops (the first of one turn) for XLA to make a kernel of each, and not one of both
        count = _asunder(slots.count)
        memory, _ = when(count > 0, decide, (memory, statistics.alive))
        return jax.lax.fori_loop(0, count, one, (state, memory, statistics, log))

    begin = (batch.state, autopilot.begin(plant, batch.state), statistics, log)
    return jax.lax.fori_loop(0, batch.count, tick, begin)[2]


def _asunder(value: Array) -> Array:
    """`value`, sorted with itself: XLA never makes one kernel of a loop with a sort in it.

    It takes nearly twice as long to compile one kernel of all as to compile one of each part.
    """
    return jnp.sort(jnp.stack([value, value]))[0]


def _slot(
    batch: Batch,
    carry: tuple[Any, Memory, Statistics, Log],
    slot: Slots,
    wanted: ReferencePoint,
    later: Array,
) -> tuple[Any, Memory, Statistics, Log]:
    """One step of every flight that has one here."""
    plant = batch.plant
    state, memory, statistics, log = carry
    around = _around(batch, slot.around)
    dt = jnp.where(statistics.alive, slot.dt, -1.0)
    held = effort(memory, around)
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
    return state, memory, statistics, log


def _goal(batch: Batch, index: Array) -> Target | tuple[Sample | None, Sample | None]:
    """The target of a tick, or the references it is made of."""
    if batch.target is not None:
        return row(batch.target, index)

    def at(leaf: Array) -> Array:
        return jax.lax.dynamic_slice_in_dim(leaf, index, 1)

    return jax.tree.map(at, (batch.payload, batch.vehicles))


def _target(autopilot: Autopilot, goal: Target | tuple[Sample | None, Sample | None]) -> Target:
    return goal if isinstance(goal, Target) else row(targets(autopilot.controller, *goal), 0)


def _around(batch: Batch, index: Array) -> Surroundings:
    shape = batch.plant.like(batch.state).shape

    def held(table: Array) -> Array:
        own = picked(table, jnp.maximum(index, 0))
        return jnp.broadcast_to(own, (*own.shape[:-1], *shape))

    return jax.tree.map(held, batch.around)
