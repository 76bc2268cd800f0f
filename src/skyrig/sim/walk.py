"""The compiled walk through a plan's steps, and the same walk again for derivatives.

Events are found by loops whose length is not known beforehand, which cannot be differentiated backwards. So
a flight is flown once to find them, and a derivative flies it again along the steps and events found: plain
Runge-Kutta steps and resets with their sets given. On smooth flights that is the exact derivative of the
numbers computed. At an impact the arrival time moves with the state, so the derivative is the one-sided
derivative along flights with the same sequence of events (the saltation matrix); where that sequence itself
changes (a graze, a tie) there is none, and what comes out is the derivative of one side.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from skyrig.programs import Shapes
from skyrig.rigs.bodies import Bodies, Inputs
from skyrig.sim.integrator import runge_kutta
from skyrig.sim.packing import Layout, Packed
from skyrig.sim.plan import Plan
from skyrig.sim.stepping import Log, choose, step, when


class Held(eqx.Module):
    """A pilot that holds inputs by a table: row `plan.hold` of `inputs`, intervals last.

    Any pilot is a pytree like this one. It is asked at the start of every step, before the step is flown,
    and what it answers is held over the step.
    """

    inputs: Inputs
    table: Packed | None = None

    def ready(self, real: Any) -> Held:
        """This pilot, prepared for many steps in numbers of dtype `real`."""
        by_interval = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, -1, 0), self.inputs)
        return Held(self.inputs, Packed.of(by_interval, real, 1))

    def start(self, rig: Any, state: Any) -> Any:
        """The memory to begin with."""
        return None

    def __call__(
        self, rig: Any, memory: Any, state: Any, plan: Plan, index: Array, first: Any, branch: Any
    ) -> tuple[Any, Inputs]:
        """Memory to carry on with and inputs to hold.

        Args:
            rig: What is flown.
            memory: What this pilot remembers.
            state: Where the rig is.
            plan: The flight's steps.
            index: Which of them begins.
            first: Whether it does begin here (in derivatives a step is flown in pieces).
            branch: `when`, or one like it that can be differentiated.
        """
        return memory, self.held(memory, plan.hold[index])

    def held(self, memory: Any, interval: Array) -> Inputs:
        """What is held in an interval."""
        assert self.table is not None
        return self.table.row(interval)

    def kept(self, memory: Any) -> Any:
        """What the flight's record keeps of the memory."""
        return None


class Record(eqx.Module):
    """What is kept of a state, with steps in front."""

    payload: Bodies
    vehicles: Bodies
    length: Float[Array, "*steps cables"]
    tension: Float[Array, "*steps cables"]
    taut: Bool[Array, "*steps cables"]
    pilot: Any = None
    """What the pilot wants kept."""


class Walk(eqx.Module):
    """A flown plan: states at the end of every step, and the events' log."""

    states: Any
    record: Record
    log: Log
    times_shift: Float[Array, " rows"]
    """Zero, with the derivative of each impact's time (s)."""
    memory: Any
    """The pilot's, at the end."""
    final: Any
    """State at the end."""


def _record(rig: Any, state: Any, inputs: Inputs, pilot: Any = None) -> Record:
    payload, vehicles = rig.bodies(state)
    length, taut = rig.cable_state(state)
    return Record(payload, vehicles, length, rig.tension(state, inputs), taut, pilot)


def _row(tree: Any, index: Array) -> Any:
    return jax.tree.map(lambda leaf: jax.lax.dynamic_index_in_dim(leaf, index, keepdims=False), tree)


def _held(inputs: Inputs, index: Array) -> Inputs:
    """Inputs of one interval (they are kept with the intervals last)."""
    return jax.tree.map(lambda leaf: jax.lax.dynamic_index_in_dim(leaf, index, -1, keepdims=False), inputs)


def _happen(rig: Any, state: Any, plan: Plan, row: Array) -> Any:
    state = rig.poke(state, _row(plan.impulse, row), _row(plan.point, row))
    return rig.sever(state, _row(plan.cut, row))


def _kept(rig: Any, pilot: Any, state: Any, memory: Any, held: Inputs) -> tuple[Any, Record]:
    return state, _record(rig, state, held, pilot.kept(memory))


def _layout(rig: Any, pilot: Any, state: Any, memory: Any) -> Layout:
    def row(state, memory):
        return _kept(rig, pilot, state, memory, pilot.held(memory, jnp.asarray(0)))

    return Layout.of(jax.eval_shape(row, state, memory), state.side.dtype)


def first_row(rig: Any, state: Any, pilot: Any) -> tuple[Any, Record]:
    """What a row of `walk_packed`'s table holds, at a flight's start; see `record_layout`."""
    pilot = pilot.ready(state.side.dtype)
    memory = pilot.start(rig, state)
    return _kept(rig, pilot, state, memory, pilot.held(memory, jnp.asarray(0)))


_row_shapes = Shapes(first_row)


def record_layout(rig: Any, state: Any, pilot: Any) -> Layout:
    """How (state, record) of a step lie in a row of `walk_packed`'s table."""
    return Layout.of(_row_shapes(rig, state, pilot), state.side.dtype)


