"""Frames: what there is to be drawn, of a rig in flight or of a recorded flight, times first and xyz last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from skyrig.brief import brief
from skyrig.catenary import hanging
from skyrig.flight.flight import Flight
from skyrig.flight.records import PAYLOAD, TEAM, ordered, people
from skyrig.flight.rig import RigData
from skyrig.rigs.layout import End
from skyrig.turns import point_at

Reals = npt.NDArray[np.float64]


CABLE_UNITS = {"cable.tension": "N", "cable.length": "m", "cable.taut": ""}
"""Of the signals that cables have."""


class Poses(NamedTuple):
    """Where the k bodies of a group are at T moments."""

    position: Reals
    """(T, k, 3) m."""
    attitude: Reals
    """(T, k, 4) quaternion wxyz, body to world."""


class TetherLine(NamedTuple):
    """A tether at one moment."""

    start: Reals
    """(3,) m."""
    end: Reals
    """(3,) m; of a cut one where it hangs to."""
    taut: bool
    """Whether it is drawn straight and in its colour; one that nobody tells of is."""
    tension: float
    """N; NaN where nobody knows."""
    length: float
    """Free length (m); NaN where nobody knows."""
    nodes: Reals = np.zeros((0, 3))
    """(m, 3) points it runs through between its ends (m); none where nobody says."""
    cut: bool = False

    @property
    def pieces(self) -> list[Reals]:
        """What is drawn of it, each (p, 3) points (m): one line, or two of a cable that was cut."""
        if not len(self.nodes):
            return [
                hanging(self.start, self.end, self.length) if self.sags else np.stack([self.start, self.end])
            ]
        points = self.course
        if not self.cut:
            return [points]
        gap = int(np.argmax(np.linalg.norm(np.diff(points, axis=0), axis=1)))
        return [piece for piece in (points[: gap + 1], points[gap + 1 :]) if len(piece) > 1]

    @property
    def course(self) -> Reals:
        """(p, 3) all points it runs through, ends included (m)."""
        return np.concatenate([self.start[None], self.nodes, self.end[None]])

    @property
    def sags(self) -> bool:
        """Whether it hangs in a curve of known length."""
        return not self.taut and bool(np.isfinite(self.length))


@dataclass(frozen=True, eq=False)
class Frames:
    """T moments of a rig of n vehicles."""

    times: Reals
    """(T,) s."""
    bodies: Mapping[str, Poses]
    """By group: 'vehicles', and 'payload' or what the rig has instead."""
    thrust: Reals
    """(T, n) N."""
    signals: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    """By name, (T, count), in the rig's units."""
    wanted: Mapping[str, Poses] = field(default_factory=dict)
    """Where what is carried shall be, by its group; empty where nobody says."""
    units: Mapping[str, str] = field(default_factory=dict)
    """Of the signals, by name."""

    __repr__ = brief

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, rows: Any) -> Frames:
        """Some of the moments, by a slice or an array of rows."""
        return from_parts({name: part[rows] for name, part in self.parts.items()}, self.units)

    @property
    def parts(self) -> dict[str, npt.NDArray[Any]]:
        """Every array by name, T first: what `from_parts` puts together."""
        found: dict[str, npt.NDArray[Any]] = {"times": self.times, "thrust": self.thrust}
        for name, groups in (("bodies", self.bodies), ("wanted", self.wanted)):
            for group, poses in groups.items():
                found[f"{name}/{group}/position"], found[f"{name}/{group}/attitude"] = poses
        return found | {f"signals/{name}": values for name, values in self.signals.items()}

    @property
    def main(self) -> str:
        """The group whose first body is followed and told of: what is carried, else the vehicles."""
        return next(iter(self.wanted), ordered(self.bodies)[0])

    @property
    def main_name(self) -> str:
        """What that body is called."""
        return people(self.main, 0, self.bodies[self.main].position.shape[1])

    @property
    def place(self) -> Reals:
        """(T, 3) where that body is (m)."""
        return self.bodies[self.main].position[:, 0]

    @property
    def wanted_position(self) -> Reals | None:
        """(T, 3) where it shall be (m); None where nobody says."""
        return self.wanted[self.main].position[:, 0] if self.main in self.wanted else None

    @property
    def wanted_attitude(self) -> Reals | None:
        """(T, 4) how it shall be turned."""
        return self.wanted[self.main].attitude[:, 0] if self.main in self.wanted else None

    @property
    def error(self) -> Reals:
        """(T,) its distance from where it shall be (m); NaN where nobody says."""
        if self.wanted_position is None:
            return np.full(len(self.times), np.nan)
        return np.linalg.norm(self.place - self.wanted_position, axis=1)

    def at(self, time: float) -> Frames:
        """The latest moment that is not after `time`, or the first."""
        row = max(int(np.searchsorted(self.times, time + 1e-9, side="right")) - 1, 0)
        return self[row : row + 1]

    def end(self, end: End, row: int = 0) -> Reals:
        """Where a point of a body is at a moment, (3,) (m)."""
        group = self.bodies[end.group]
        return point_at(group.position[row, end.index], group.attitude[row, end.index], np.asarray(end.point))

    def tethers(self, rig: RigData, cut: Any = (), row: int = 0) -> list[TetherLine]:
        """Every tether of a rig at a moment; those in `cut` hang down from where they begin."""
        found = []
        for j, (tether, k) in enumerate(zip(rig.tethers, rig.columns, strict=True)):
            tension, length = (
                self._signal(f"{tether.name}.{what}", k, row, np.nan) for what in ("tension", "length")
            )
            start, end = self.end(tether.start, row), self.end(tether.end, row)
            nodes = self.nodes(rig, j)[row]
            if j in cut and not len(nodes):
                end = start - [0.0, 0.0, length if np.isfinite(length) else 0.0]
            taut = j not in cut and bool(self._signal(f"{tether.name}.taut", k, row, 1.0))
            known = length if j not in cut else np.nan
            found.append(TetherLine(start, end, taut, tension, known, nodes, j in cut))
        return found

    def nodes(self, rig: RigData, number: int) -> Reals:
        """(T, m, 3) points that a tether runs through between its ends (m); m is 0 where nobody says."""
        tether = rig.tethers[number]
        told = self.signals.get(f"{tether.name}.nodes")
        many = sum(it.name == tether.name for it in rig.tethers)
        if told is None or told.shape[1] % (3 * many) or not np.isfinite(told).all():
            return np.zeros((len(self), 0, 3))
        return told.reshape(len(self), many, -1, 3)[:, rig.columns[number]]

    def vectors(self) -> dict[str, Reals]:
        """Signals that are vectors at all bodies, (T, bodies, 3), by name: NAME.x, NAME.y and NAME.z."""
        count = sum(it.position.shape[1] for it in self.bodies.values())
        found = {}
        for name in (it.removesuffix(".x") for it in self.signals if it.endswith(".x")):
            parts = [self.signals.get(f"{name}.{axis}") for axis in "xyz"]
            known = [part for part in parts if part is not None and part.shape[1] == count]
            if len(known) == 3:
                found[name] = np.stack(known, axis=-1)
        return found

    def _signal(self, name: str, column: int, row: int, otherwise: float) -> float:
        values = self.signals.get(name)
        there = values is not None and column < values.shape[1]
        return float(values[row, column]) if values is not None and there else otherwise


