"""What was flown lately, in memory of a fixed size."""

from __future__ import annotations

import numpy as np

from skyrig.flight.frames import Frames, from_parts

CAPACITY = 6000
"""Frames kept: two minutes at 50 a second."""
SPACING = 0.02
"""Least time between frames that are kept (s)."""


class History:
    """The latest frames of a flight that goes on; whoever uses it from several threads holds a lock."""

    def __init__(self, first: Frames, capacity: int = CAPACITY, spacing: float = SPACING) -> None:
        self._rows = {name: _room(part, 2 * capacity) for name, part in first.parts.items()}
        self._capacity, self._spacing, self._units = capacity, spacing, first.units
        self._begin = self._end = 0
        self.append(first)

    def append(self, frames: Frames) -> None:
        """Keep those of `frames` that are far enough from the last one kept."""
        due = self._times[self._end - 1] + self._spacing - 1e-9 if self._end else -np.inf
        parts = frames.parts
        for row in range(len(frames)):
            if frames.times[row] < due:
                continue
            if self._end == 2 * self._capacity:  # the later half moves to the front
                for rows in self._rows.values():
                    rows[: self._capacity] = rows[self._capacity :]
                self._begin, self._end = 0, self._capacity
            for name, part in parts.items():
                if name in self._rows:
                    self._rows[name][self._end] = part[row]
            self._end += 1
            self._begin = max(self._begin, self._end - self._capacity)
            due = frames.times[row] + self._spacing - 1e-9

    def forget_after(self, time: float) -> None:
        """Forget the frames later than `time` (s), but for the first there is."""
        later = int(np.searchsorted(self._times[self._begin : self._end], time + 1e-9, side="right"))
        self._end = self._begin + max(later, 1)

    @property
    def _times(self) -> np.ndarray:
        return self._rows["times"]

    @property
    def span(self) -> tuple[float, float]:
        """From when to when there are frames (s)."""
        return float(self._times[self._begin]), float(self._times[self._end - 1])

    def frames(self, since: float = -np.inf, until: float = np.inf, most: int | None = None) -> Frames:
        """A copy of the frames from `since` to `until` (s), thinned out to `most`; at least one."""
        times = self._times[self._begin : self._end]
        first = int(np.searchsorted(times, since - 1e-9))
        last = int(np.searchsorted(times, until + 1e-9, side="right"))
        last = max(last, 1)
        first = min(first, last - 1)
        stride = 1 if most is None else max(-(-(last - first) // most), 1)
        # counted from the end, so that the latest is always there
        rows = np.arange(last - 1, first - 1, -stride)[::-1] + self._begin
        return from_parts({name: part[rows] for name, part in self._rows.items()}, self._units)


def _room(part: np.ndarray, rows: int) -> np.ndarray:
    return np.zeros((rows, *part.shape[1:]), part.dtype)
