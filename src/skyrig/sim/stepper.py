"""A flight flown tick by tick, by whoever decides.

Calling a compiled program costs more than a few steps of a rig, the more so the more arrays go in and out
and the more small pieces XLA makes of it. So everything that passes lies in a few rows of numbers, and all
that is done with them is one kernel. The steps are those of `drive`, with the schedule of a whole flight.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jaxtyping import Array

from skyrig.algebra import as_jax, written_out
from skyrig.control.interface import Target
from skyrig.control.stepped import Given, Seen
from skyrig.programs import Program
from skyrig.sim.carry import REAL, Carry, Constants, begun, packed, shapes_of, sight_of
from skyrig.sim.driver import StateRecord, drive_packed
from skyrig.sim.kernel import in_one_kernel
from skyrig.sim.log import LOG_FULL, NOT_FINITE, OK, Log
from skyrig.sim.packing import Packed, Packing
from skyrig.sim.pilot import Autopilot, Memory, Pilot, Surroundings, blurred, measure, resumed
from skyrig.sim.plant import PlantState
from skyrig.sim.preparation import Job
from skyrig.sim.schedule import StepPlan

ROOM = 16
"""Room for events in a stretch; one with more is flown again in halves."""
MOST = 256
"""Steps in a stretch at most."""
AHEAD = 256
"""Stretches laid out at a time."""

Numbers = npt.NDArray[np.float64]


class Stretch(eqx.Module):
    """A few steps in a row, with what holds during each; NumPy's with stretches in front, or one of JAX's."""

    time: Any
    """(steps,) when each begins (s)."""
    dt: Any
    """(steps,) s; negative for padding."""
    act: Any
    """(steps,) row of the happenings at its start, or -1."""
    tick: Any
    """(steps,) 0 where the tick falls, else -1."""
    around: Surroundings
    """A column for each step."""
    shake: Any
    """(4, 3, bodies) for the noise of what the controller is told at the tick."""
    next_shake: Any
    """(4, 3, bodies) for that of what is measured at the end."""
    now: Any
    """Time of the tick (s)."""
    fresh: Any
    """Whether the flight begins here."""
    room: int = eqx.field(static=True)
    """For events."""


class Stepper:
    """A flight that waits at every tick for what shall be done.

    Args:
        job: What is flown.
        pilot: Who flies it: a controller that passes on what it is given.
        keep: Whether all steps are kept, for `record`.
        tick: Where in the flight it begins, its state being the job's.
    """

    def __init__(self, job: Job, pilot: Pilot, keep: bool = True, tick: int = 0) -> None:
        self.job, self.pilot, self.keep = job, pilot, keep
        self.tick = self.since = tick
        self.fresh = True
        self.tables: list[Numbers] = []
        self.logs: list[tuple[int, Log]] = []
        plan = job.planned.plan
        self._plan = {name: np.asarray(getattr(plan, name)) for name in ("time", "dt", "act", "tick", "hold")}
        count = len(job.planned.times)
        self._starts = np.append(np.flatnonzero(self._plan["tick"][:count] >= 0), count)
        self._bounds: list[int] = self._starts.tolist()
        self._room = min(int(np.diff(self._starts).max()), MOST)
        self._shake = np.asarray(pilot.shake)
        self._around = jax.tree.map(np.asarray, pilot.around)
        self._block = (0, 0, np.zeros((0, 0)))
        self._programs: dict[tuple[bool, bool], Callable[..., Any]] = {}
        given = by_hand(job.plant.rig.count)
        here = self._starts[tick : tick + 1]
        first = self._stretches(here, here, True)
        constants = (job.plant, pilot.autopilot, plan.acts)
        now = jax.tree.map(lambda leaf: leaf[0], first)
        row, log, carry = shapes_of(constants, job.state, _pilot(constants[1], now, given), ROOM)
        self._row = Packing.of(row, job.plant.like(job.state).dtype)
        self._log, self._carry = Packing.of(log, REAL), Packing.of(carry, REAL)
        self._sight = sight_of(carry)
        self._width = self._carry.width
        self._rest = self._width + self._room * self._row.width
        before = 2 + Packing.of(carry.seen, REAL).width
        begin, room = (
            begun(self._carry, before, job.state),
            np.zeros(self._rest + self._log.width - self._width),
        )
        begin = Packed(np.concatenate([begin.rows, room]), begin.layout)
        self._packs = [packed(constants), begin, packed(now)]
        self._fly = self._programs[False, False] = _program.ready(*self._packs, packed(given))
        # nothing is flown yet, but the pilot's memory begins and there is something to see
        rows = [it.rows for it in (*self._packs, packed(given))]
        self._constants = as_jax(rows[0])
        (self._now,) = self._fly(*rows)
        self._numbers = np.asarray(self._now)

    @property
    def done(self) -> bool:
        """Whether all ticks are flown."""
        return self.tick >= len(self._bounds) - 1

    @property
    def time(self) -> float:
        """Flown so far (s)."""
        row = self._bounds[self.tick]
        return 0.0 if row == 0 else float(self.job.planned.times[row - 1])

    @property
    def seen(self) -> Seen:
        """What is measured now, with noise."""
        return self._sight(self._numbers)

    @property
    def latest(self) -> StateRecord | None:
        """The record's row of the last step flown; None where none is, or none is kept."""
        return self._row.unpack(self.tables[-1][-self._row.width :])[1] if self.tables else None

    @property
    def state(self) -> PlantState:
        """Where everything is now."""
        return jax.tree.map(as_jax, self._carry.unpack(self._numbers).state)

    @property
    def memory(self) -> Memory:
        """What the pilot remembers."""
        return self._carry.unpack(self._numbers).memory

    @property
    def trouble(self) -> bool:
        """Whether the flight stopped making sense."""
        return bool(self._numbers[1] != OK)

    def saved(self) -> tuple[Any, ...]:
        """All of this flight so far, for `restore`."""
        return self.tick, self._numbers.copy(), tuple(self.tables), tuple(self.logs)

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Go back, or on, to what `saved` gave, of this flight or of one like it."""
        self.tick, self._numbers, tables, logs = saved
        self._now, self.tables, self.logs = self._numbers, list(tables), list(logs)

    def give(self, given: Given) -> None:
        """Fly to the next tick with a command that was decided elsewhere."""
        if given.form not in self._programs:
            like = packed(Target(None, None, given.command()))
            self._programs[given.form] = _program.ready(*self._packs, like)
        self._fly, target = self._programs[given.form], given.row()
        first, last = self._bounds[self.tick], self._bounds[self.tick + 1]
        low, high, rows = self._block
        if last - first <= self._room:
            if not low <= self.tick < high:
                low, high = self.tick, min(self.tick + AHEAD, len(self._starts) - 1)
                rows = self._rows(self._starts[low:high], self._starts[low + 1 : high + 1])
                self._block = (low, high, rows)
            self._stretched(rows[self.tick - low], first, last, target)
        else:
            self._halves(first, last, target, self._room)
        self.tick += 1

    def record(self) -> StateRecord:
        """All steps flown, rows in front."""
        rows = np.concatenate(self.tables).reshape(-1, self._row.width)
        return self._row.unpack(rows.astype(self._row.real, copy=False))[1]

    def _stretched(self, row: Numbers, first: int, last: int, target: Numbers) -> None:
        (now,) = self._fly(self._constants, self._now, row, target)
        numbers = np.asarray(now)
        if numbers[1] == LOG_FULL and last - first > 1:
            self._halves(first, last, target, -(-(last - first) // 2))
            return
        self._now, self._numbers = now, numbers
        if self.keep:
            used = (last - first) * self._row.width  # the rest is padding
            self.tables.append(numbers[self._width : self._width + used].copy())
        if numbers[0] > 0 or numbers[1] != OK or not self.logs:
            self.logs.append((first, jax.tree.map(np.asarray, self._log.unpack(numbers[self._rest :]))))

    def _halves(self, first: int, last: int, target: Numbers, most: int) -> None:
        for start in range(first, last, most):
            stop = min(start + most, last)
            self._stretched(self._rows([start], [stop])[0], start, stop, target)

    def _rows(self, starts: Any, stops: Any, fresh: bool = False) -> Numbers:
        """Stretches from each of `starts` to before each of `stops`, as rows."""
        made = self._stretches(np.asarray(starts), np.asarray(stops), fresh)
        return np.asarray(Packing.of(made, REAL, 1).pack(made, 1))

    def _stretches(self, starts: Any, stops: Any, fresh: bool) -> Stretch:
        plan = self._plan
        index = starts[:, None] + np.arange(self._room)
        used = index < stops[:, None]
        index = np.minimum(index, len(plan["dt"]) - 1)
        tick = np.where(used, plan["tick"][index], -1)
        hold = np.where(
            used, plan["hold"][index], plan["hold"][np.minimum(starts, len(plan["dt"]) - 1)][:, None]
        )
        number = np.searchsorted(self._starts, starts, side="right") - 1
        number = np.clip(number, 0, len(self._shake) - 1)
        following = np.minimum(np.where(stops > starts, number + 1, number), len(self._shake) - 1)
        return Stretch(
            time=plan["time"][index],
            dt=np.where(used, plan["dt"][index], -1.0),
            act=np.where(used, plan["act"][index], -1),
            tick=np.where(tick >= 0, 0, -1),
            around=jax.tree.map(lambda leaf: np.moveaxis(leaf[..., hold], -2, 0), self._around),
            shake=self._shake[number],
            next_shake=self._shake[following],
            now=self.job.ticks[number],
            fresh=np.full(len(starts), fresh),
            room=ROOM,
        )


def by_hand(count: int) -> Target:
    """The usual target of a controller that passes on what is decided elsewhere, for `count` vehicles."""
    return Target(None, None, Given(np.zeros(count), np.zeros((3, count))).command())


def _flown(constants: Constants, carry: Carry, stretch: Stretch, target: Target) -> tuple[Carry, Array, Log]:
    """A stretch, flown."""
    plant, autopilot, acts = constants
    pilot, state = _pilot(autopilot, stretch, target), carry.state
    memory = Packed.of(carry.memory, plant.like(state).dtype)
    pilot = resumed(stretch.fresh, memory, pilot, plant, state)
    steps = jnp.arange(stretch.dt.shape[0], dtype=jnp.int32)
    plan = StepPlan(stretch.time, stretch.dt, steps, stretch.act, stretch.tick, acts)
    room = Log.empty(plant, state, stretch.room, sides=True)
    final, memory, log, kept = drive_packed(plant, state, pilot, plan, room, states=False)
    seen = blurred(measure(plant.rig, final.rig), autopilot.noise, stretch.next_shake)
    finite = jnp.isfinite(Packed.of(seen, REAL).rows.sum())
    trouble = jnp.where(finite | (log.trouble != OK), log.trouble, NOT_FINITE)
    return Carry(log.count, trouble, seen, final, memory.tree()), kept.rows, log


def _fly_rows(constants: Packed, carry: Packed, stretch: Packed, target: Packed) -> tuple[Array]:
    """A row with what is carried, the steps' record and the log: each array of its own would cost a call."""
    given = (constants, carry, stretch, target)

    def fly(*rows: Array) -> tuple[Array]:
        after, table, log = _flown(*(it.layout.unpack(row) for it, row in zip(given, rows, strict=True)))
        parts = (carry.layout.pack(after), table.reshape(-1).astype(REAL), Packing.of(log, REAL).pack(log))
        return (jnp.concatenate(parts),)

    with written_out():
        return in_one_kernel(stretch.rows[0] >= 0, fly, *(it.rows for it in given))


_program = Program(_fly_rows, lambda *given: (0,))


def _pilot(autopilot: Autopilot, stretch: Stretch, target: Target) -> Pilot:
    return Pilot(
        controller=autopilot.controller,
        actuators=autopilot.actuators,
        target=jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], target),
        times=jnp.asarray(stretch.now)[None],
        around=stretch.around,
        noise=autopilot.noise,
        shake=jnp.asarray(stretch.shake)[None],
        period=autopilot.period,
        delay=autopilot.delay,
    )
