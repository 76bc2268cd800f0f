"""The steps of a short piece of a live flight: the same times at which a whole flight would have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from skyrig.errors import InputError
from skyrig.rigs.protocol import Rig
from skyrig.sim.schedule import Acts, Cut, Poke

Numbers = npt.NDArray[np.float64]
ACTS = 16
"""Room for pokes and cuts in a chunk."""


def step_times(ticks: Numbers, step: float, marks: Numbers) -> tuple[Any, Any]:
    """Times at which steps begin and the last one ends (s), and which of them are ticks.

    Args:
        ticks: (K + 1,) when the controller acts, and when the chunk ends (s).
        step: Longest step (s); steps lie on its multiples.
        marks: Other times at which a step must begin, in the chunk or not (s).
    """
    near = 1e-6 * step
    first, last = int(np.floor(ticks[0] / step)), int(np.ceil(ticks[-1] / step))
    fixed = np.concatenate([ticks, marks])
    fixed = np.sort(fixed[(fixed >= ticks[0] - near) & (fixed <= ticks[-1] + near)])
    fixed = fixed[np.concatenate([[True], np.diff(fixed) > near])]
    grid = step * np.arange(first, last + 1)
    grid = grid[(grid > ticks[0]) & (grid < ticks[-1])]
    after = np.searchsorted(fixed, grid)
    nearest = np.minimum(np.abs(grid - fixed[after - 1]), np.abs(fixed[after] - grid))
    times = np.sort(np.concatenate([fixed, grid[nearest > near]]))
    return times, np.searchsorted(times, ticks[:-1] - near)


def plan_of(times: Numbers, ticks: Any, happen: Sequence[Poke | Cut], rig: Rig, room: int) -> dict[str, Any]:
    """The fields of a `Plan` but `hold`, padded to `room` steps.

    Args:
        times: When steps begin and the last one ends (s).
        ticks: Which steps begin with a tick.
        happen: Pokes and cuts in the chunk.
        rig: What is flown.
        room: Steps that fit.
    """
    count = len(times) - 1
    dt = np.full(room, -1.0)
    dt[:count] = np.diff(times)
    tick, act = np.full(room, -1, np.int32), np.full(room, -1, np.int32)
    tick[ticks] = np.arange(len(ticks))
    time = np.full(room, times[-1])
    time[:count] = times[:-1]
    acts = Acts.blank(rig, ACTS, [it.group for it in happen if isinstance(it, Poke)])
    rows: dict[int, int] = {}
    for it in happen:
        step = int(np.argmin(np.abs(times[:-1] - it.time)))
        row = rows.setdefault(step, len(rows))
        if row >= ACTS:
            raise InputError(f"At most {ACTS} pokes and cuts can happen within {times[-1] - times[0]:g} s.")
        act[step] = row
        acts.put(row, it, rig)
    return {"time": time, "dt": dt, "act": act, "tick": tick, "acts": acts}