def walk_packed(rig: Any, state: Any, pilot: Any, plan: Plan, rows: Log) -> tuple[Any, Any, Log, Packed]:
    """`walk` without derivatives: final state, the pilot's memory, log, and (state, record) of every step."""
    real = state.side.dtype
    pilot = pilot.ready(real)
    begin = (state, pilot.start(rig, state), rows)

    layout = _layout(rig, pilot, *begin[:2])

    def one(index, carry):
        state, memory, log, table = carry
        act = plan.act[index]
        state = when(act >= 0, lambda s: _happen(rig, s, plan, act), state)
        memory, held = pilot(rig, memory, state, plan, index, True, when)
        state, log = step(rig, state, held, plan.dt[index], log, index)
        row = layout.pack(_kept(rig, pilot, state, memory, held))
        return state, memory, log, jax.lax.dynamic_update_index_in_dim(table, row, index, 0)

    # what pads a plan stands at its end, and is not walked through
    count = jnp.sum(plan.dt >= 0)
    blank = jnp.zeros((plan.dt.shape[0], layout.width), real)
    final, memory, log, table = jax.lax.fori_loop(0, count, one, (*begin, blank))
    return final, memory, log, Packed(table, layout)


@eqx.filter_custom_jvp
def walk(rig: Any, state: Any, pilot: Any, plan: Plan, rows: Log) -> Walk:
    """Fly `plan` from `state` as `pilot` says; `rows` is an empty log that gives the room for events."""
    final, memory, log, kept = walk_packed(rig, state, pilot, plan, rows)
    states, record = kept.tree()
    return Walk(states, record, log, jnp.zeros_like(log.offset), memory, final)


@walk.def_jvp
def _walk_jvp(primals, tangents):
    flown = walk(*primals)
    rig, state, pilot, plan, rows = primals
    log = jax.lax.stop_gradient(flown.log)

    def again(rig, state, pilot, plan):
        return _retrace(rig, state, pilot, plan, log)

    _, (states, record, shift, memory, final) = eqx.filter_jvp(
        again, (rig, state, pilot, plan), tuple(tangents[:4])
    )
    # the log itself has no derivative; the times of impacts have theirs in times_shift
    nothing = jax.tree.map(
        lambda leaf: jnp.zeros_like(leaf) if eqx.is_inexact_array(leaf) else None, flown.log
    )
    return flown, Walk(states, record, nothing, shift, memory, final)


class Segments(eqx.Module):
    """Steps cut at events, in order."""

    dt: Array
    step: Array
    first: Array
    event: Array
    """Row of the log at the end of a segment, or -1."""


def _segments(plan: Plan, log: Log) -> tuple[Segments, Array]:
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
    return Segments(end - start, jnp.minimum(number, steps - 1), first & (number < steps), event), last


def _cond(flag: Any, change: Any, carry: Any) -> Any:
    """`when` for derivatives."""
    return jax.lax.cond(flag, change, lambda same: same, carry)


def _retrace(rig: Any, state: Any, pilot: Any, plan: Plan, log: Log):
    """The flown plan again, along its segments."""
    pilot = pilot.ready(state.side.dtype)
    segments, last = _segments(plan, log)

    @jax.checkpoint
    def one(carry, segment: Segments):
        state, memory, late = carry
        act = plan.act[segment.step]
        happens = segment.first & (act >= 0)
        state = choose(happens, _happen(rig, state, plan, jnp.maximum(act, 0)), state)
        memory, held = pilot(rig, memory, state, plan, segment.step, segment.first, _cond)
        dt = plan.dt[segment.step]
        begins = segment.first & (dt > 0)
        state = choose(begins, rig.prepare(state, held, jnp.where(dt > 0, dt, 1.0)), state)
        moves, jumps = segment.dt > 0, segment.event >= 0
        # whatever an event came later, what follows is shorter; what is due at the same instant waits with it
        raw, *_ = runge_kutta(
            rig, state, held, jnp.where(moves, segment.dt - late, 0.0), jax.lax.optimization_barrier
        )
        settled, _ = rig.settle(raw, held, polish=False)
        # a reset due at once takes the state as it is: settling would pull poked cables both ways
        state = choose(moves | ((dt >= 0) & ~jumps), settled, state)
        event = jnp.maximum(segment.event, 0)
        # without an event the row is blank, so that nothing is divided by a rate that may be zero
        reset = jax.tree.map(
            lambda leaf: jnp.where(jumps, leaf, jnp.zeros_like(leaf)), _row(log.reset, event)
        )
        jumped, shift = rig.replay(state, held, reset, jumps & log.located[event])
        state = rig.rearm(choose(jumps, jumped, state))
        late = jnp.where(moves, shift, late)
        return (state, memory, late), (state, _record(rig, state, held, pilot.kept(memory)), late)

    begin = (state, pilot.start(rig, state), jnp.zeros_like(state.side))
    (final, memory, _), (states, record, late) = jax.lax.scan(one, begin, segments)
    states, record = jax.tree.map(lambda leaf: leaf[last], (states, record))
    slot = jnp.where(segments.event >= 0, segments.event, log.step.shape[0])
    shift = jnp.zeros_like(log.offset).at[slot].set(late, mode="drop")
    return states, record, shift, memory, final
