"""The loop: sense, estimate, decide, actuate, step. Every flight there is goes round in it.

Who decides is a pilot, what the steps are says a plan, and what is kept of them is up to a reducer: all of
them (`StepTable`), sums of them (`skyrig.sim.batch_loop.Summed`), or nothing. Single flights, roll-outs,
batches, sessions, the studio and environments differ in these three and in nothing else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.elements.pushes import picked
from skyrig.programs import Shapes
from skyrig.rigs.bodies import Bodies
from skyrig.sim.log import Log
from skyrig.sim.packing import Packed, Packing
from skyrig.sim.plant import Effort, Plant, PlantState
from skyrig.sim.schedule import Acts, PlanStep, StepPlan
from skyrig.sim.stepping import choose, step, when


class LoopState(NamedTuple):
    """What goes round in the loop."""

    state: PlantState
    memory: Any
    """The pilot's."""
    log: Log
    kept: Any
    """The reducer's."""


class Stepped(NamedTuple):
    """A step that was flown, as a reducer sees it."""

    number: Array
    """In the plan."""
    turn: PlanStep
    """What the plan said of it."""
    acts: Acts | None
    """What may have happened at its start."""
    state: PlantState
    """At its end."""
    effort: Effort
    """Held over it."""
    memory: Any
    """The pilot's."""
    log: Log


class Nothing(eqx.Module):
    """The reducer that keeps nothing; others do as it does."""

    def going(self, kept: Any) -> Any:
        """Flights that go on; the others stay where they are."""
        return True

    def __call__(self, kept: Any, plant: Plant, pilot: Any, stepped: Stepped) -> tuple[Any, Log]:
        """What is kept after one more step, and the log to go on with."""
        return kept, stepped.log


def drive(plant: Plant, pilot: Any, plan: Any, carry: LoopState, keep: Any, count: ArrayLike) -> LoopState:
    """Fly the first `count` steps of `plan` as `pilot` says, keeping of them what `keep` keeps.

    A pilot is asked at the start of every step, before the step is flown, and what it answers is held over
    the step. One flight or a batch of them: all arrays carry the batch behind.
    """

    def one(index: Array, carry: LoopState) -> LoopState:
        state, memory, log, kept = carry
        turn, going = plan.at(index), keep.going(kept)
        if turn.act is not None:
            due = (turn.act >= 0) & going
            state = for_flights(due, lambda state: happened(plant, state, plan.acts, turn.act), state)
        memory, effort = pilot(plant, memory, state, turn, going, when)
        dt = turn.dt if going is True else jnp.where(going, turn.dt, -1.0)
        state, log = step(plant, turn.time, plant.engaged(state, effort), effort, dt, log, index)
        stepped = Stepped(index, turn, plan.acts, state, effort, memory, log)
        kept, log = keep(kept, plant, pilot, stepped)
        return LoopState(state, memory, log, kept)

    return jax.lax.fori_loop(0, count, one, carry)


def for_flights(which: Array, change: Any, carry: Any) -> Any:
    """`change(carry)` for the flights `which`; it costs nothing where there are none."""
    if which.ndim == 0:
        return when(which, change, carry)
    return when(jnp.any(which), lambda old: choose(which, change(old), old), carry)


def happened(plant: Plant, state: PlantState, acts: Acts, row: Array) -> PlantState:
    """The state after what a row of `acts` says, one row for all flights or one for each."""
    if row.ndim == 0:
        rig = acts.done(plant.rig, state.rig, lambda table: row_of(table, row))
    else:
        rig = acts.done(plant.rig, state.rig, lambda table: picked(table, jnp.maximum(row, 0)))
    return PlantState(rig, state.rotors, state.memories)


def row_of(tree: Any, index: Array) -> Any:
    """One row of every array in `tree`."""
    return jax.tree.map(lambda leaf: jax.lax.dynamic_index_in_dim(leaf, index, keepdims=False), tree)


