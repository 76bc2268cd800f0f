"""The derivative of a flight: the same drive again, along the steps and events that were found.

Events are found by loops whose length is not known beforehand, which cannot be differentiated backwards. So
a flight is flown once to find them, and a derivative flies it again along the steps and events found: plain
steps of the integrator and resets with their sets given. On smooth flights that is the exact derivative of
the numbers computed. At an impact the arrival time moves with the state, so the derivative is the one-sided
derivative along flights with the same sequence of events (the saltation matrix); where that sequence itself
changes (a graze, a tie) there is none, and what comes out is the derivative of one side.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.sim.driver import StateRecord, drive_packed, happened, record_of, row_of
from skyrig.sim.known import integrator
from skyrig.sim.log import Log
from skyrig.sim.plant import Plant, PlantState
from skyrig.sim.schedule import StepPlan
from skyrig.sim.stepping import choose


class Driven(eqx.Module):
    """A flown plan: states at the end of every step, and the events' log."""

    states: Any
    record: StateRecord
    log: Log
    times_shift: Float[Array, " rows"] | None
    """Zero, with the derivative of each impact's time (s)."""
    memory: Any
    """The pilot's, at the end."""
    final: Any
    """State at the end."""


@eqx.filter_custom_jvp
def fly_plan(plant: Plant, state: PlantState, pilot: Any, plan: StepPlan, rows: Log) -> Driven:
    """Fly `plan` from `state` as `pilot` says; `rows` is an empty log that gives the room for events."""
    final, memory, log, kept = drive_packed(plant, state, pilot, plan, rows)
    states, record = kept.tree()
    return Driven(states, record, log, jnp.zeros_like(log.offset), memory, final)


@fly_plan.def_jvp
def _fly_plan_jvp(primals, tangents):
    flown = fly_plan(*primals)
    plant, state, pilot, plan, rows = primals
    log = jax.lax.stop_gradient(flown.log)

    def again(plant, state, pilot, plan):
        return _retrace(plant, state, pilot, plan, log)

    _, (states, record, shift, memory, final) = eqx.filter_jvp(
        again, (plant, state, pilot, plan), tuple(tangents[:4])
    )
    # the log itself has no derivative; the times of impacts have theirs in times_shift
    nothing = jax.tree.map(
        lambda leaf: jnp.zeros_like(leaf) if eqx.is_inexact_array(leaf) else None, flown.log
    )
    return flown, Driven(states, record, nothing, shift, memory, final)


class CutSteps(eqx.Module):
    """Steps cut at events, in order."""

    start: Array
    """Since the start of the step (s)."""
    dt: Array
    step: Array
    first: Array
    event: Array
    """Row of the log at the end of a segment, or -1."""


def _segments(plan: StepPlan, log: Log) -> tuple[CutSteps, Array]:
    """All segments of a flown plan, and for each step the segment that ends it."""
    steps, room = plan.dt.shape[0], log.step.shape[0]
    used = jnp.arange(room) < log.count
    key_step = jnp.concatenate([jnp.where(used, log.step, steps), jnp.arange(steps)])
    ends = jnp.concatenate([log.offset, jnp.maximum(plan.dt, 0.0)])
    # within a step: events in the order of the log, then the step's end
    rank = jnp.concatenate([jnp.arange(room), jnp.full(steps, room)])
    order = jnp.lexsort((rank, key_step))
    number = key_step[order]
    end = jnp.where(number < steps, ends[order], 0.0)
    before = jnp.concatenate([jnp.full(1, -1), number[:-1]])
    first = number != before
    start = jnp.where(first, 0.0, jnp.concatenate([jnp.zeros(1), end[:-1]]))
    event = jnp.where((order < room) & (number < steps), order, -1)
    last = (
        jnp.zeros(steps, order.dtype)
        .at[jnp.where(order >= room, order - room, steps)]
        .set(jnp.arange(order.shape[0]), mode="drop")
    )
    return CutSteps(start, end - start, jnp.minimum(number, steps - 1), first & (number < steps), event), last


def _cond(flag: Any, change: Any, carry: Any) -> Any:
    """`when` for derivatives."""
    return jax.lax.cond(flag, change, lambda same: same, carry)


def _retrace(plant: Plant, state: PlantState, pilot: Any, plan: StepPlan, log: Log):
    """The flown plan again, along its segments."""
    pilot = pilot.ready(plant.like(state).dtype)
    segments, last = _segments(plan, log)
    integrate = integrator(plant.integrator)

    @jax.checkpoint
    def one(carry, segment: CutSteps):
        state, memory, late = carry
        turn = plan.at(segment.step)
        t, dt = turn.time, turn.dt
        happens = segment.first & (turn.act >= 0)
        state = choose(happens, happened(plant, state, plan.acts, jnp.maximum(turn.act, 0)), state)
        memory, effort = pilot(plant, memory, state, turn, segment.first, _cond)
        state = plant.engaged(state, effort)
        begins = segment.first & (dt > 0)
        state = choose(begins, plant.begun(t, state, effort, jnp.where(dt > 0, dt, 1.0)), state)
        now = t + segment.start
        moves = segment.dt > 0
        # whatever an event came later, what follows is shorter; what is due at the same instant waits with it
        span = jnp.where(moves, segment.dt - late, 0.0)
        raw = integrate(plant, now, state, effort, span, jax.lax.optimization_barrier).end
        settled, _ = plant.settle(now + span, raw, effort, polish=False)
        jumps = segment.event >= 0
        # a reset due at once takes the state as it is: settling would pull poked cables both ways
        state = choose(moves | ((dt >= 0) & ~jumps), settled, state)
        shift = jnp.zeros_like(late)
        if plant.jumps:
            event = jnp.maximum(segment.event, 0)
            # without an event the row is blank, so that nothing is divided by a rate that may be zero
            done = jax.tree.map(
                lambda leaf: jnp.where(jumps, leaf, jnp.zeros_like(leaf)), row_of(log.reset.again, event)
            )
            loads = plant.loads(now + span, state, effort)
            rig, shift = plant.rig.replay(now + span, state.rig, loads, done, jumps & log.located[event])
            state = PlantState(choose(jumps, rig, state.rig), state.rotors, state.memories)
        late = jnp.where(moves, shift, late)
        record = record_of(plant, now + span, state, effort, pilot.kept(memory))
        return (state, memory, late), (state, record, late)

    begin = (state, pilot.start(plant, state), jnp.zeros_like(plant.like(state)))
    (final, memory, _), (states, record, late) = jax.lax.scan(one, begin, segments)
    states, record = jax.tree.map(lambda leaf: leaf[last], (states, record))
    slot = jnp.where(segments.event >= 0, segments.event, log.step.shape[0])
    shift = jnp.zeros_like(log.offset).at[slot].set(late, mode="drop")
    return states, record, shift, memory, final