def from_parts(parts: Mapping[str, npt.NDArray[Any]], units: Mapping[str, str]) -> Frames:
    """The frames that `Frames.parts` took apart, with the units of their signals."""
    groups: dict[str, dict[str, Poses]] = {"bodies": {}, "wanted": {}}
    signals = {}
    for name, part in parts.items():
        kind, _, rest = name.partition("/")
        if kind == "signals":
            signals[rest] = part
        elif rest.endswith("/position"):
            group = rest.removesuffix("/position")
            groups[kind][group] = Poses(part, parts[f"{kind}/{group}/attitude"])
    return Frames(parts["times"], groups["bodies"], parts["thrust"], signals, groups["wanted"], units)


def of_payload(
    times: Reals,
    payload: tuple[Reals, Reals],
    vehicles: tuple[Reals, Reals],
    thrust: Reals,
    signals: Mapping[str, npt.NDArray[Any]] | None = None,
) -> Frames:
    """Frames of a team and its one payload: position (T, 3) and attitude (T, 4), of vehicles (T, n, ...)."""
    one = Poses(payload[0][:, None], payload[1][:, None])
    known = {name: CABLE_UNITS.get(name, "1") for name in signals or {}}
    return Frames(times, {PAYLOAD: one, TEAM: Poses(*vehicles)}, thrust, signals or {}, units=known)


def of_flight(flight: Flight, rate: float = 60.0) -> Frames:
    """A flight's frames, at most `rate` of them a second."""
    step = 1 / rate
    wanted = np.arange(flight.times[0], flight.times[-1] + step, step)
    rows = np.unique(np.clip(np.searchsorted(flight.times, wanted - 1e-9), 0, len(flight.times) - 1))
    return of_rows(flight, rows)


def of_rows(flight: Flight, rows: npt.NDArray[np.integer]) -> Frames:
    """The frames of some of a flight's samples, by their rows."""
    times, inputs = flight.times[rows], flight.inputs
    held = inputs.rows(times)
    still = np.zeros((len(times), flight.rig.count))
    return Frames(
        times=times,
        bodies={group: Poses(it.position[rows], it.attitude[rows]) for group, it in flight.bodies.items()},
        thrust=inputs.thrust[held] if len(inputs.times) else still,
        signals={name: it.values[rows] for name, it in flight.signals.items() if not it.held},
        wanted={
            group: Poses(it.position[rows], it.attitude[rows])
            for group, it in flight.references.items()
            if group == flight.rig.carried
        },
        units={name: it.unit for name, it in flight.signals.items() if not it.held},
    )
