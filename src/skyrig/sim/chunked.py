"""A flight with its controller compiled in, flown in chunks of a fixed size: all flights run one program.

A chunk may end wherever one likes; the program, and so the bits of what comes out, are the same.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from skyrig.algebra import as_jax
from skyrig.control.interface import Measurement
from skyrig.programs import Program, Shapes
from skyrig.sim.chunks import Cursor, part_of_pilot, part_of_plan
from skyrig.sim.driver import Record, drive_packed, record_packing
from skyrig.sim.log import LOG_FULL, OK, Log
from skyrig.sim.packing import Packed, Packing
from skyrig.sim.pilot import Memory, Pilot, blurred, measure, resumed
from skyrig.sim.plant import Plant, PlantState
from skyrig.sim.preparation import Job
from skyrig.sim.schedule import Plan

STEPS, TICKS, INTERVALS = 4096, 1024, 1024
"""Most steps, ticks and intervals in a chunk."""
ROOM = 128
"""Room for events in a chunk; one with more is flown again in halves."""


class Chunks:
    """A flight under way.

    Args:
        job: What is flown.
        pilot: Who flies it.
        keep: Whether all steps are kept, for `record`.
    """

    def __init__(self, job: Job, pilot: Pilot, keep: bool = True) -> None:
        self.job, self.pilot, self.keep = job, pilot, keep
        self.state: PlantState = job.state
        self.logs: list[tuple[int, Log]] = []
        self.trouble = False
        """Whether the flight stopped making sense."""
        self._pieces: list[Record] = []
        self._cursor = Cursor(job.planned)
        self._start, self._limit = 0, STEPS
        self._remembered: Any = None
        self._layout: Packing | None = None
        self._packing: Packing | None = None
        self._room = Log.ready(job.plant, job.state, ROOM, sides=True)

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
    def memory(self) -> Memory:
        """What the pilot remembers."""
        assert self._layout is not None
        return self._layout.unpack(np.asarray(self._remembered))

    @property
    def measurement(self) -> Measurement:
        """What is measured now, with noise, components first."""
        shake = self.pilot.shake[min(self.tick, self.pilot.shake.shape[0] - 1)]
        return blurred(measure(self.job.plant.rig, self.state.rig), self.pilot.noise, shake)

    def fly(self, ticks: int | None = None) -> None:
        """Fly so many ticks, or to the end of this chunk."""
        last = self._cursor.count
        if ticks is None:
            self._chunk(last)
            return
        so_far = self._cursor.so_far
        if self.tick + ticks < so_far[-1]:
            last = int(np.searchsorted(so_far, self.tick + ticks, side="right")) - 1
        while self._start < last and not self.trouble:
            self._chunk(last)

    def record(self) -> Record:
        """All steps flown, rows in front."""
        return jax.tree.map(lambda *parts: np.concatenate(parts), *self._pieces)

    def saved(self) -> tuple[Any, ...]:
        """All of this flight so far, for `restore`."""
        now = (self._start, self.trouble, self.state, self._remembered)
        return jax.tree.map(np.asarray, now), tuple(self._pieces), tuple(self.logs)

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Go back, or on, to what `saved` gave, of this flight or of one like it."""
        (start, trouble, state, self._remembered), pieces, logs = saved
        self.state = jax.tree.map(as_jax, state)
        self._start, self.trouble = int(start), bool(trouble)
        self._pieces, self.logs, self._limit = list(pieces), list(logs), STEPS

    def _chunk(self, last: int) -> None:
        """Fly on, to `last` at most."""
        job, plant = self.job, self.job.plant
        most = min(self._limit, last - self._start)
        steps, ticks, intervals = self._cursor.chunk(self._start, most, TICKS, INTERVALS)
        plan = part_of_plan(job.planned.plan, steps, ticks.start, intervals.start, STEPS)
        part = part_of_pilot(self.pilot, ticks, intervals, TICKS, INTERVALS)
        if self._layout is None or self._packing is None:
            self._layout = _memory_shapes(part, plant, self.state).layout
            self._packing = record_packing(plant, self.state, part)
        assert self._layout is not None and self._packing is not None
        fresh = np.asarray(self._start == 0)
        rows = np.zeros(self._layout.width, self._layout.real) if fresh else self._remembered
        memory = Packed(as_jax(rows), self._layout)
        after, memory, log, kept = _fly(plant, self.state, part, memory, fresh, plan, self._room)
        count = steps.stop - steps.start
        if int(log.trouble) == LOG_FULL and count > 1:
            self._limit = count // 2
            return
        self.state, self._remembered, self._limit = after, memory.rows, STEPS
        piece = self._packing.unpack(np.asarray(kept)[:count])[1]
        self.logs.append((steps.start, jax.tree.map(np.asarray, log)))
        self._start = steps.stop
        self.trouble = int(log.trouble) != OK or not _finite(piece)
        if self.keep:
            self._pieces.append(piece)


_memory_shapes = Shapes(Pilot.fresh)


def _fly_chunk(
    plant: Plant, state: PlantState, pilot: Pilot, memory: Packed, fresh: Any, plan: Plan, room: Log
):
    pilot = resumed(fresh, memory, pilot, plant, state)
    final, memory, log, kept = drive_packed(plant, state, pilot, plan, room)
    return final, memory, log, kept.rows


_fly = Program(_fly_chunk, lambda plant, state, pilot, memory, fresh, plan, room: (state, memory, room, 0))


def _finite(record: Record) -> bool:
    return all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(record.bodies))
