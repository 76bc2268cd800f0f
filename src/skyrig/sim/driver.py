"""The compiled drive through a plan's steps, and the same drive again for derivatives.

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

from skyrig.programs import Shapes
from skyrig.rigs.bodies import Bodies
from skyrig.sim.known import integrator
from skyrig.sim.log import Log
from skyrig.sim.packing import Packed, Packing
from skyrig.sim.plant import Effort, Plant, PlantState
from skyrig.sim.schedule import Plan
from skyrig.sim.stepping import choose, step, when


class Held(eqx.Module):
    """A pilot that holds efforts by a table: row `plan.hold` of `efforts`, intervals last.

    Any pilot is a pytree like this one. It is asked at the start of every step, before the step is flown,
    and what it answers is held over the step.
    """

    efforts: Effort
    table: Packed | None = None

    def ready(self, real: Any) -> Held:
        """This pilot, prepared for many steps in numbers of dtype `real`."""
        by_interval = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, -1, 0), self.efforts)
        return Held(self.efforts, Packed.of(by_interval, real, 1))

    def start(self, plant: Plant, state: PlantState) -> Any:
        """The memory to begin with."""
        return None

    def __call__(
        self,
        plant: Plant,
        memory: Any,
        state: PlantState,
        plan: Plan,
        index: Array,
        first: Any,
        branch: Any,
    ) -> tuple[Any, Effort]:
        """Memory to carry on with and the effort to hold.

        Args:
            plant: What is flown.
            memory: What this pilot remembers.
            state: Where it is.
            plan: The flight's steps.
            index: Which of them begins.
            first: Whether it does begin here (in derivatives a step is flown in pieces).
            branch: `when`, or one like it that can be differentiated.
        """
        return memory, self.held(memory, plan.hold[index])

    def held(self, memory: Any, interval: Array) -> Effort:
        """What is held in an interval."""
        assert self.table is not None
        return self.table.row(interval)

    def kept(self, memory: Any) -> Any:
        """What the flight's record keeps of the memory."""
        return None


class Record(eqx.Module):
    """What is kept of a state, with steps in front."""

    bodies: dict[str, Bodies]
    """By group, (steps, 3, k)."""
    signals: dict[str, Array]
    """By name, (steps, count)."""
    thrust: Float[Array, "*steps n"]
    """Of each vehicle (N)."""
    moment: Float[Array, "*steps 3 n"]
    """Of each vehicle, body frame (N m)."""
    pilot: Any = None
    """What the pilot wants kept."""


class Driven(eqx.Module):
    """A flown plan: states at the end of every step, and the events' log."""

    states: Any
    record: Record
    log: Log
    times_shift: Float[Array, " rows"] | None
    """Zero, with the derivative of each impact's time (s)."""
    memory: Any
    """The pilot's, at the end."""
    final: Any
    """State at the end."""


def _record(plant: Plant, t: Any, state: PlantState, effort: Effort, pilot: Any = None) -> Record:
    loads = plant.loads(t, state, effort)
    signals = plant.signals(t, state, effort, loads)
    return Record(plant.bodies(state), signals, loads.thrust, loads.moment, pilot)


def _row(tree: Any, index: Array) -> Any:
    return jax.tree.map(lambda leaf: jax.lax.dynamic_index_in_dim(leaf, index, keepdims=False), tree)


def _happen(plant: Plant, state: PlantState, plan: Plan, row: Array) -> PlantState:
    rig = plan.acts.done(plant.rig, state.rig, lambda table: _row(table, row))
    return PlantState(rig, state.rotors, state.memories)


def first_row(plant: Plant, state: PlantState, pilot: Any, states: bool = True) -> tuple[Any, Record]:
    """What a row of `drive_packed`'s table holds, at a flight's start; see `record_packing`."""
    pilot = pilot.ready(plant.like(state).dtype)
    memory = pilot.start(plant, state)
    effort = pilot.held(memory, jnp.asarray(0))
    return state if states else None, _record(plant, 0.0, state, effort, pilot.kept(memory))


_row_shapes = Shapes(first_row)


def record_packing(plant: Plant, state: PlantState, pilot: Any) -> Packing:
    """How (state, record) of a step lie in a row of `drive_packed`'s table."""
    return Packing.of(_row_shapes(plant, state, pilot), plant.like(state).dtype)


