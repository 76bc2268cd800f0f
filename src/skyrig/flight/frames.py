"""Frames: what there is to be drawn, of a rig in flight or of a recorded flight, times first and xyz last."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from skyrig.brief import brief
from skyrig.flight.flight import Flight

Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Frames:
    """T moments of a rig of n vehicles."""

    times: Reals
    """(T,) s."""
    payload_position: Reals
    """(T, 3) m."""
    payload_attitude: Reals
    """(T, 4) quaternion wxyz, body to world."""
    vehicle_position: Reals
    """(T, n, 3) m."""
    vehicle_attitude: Reals
    """(T, n, 4)."""
    tension: Reals
    """(T, cables) N; no columns where links hold the vehicles."""
    taut: npt.NDArray[np.bool_]
    """(T, cables)."""
    length: Reals
    """(T, cables) free lengths (m)."""
    thrust: Reals
    """(T, n) N."""
    wanted_position: Reals | None = None
    """(T, 3) of the payload (m); None where nobody says where it shall be."""
    wanted_attitude: Reals | None = None
    """(T, 4)."""

    __repr__ = brief

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, rows: Any) -> Frames:
        """Some of the moments, by a slice or an array of rows."""
        return Frames(*(_rows(part, rows) for part in self.parts))

    @property
    def parts(self) -> tuple[Any, ...]:
        """Every array, in the order of the fields."""
        return tuple(getattr(self, each.name) for each in fields(self))

    @property
    def error(self) -> Reals:
        """(T,) distance of the payload from where it shall be (m); NaN where nobody says."""
        if self.wanted_position is None:
            return np.full(len(self.times), np.nan)
        return np.linalg.norm(self.payload_position - self.wanted_position, axis=1)

    def at(self, time: float) -> Frames:
        """The latest moment that is not after `time`, or the first."""
        row = max(int(np.searchsorted(self.times, time + 1e-9, side="right")) - 1, 0)
        return self[row : row + 1]


def _rows(part: Any, rows: Any) -> Any:
    return None if part is None else part[rows]


def joined(parts: list[Frames]) -> Frames:
    """One after the other."""
    columns = zip(*(part.parts for part in parts), strict=True)
    whole: list[Any] = [None if each[0] is None else np.concatenate(each) for each in columns]
    return Frames(*whole)


def of_flight(flight: Flight, rate: float = 60.0) -> Frames:
    """A flight's frames, at most `rate` of them a second."""
    step = 1 / rate
    wanted = np.arange(flight.times[0], flight.times[-1] + step, step)
    rows = np.unique(np.clip(np.searchsorted(flight.times, wanted - 1e-9), 0, len(flight.times) - 1))
    return of_rows(flight, rows)


def of_rows(flight: Flight, rows: npt.NDArray[np.integer]) -> Frames:
    """The frames of some of a flight's samples, by their rows."""
    times = flight.times[rows]
    held = np.clip(np.searchsorted(flight.inputs.times, times + 1e-9, side="right") - 1, 0, None)
    aim = flight.reference
    return Frames(
        times=times,
        payload_position=flight.payload.position[rows],
        payload_attitude=flight.payload.attitude[rows],
        vehicle_position=flight.vehicles.position[rows],
        vehicle_attitude=flight.vehicles.attitude[rows],
        tension=flight.cables.tension[rows],
        taut=flight.cables.taut[rows],
        length=flight.cables.length[rows],
        thrust=flight.inputs.thrust[held],
        wanted_position=None if aim is None else aim.position[rows],
        wanted_attitude=None if aim is None else aim.attitude[rows],
    )
