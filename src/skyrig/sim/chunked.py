"""A flight with its controller compiled in, flown in chunks of a fixed size: all flights run one program.

A chunk may end wherever one likes; the program, and so the bits of what comes out, are the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jaxtyping import Array

from skyrig.control.stepped import Seen, Sight
from skyrig.programs import Program, Shapes
from skyrig.sim.carry import REAL, Carry, begun, layout_of, packed, sight_of
from skyrig.sim.chunks import Cursor
from skyrig.sim.driver import StateRecord, drive_packed
from skyrig.sim.log import LOG_FULL, OK, Log
from skyrig.sim.packing import Packed, Packing
from skyrig.sim.pilot import Memory, Pilot, blurred, measure, resumed
from skyrig.sim.plant import PlantState
from skyrig.sim.preparation import Job
from skyrig.sim.schedule import StepPlan

STEPS, TICKS, INTERVALS = 2048, 512, 512
"""Most steps, ticks and intervals in a chunk."""
ROOM = 128
"""Room for events in a chunk; one with more is flown again in halves."""

Numbers = npt.NDArray[Any]


class FlightChunk(eqx.Module):
    """A chunk of a flight: its steps, and what holds at its ticks and in its intervals, as rows."""

    plan: Packed
    """Time, length, interval, happening and tick of each step."""
    ticks: Packed
    """Time, target and noise of each tick."""
    intervals: Packed
    """What is around in each interval."""
    head: Any
    """(4,) whether the flight begins here, how many steps count, numbers of first tick and interval."""
    room: int = eqx.field(static=True)
    """For events."""


class Chunks:
    """A flight under way.

    Args:
        job: What is flown.
        pilot: Who flies it.
        keep: Whether all steps are kept, for `record`.
        tick: Where in the flight it begins, its state being the job's.
        after: What another one had come to, its `carried`, to go on from instead.
    """

    def __init__(
        self, job: Job, pilot: Pilot, keep: bool = True, tick: int = 0, after: Numbers | None = None
    ) -> None:
        self.job, self.pilot, self.keep = job, pilot, keep
        self.fresh = after is None
        """Whether it is a flight's beginning."""
        self.since = tick
        self.logs: list[tuple[int, Log]] = []
        self.trouble = False
        """Whether the flight stopped making sense."""
        self._cursor = Cursor(job.planned)
        self._first = self._start = self._cursor.row_of(tick)
        self._limit = STEPS
        plan, real = job.planned.plan, job.plant.real(job.state)
        self._plan = _rows((plan.time, plan.dt, plan.hold, plan.act, plan.tick), REAL)
        self._ticks = _rows((pilot.times, pilot.target, pilot.shake), real)
        around = jax.tree.map(lambda leaf: np.moveaxis(np.asarray(leaf), -1, 0), pilot.around)
        self._intervals = _rows(around, real)
        constants = (job.plant, pilot.autopilot, plan.acts)
        self._row, self._log, self._carry, self._sight, self._bodies = laid(constants, job.state, pilot, ROOM)
        self._table = np.empty((self._cursor.count - self._first if keep else 0, self._row.width), real)
        begin = begun(self._carry, 2, job.state) if after is None else Packed(after, self._carry)
        fixed = packed(constants)
        self._packs, self._look = (fixed, begin), None
        self._constants = fixed.rows
        self._now = self._numbers = begin.rows
        self._fly = _program.ready(fixed, begin, self._part(*self._here))

    @property
    def tick(self) -> int:
        """Ticks flown to their ends."""
        return int(self._cursor.so_far[self._start])

    @property
    def done(self) -> bool:
        """Whether everything is flown."""
        return self._start >= self._cursor.count

    @property
    def time(self) -> float:
        """Flown so far (s)."""
        return 0.0 if self._start == 0 else float(self.job.planned.times[self._start - 1])

    @property
    def latest(self) -> StateRecord | None:
        """The record's row of the last step flown; None where none is, or none is kept."""
        row = self._start - self._first - 1
        return self._row.unpack(self._table[row])[1] if 0 <= row < len(self._table) else None

    @property
    def state(self) -> PlantState:
        """Where everything is now."""
        return jax.device_put(self._carry.unpack(self._numbers).state)  # all at once: one by one takes longer

    @property
    def carried(self) -> Numbers:
        """State and memory as one row, for another one to go on from."""
        return self._numbers

    @property
    def memory(self) -> Memory:
        """What the pilot remembers."""
        return self._carry.unpack(self._numbers).memory

    @property
    def seen(self) -> Seen:
        """What is measured now, with noise."""
        shake = np.asarray(self.pilot.shake)[min(self.tick, len(self.pilot.shake) - 1)]
        if self._look is None:
            self._look = _look.ready(*self._packs, shake)
        return self._sight(np.asarray(self._look(self._constants, self._now, shake)[0]))

    def fly(self, ticks: int | None = None) -> None:
        """Fly so many ticks, or to the end of this chunk."""
        last = self._cursor.count
        if ticks is None:
            self._chunk(last)
            return
        so_far = self._cursor.so_far
        if self.tick + ticks < so_far[-1]:
            last = self._cursor.row_of(self.tick + ticks)
        while self._start < last and not self.trouble:
            self._chunk(last)

    def record(self) -> StateRecord:
        """All steps flown, rows in front."""
        return self._row.unpack(self._table[: self._start - self._first])[1]

    def saved(self) -> tuple[Any, ...]:
        """All of this flight so far, for `restore`."""
        table = self._table[: self._start - self._first].copy()
        return self._start, self.trouble, self._numbers.copy(), table, tuple(self.logs)

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Go back, or on, to what `saved` gave, of this flight or of one like it."""
        self._start, self.trouble, self._numbers, table, logs = saved
        self._table[: len(table)] = table
        self._now, self.logs, self._limit = self._numbers, list(logs), STEPS

    def _chunk(self, last: int) -> None:
        """Fly on, to `last` at most."""
        most = min(self._limit, last - self._start)
        steps, ticks, intervals = self._cursor.chunk(self._start, most, TICKS, INTERVALS)
        now, table, log = self._called(steps, ticks, intervals)
        count, numbers = steps.stop - steps.start, np.asarray(now)
        if numbers[1] == LOG_FULL and count > 1:
            self._limit = count // 2
            return
        self._now, self._numbers, self._limit = now, numbers, STEPS
        rows = np.asarray(table)[:count]
        if numbers[0] or numbers[1] != OK or not self.logs:  # where nothing happened there is nothing to keep
            self.logs.append((steps.start, jax.tree.map(np.asarray, self._log.unpack(np.asarray(log)))))
        self._start = steps.stop
        self.trouble = bool(numbers[1] != OK or not np.isfinite(rows[:, self._bodies].sum()))
        if self.keep:
            self._table[steps.start - self._first : steps.stop - self._first] = rows

    @property
    def _here(self) -> tuple[slice, slice, slice]:
        """No steps at all, where the flight is now."""
        return slice(self._start, self._start), slice(self.tick, self.tick), slice(0, 0)

    def _called(self, steps: slice, ticks: slice, intervals: slice) -> Any:
        part = self._part(steps, ticks, intervals)
        rows = (part.plan.rows, part.ticks.rows, part.intervals.rows, part.head)
        return self._fly(self._constants, self._now, *rows)

    def _part(self, steps: slice, ticks: slice, intervals: slice) -> FlightChunk:
        def cut(whole: Packed, first: int, count: int) -> Packed:
            rows = whole.rows[first : first + count]
            missing = count - len(rows)
            if missing:
                rows = np.concatenate([rows, np.repeat(whole.rows[-1:], missing, axis=0)])
            return Packed(rows, whole.layout)

        fresh, count = self.fresh and self._start == self._first, steps.stop - steps.start
        return FlightChunk(
            cut(self._plan, steps.start, STEPS),
            cut(self._ticks, ticks.start, TICKS),
            cut(self._intervals, intervals.start, INTERVALS),
            np.array([fresh, count, ticks.start, intervals.start], REAL),
            ROOM,
        )


class Layouts(NamedTuple):
    """How rows are laid out that come and go."""

    row: Packing
    """Of the record."""
    log: Packing
    carry: Packing
    sight: Sight
    """Where in a row that `_looked` gives the measurement lies."""
    bodies: slice
    """Where in a row of the record the bodies lie."""


def _laid(shapes: tuple[Any, Log, Carry]) -> Layouts:
    row, log, carry = shapes
    real = jax.tree.leaves(carry.state.rig.motion)[0].dtype
    return Layouts(
        Packing.of(row, real),
        Packing.of(log, REAL),
        Packing.of(Carry(carry.events, carry.trouble, None, carry.state, carry.memory), REAL),
        sight_of(carry),
        slice(0, Packing.of(row[1].bodies, real).width),
    )


laid = Shapes(layout_of, _laid)


def _rows(tree: Any, real: Any) -> Packed:
    """A tree with rows in front of every leaf as rows, in NumPy."""
    return Packed.of(jax.tree.map(np.asarray, tree), real, 1)


def _fly_part(constants: Packed, carry: Packed, part: FlightChunk) -> tuple[Array, Array, Array]:
    plant, autopilot, acts = constants.tree()
    before: Carry = carry.tree()
    head = jnp.asarray(part.head).astype(jnp.int32)
    fresh, count, first_tick, first_interval = head
    time, dt, hold, act, tick = part.plan.tree()
    used = jnp.arange(dt.shape[0]) < count
    plan = StepPlan(
        time,
        jnp.where(used, dt, -1.0),
        jnp.maximum(hold - first_interval, 0),
        act,
        jnp.where(tick >= 0, tick - first_tick, tick),
        acts,
    )
    pilot = Pilot(
        autopilot.controller,
        autopilot.actuators,
        autopilot.noise,
        autopilot.period,
        delay=autopilot.delay,
        ticks=part.ticks,
        intervals=part.intervals,
    )
    layout = Packing.of(before.memory, plant.like(before.state).dtype)
    memory = Packed(carry.rows[-layout.width :].astype(layout.real), layout)  # it lies last
    pilot = resumed(fresh > 0, memory, pilot, plant, before.state)
    room = Log.empty(plant, before.state, part.room, sides=True)
    final, memory, log, kept = drive_packed(plant, before.state, pilot, plan, room, states=False)
    after = Carry(log.count, log.trouble, None, final, None)
    row = jnp.concatenate([Packing.of(after, REAL).pack(after), memory.rows.astype(REAL)])
    return row, kept.rows, Packing.of(log, REAL).pack(log)


def _looked(constants: Packed, carry: Packed, shake: Array) -> tuple[Array]:
    """A row as the stepper's begins, with what is measured: compiled only for those who ask."""
    plant, autopilot, _ = constants.tree()
    before: Carry = carry.tree()
    seen = blurred(measure(plant.rig, before.state.rig), autopilot.noise, shake)
    return (jnp.concatenate([carry.rows[:2], Packing.of(seen, REAL).pack(seen)]),)


_program = Program(_fly_part, lambda *given: (0, 0, 0))
_look = Program(_looked, lambda *given: (0,))