def drive_packed(
    plant: Plant, state: PlantState, pilot: Any, plan: Plan, rows: Log, states: bool = True
) -> tuple[PlantState, Any, Log, Packed]:
    """`drive` without derivatives: final state, memory, log, and (state, record) of every step.

    Without `states` only the record is kept, None in place of the state.
    """
    real = plant.like(state).dtype
    packing = Packing.of(eqx.filter_eval_shape(first_row, plant, state, pilot, states), real)
    pilot = pilot.ready(real)
    begin = (state, pilot.start(plant, state), rows)

    def one(index, carry):
        state, memory, log, table = carry
        act, t, dt = plan.act[index], plan.time[index], plan.dt[index]
        state = when(act >= 0, lambda s: _happen(plant, s, plan, act), state)
        memory, effort = pilot(plant, memory, state, plan, index, True, when)
        state, log = step(plant, t, plant.engaged(state, effort), effort, dt, log, index)
        record = _record(plant, t + dt, state, effort, pilot.kept(memory))
        row = packing.pack((state if states else None, record))
        return state, memory, log, jax.lax.dynamic_update_index_in_dim(table, row, index, 0)

    # what pads a plan stands at its end, and is not driven through
    count = jnp.sum(plan.dt >= 0)
    blank = jnp.zeros((plan.dt.shape[0], packing.width), real)
    final, memory, log, table = jax.lax.fori_loop(0, count, one, (*begin, blank))
    return final, memory, log, Packed(table, packing)


@eqx.filter_custom_jvp
def drive(plant: Plant, state: PlantState, pilot: Any, plan: Plan, rows: Log) -> Driven:
    """Fly `plan` from `state` as `pilot` says; `rows` is an empty log that gives the room for events."""
    final, memory, log, kept = drive_packed(plant, state, pilot, plan, rows)
    states, record = kept.tree()
    return Driven(states, record, log, jnp.zeros_like(log.offset), memory, final)


@drive.def_jvp
def _drive_jvp(primals, tangents):
    flown = drive(*primals)
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


class Segments(eqx.Module):
    """Steps cut at events, in order."""

    start: Array
    """Since the start of the step (s)."""
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
    return Segments(start, end - start, jnp.minimum(number, steps - 1), first & (number < steps), event), last


def _cond(flag: Any, change: Any, carry: Any) -> Any:
    """`when` for derivatives."""
    return jax.lax.cond(flag, change, lambda same: same, carry)


def _retrace(plant: Plant, state: PlantState, pilot: Any, plan: Plan, log: Log):
    """The flown plan again, along its segments."""
    pilot = pilot.ready(plant.like(state).dtype)
    segments, last = _segments(plan, log)
    integrate = integrator(plant.integrator)

    @jax.checkpoint
    def one(carry, segment: Segments):
        state, memory, late = carry
        act, t, dt = plan.act[segment.step], plan.time[segment.step], plan.dt[segment.step]
        happens = segment.first & (act >= 0)
        state = choose(happens, _happen(plant, state, plan, jnp.maximum(act, 0)), state)
        memory, effort = pilot(plant, memory, state, plan, segment.step, segment.first, _cond)
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
                lambda leaf: jnp.where(jumps, leaf, jnp.zeros_like(leaf)), _row(log.reset.again, event)
            )
            loads = plant.loads(now + span, state, effort)
            rig, shift = plant.rig.replay(now + span, state.rig, loads, done, jumps & log.located[event])
            state = PlantState(choose(jumps, rig, state.rig), state.rotors, state.memories)
        late = jnp.where(moves, shift, late)
        record = _record(plant, now + span, state, effort, pilot.kept(memory))
        return (state, memory, late), (state, record, late)

    begin = (state, pilot.start(plant, state), jnp.zeros_like(plant.like(state)))
    (final, memory, _), (states, record, late) = jax.lax.scan(one, begin, segments)
    states, record = jax.tree.map(lambda leaf: leaf[last], (states, record))
    slot = jnp.where(segments.event >= 0, segments.event, log.step.shape[0])
    shift = jnp.zeros_like(log.offset).at[slot].set(late, mode="drop")
    return states, record, shift, memory, final