class Steady(eqx.Module):
    """A pilot that holds one effort."""

    effort: Effort

    def __call__(
        self, plant: Plant, memory: Any, state: PlantState, turn: PlanStep, going: Any, branch: Any
    ) -> tuple[Any, Effort]:
        """Memory to carry on with and the effort to hold.

        Args:
            plant: What is flown.
            memory: What this pilot remembers.
            state: Where it is.
            turn: The step that begins.
            going: Whether it does begin here (in derivatives a step is flown in pieces); of a batch, for
                which flights.
            branch: `when`, or one like it that can be differentiated.
        """
        return memory, self.effort


class HeldEfforts(eqx.Module):
    """A pilot that holds efforts by a table: row `turn.hold` of `efforts`, intervals last."""

    efforts: Effort
    table: Packed | None = None

    def ready(self, real: Any) -> HeldEfforts:
        """This pilot, prepared for many steps in numbers of dtype `real`."""
        by_interval = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, -1, 0), self.efforts)
        return HeldEfforts(self.efforts, Packed.of(by_interval, real, 1))

    def start(self, plant: Plant, state: PlantState) -> Any:
        """The memory to begin with."""
        return None

    def __call__(
        self, plant: Plant, memory: Any, state: PlantState, turn: PlanStep, going: Any, branch: Any
    ) -> tuple[Any, Effort]:
        """As `Steady`'s."""
        return memory, self.held(memory, turn.hold)

    def held(self, memory: Any, interval: Array) -> Effort:
        """What is held in an interval."""
        assert self.table is not None
        return self.table.row(interval)

    def kept(self, memory: Any) -> Any:
        """What the flight's record keeps of the memory."""
        return None


class StateRecord(eqx.Module):
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


def record_of(plant: Plant, t: Any, state: PlantState, effort: Effort, pilot: Any = None) -> StateRecord:
    """What is kept of a state at `t` (s)."""
    loads = plant.loads(t, state, effort)
    signals = plant.signals(t, state, effort, loads)
    return StateRecord(plant.bodies(state), signals, loads.thrust, loads.moment, pilot)


class StepTable(Nothing):
    """The reducer that keeps (state, record) of every step as a row of a table; of one flight."""

    packing: Packing = eqx.field(static=True)
    states: bool = eqx.field(static=True)
    """Whether states are kept too; None stands in their place if not."""

    def __call__(self, kept: Array, plant: Plant, pilot: Any, stepped: Stepped) -> tuple[Array, Log]:
        """The table with one more row."""
        number, turn, _, state, effort, memory, log = stepped
        record = record_of(plant, turn.time + turn.dt, state, effort, pilot.kept(memory))
        row = self.packing.pack((state if self.states else None, record))
        return jax.lax.dynamic_update_index_in_dim(kept, row, number, 0), log


def first_row(plant: Plant, state: PlantState, pilot: Any, states: bool = True) -> tuple[Any, StateRecord]:
    """What a row of `drive_packed`'s table holds, at a flight's start; see `record_packing`."""
    pilot = pilot.ready(plant.like(state).dtype)
    memory = pilot.start(plant, state)
    effort = pilot.held(memory, jnp.asarray(0))
    return state if states else None, record_of(plant, 0.0, state, effort, pilot.kept(memory))


_row_shapes = Shapes(first_row)


def record_packing(plant: Plant, state: PlantState, pilot: Any) -> Packing:
    """How (state, record) of a step lie in a row of `drive_packed`'s table."""
    return Packing.of(_row_shapes(plant, state, pilot), plant.like(state).dtype)


def drive_packed(
    plant: Plant, state: PlantState, pilot: Any, plan: StepPlan, rows: Log, states: bool = True
) -> tuple[PlantState, Any, Log, Packed]:
    """Fly all of `plan`: final state, memory, log, and (state, record) of every step.

    `rows` is an empty log that gives the room for events. Without `states` only the record is kept, None in
    place of the state.
    """
    real = plant.like(state).dtype
    packing = Packing.of(eqx.filter_eval_shape(first_row, plant, state, pilot, states), real)
    pilot = pilot.ready(real)
    blank = jnp.zeros((plan.dt.shape[0], packing.width), real)
    # what pads a plan stands at its end, and is not driven through
    count = jnp.sum(plan.dt >= 0)
    begin = LoopState(state, pilot.start(plant, state), rows, blank)
    end = drive(plant, pilot, plan, begin, StepTable(packing, states), count)
    return end.state, end.memory, end.log, Packed(end.kept, packing)
