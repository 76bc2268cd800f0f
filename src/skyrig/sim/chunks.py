"""A flight cut into chunks of a fixed size, so that any flight runs the same compiled code."""

from __future__ import annotations

import numpy as np

from skyrig.sim.schedule import Schedule


class Cursor:
    """Where chunks begin and end."""

    def __init__(self, planned: Schedule) -> None:
        self.count = len(planned.times)
        tick = np.asarray(planned.plan.tick)[: self.count]
        self.hold = np.asarray(planned.plan.hold)[: self.count]
        self.so_far = np.concatenate([[0], np.cumsum(tick >= 0)])

    def row_of(self, tick: int) -> int:
        """The step with which a tick begins."""
        return 0 if tick == 0 else int(np.searchsorted(self.so_far, tick, side="right")) - 1

    def chunk(self, start: int, steps: int, ticks: int, intervals: int) -> tuple[slice, slice, slice]:
        """Rows of steps, ticks and intervals of the chunk from `start` on with at most so many of each."""
        hold, so_far = self.hold, self.so_far
        stop = min(start + steps, self.count)
        stop = min(stop, int(np.searchsorted(so_far, so_far[start] + ticks, side="right")) - 1)
        stop = min(stop, int(np.searchsorted(hold, hold[start] + intervals)))
        held = slice(int(hold[start]), int(hold[stop - 1]) + 1)
        return slice(start, stop), slice(int(so_far[start]), int(so_far[stop])), held
