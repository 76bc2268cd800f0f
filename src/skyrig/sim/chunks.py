"""A flight cut into chunks of a fixed size, so that any flight runs the same compiled code."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import numpy as np

from skyrig.algebra import as_jax
from skyrig.sim.pilot import Pilot
from skyrig.sim.schedule import Plan, Schedule


class Cursor:
    """Where chunks begin and end."""

    def __init__(self, planned: Schedule) -> None:
        self.count = len(planned.times)
        tick = np.asarray(planned.plan.tick)[: self.count]
        self.hold = np.asarray(planned.plan.hold)[: self.count]
        self.so_far = np.concatenate([[0], np.cumsum(tick >= 0)])

    def chunk(self, start: int, steps: int, ticks: int, intervals: int) -> tuple[slice, slice, slice]:
        """Rows of steps, ticks and intervals of the chunk from `start` on with at most so many of each."""
        hold, so_far = self.hold, self.so_far
        stop = min(start + steps, self.count)
        stop = min(stop, int(np.searchsorted(so_far, so_far[start] + ticks, side="right")) - 1)
        stop = min(stop, int(np.searchsorted(hold, hold[start] + intervals)))
        held = slice(int(hold[start]), int(hold[stop - 1]) + 1)
        return slice(start, stop), slice(int(so_far[start]), int(so_far[stop])), held


def part_of_plan(plan: Plan, rows: slice, first_tick: int, first_interval: int, room: int) -> Plan:
    """A chunk's steps, padded to `room`."""

    def cut(leaf: Any, base: int, blank: float) -> Any:
        own = np.asarray(leaf)[rows]
        own = np.where(own >= 0, own - base, own) if base else own
        whole = np.concatenate([own, np.full(room - len(own), blank, own.dtype)])
        return as_jax(whole.astype(own.dtype))

    return Plan(
        time=cut(plan.time, 0, 0),
        dt=cut(plan.dt, 0, -1),
        hold=cut(plan.hold, first_interval, 0),
        act=cut(plan.act, 0, -1),
        tick=cut(plan.tick, first_tick, -1),
        acts=plan.acts,
    )


def part_of_pilot(
    pilot: Pilot, ticks: slice, intervals: slice, most_ticks: int, most_intervals: int
) -> Pilot:
    """A pilot with one chunk's targets and surroundings, padded by their last."""

    def cut(leaf: Any, rows: slice, room: int, axis: int) -> Any:
        index = np.minimum(rows.start + np.arange(room), leaf.shape[axis] - 1)
        return np.take(np.asarray(leaf), index, axis)

    def of_ticks(leaf: Any) -> Any:
        return cut(leaf, ticks, most_ticks, 0)

    return eqx.tree_at(
        lambda it: (it.target, it.times, it.shake, it.around),
        pilot,
        (
            jax.tree.map(of_ticks, pilot.target),
            of_ticks(pilot.times),
            of_ticks(pilot.shake),
            jax.tree.map(lambda leaf: cut(leaf, intervals, most_intervals, -1), pilot.around),
        ),
    )
