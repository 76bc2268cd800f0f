"""A flight put together from what flying gave."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

import skyrig
from skyrig.flight.flight import Flight, FlightEvent, Inputs, ReferenceTrack, Signal, Track
from skyrig.flight.impacts import MOST, impacts
from skyrig.flight.records import TEAM, ordered
from skyrig.flight.rig import rig_data
from skyrig.planning import Reference
from skyrig.runs.sensed import sensed

if TYPE_CHECKING:
    from skyrig.rigs.layout import Layout, SignalKind
    from skyrig.scenario.build import Built

__all__ = ["assemble", "rig_data", "track", "versions"]


def assemble(
    built: Built,
    flown: Any,
    inputs: Inputs,
    measured: Mapping[str, Any] | None = None,
    own: Mapping[str, Any] | None = None,
    units: Mapping[str, str] | None = None,
) -> Flight:
    """A flight without metrics from what flying gave.

    Args:
        built: What was flown.
        flown: A `skyrig.sim.recorded.Recorded`: times, bodies and signals by name, events and a log, which
            kept both sides of every reset if impacts are to be told.
        inputs: What was asked for and produced.
        measured: What the controller was told, by group, at the times of `inputs`.
        own: What the controller says of itself, by name, (K, k) at the times of `inputs`.
        units: Of what it says; '1' where it does not tell.
    """
    times = np.asarray(flown.times, dtype=np.float64)
    layout, rig = built.rig.layout, rig_data(built.scenario.parts)
    wanted = {rig.carried or TEAM: [built.reference]} if built.reference is not None else {}
    if built.vehicle_references is not None:
        wanted[TEAM] = list(built.vehicle_references)
    rows = _kept(layout, flown)
    flight = Flight(
        name=built.scenario.name,
        times=times,
        bodies={group: track(flown.bodies[group]) for group in ordered(flown.bodies)},
        inputs=inputs,
        rig=rig,
        references={group: sampled(each, times) for group, each in wanted.items()},
        measured={group: track(measured[group]) for group in ordered(measured)} if measured else {},
        signals=_signals(built.signal_kinds, flown.signals, own or {}, units or {})
        | sensed(built, flown, inputs.times),
        events=_with_elements(built, flown, _events(layout, flown.events, rows)),
        jumps=_jumps(flown.log.sides, rows),
        scenario=built.scenario.to_yaml(),
        versions=versions(),
    )
    return replace(flight, impacts=impacts(flight))


def track(bodies: Any) -> Track:
    """A `Track` of anything with position, velocity, attitude and rate, times first and xyz last."""
    return Track(*(np.asarray(leaf) for leaf in _leaves(bodies)))


def sampled(references: Sequence[Reference], times: np.ndarray) -> ReferenceTrack:
    """References of the bodies of a group at `times`, (T, k, 3)."""
    samples = [reference.sample(times) for reference in references]
    columns: list[Callable[[Any], Any]] = [
        lambda sample: sample.position[:, 0],
        lambda sample: sample.position[:, 1],
        lambda sample: sample.position[:, 2],
        lambda sample: sample.attitude,
        lambda sample: sample.rate[:, 0],
    ]
    return ReferenceTrack(*(np.stack([column(each) for each in samples], axis=1) for column in columns))


def flight_events(layout: Layout, events: Sequence[Any]) -> list[FlightEvent]:
    """A simulation's events as a flight keeps them, without what they jumped from and to."""
    units = {"poke": "N s"} | {kind.name: kind.unit for kind in layout.events}
    return [
        FlightEvent(it.time, it.kind, it.owner, it.index, it.value, units.get(it.kind, ""), it.values)
        for it in events
    ]


def _events(layout: Layout, events: Sequence[Any], rows: list[int]) -> tuple[FlightEvent, ...]:
    place = {row: k for k, row in enumerate(rows)}
    pairs = zip(flight_events(layout, events), events, strict=True)
    return tuple(replace(made, jump=place[it.row]) if it.row in place else made for made, it in pairs)


def _with_elements(built: Built, flown: Any, events: tuple[FlightEvent, ...]) -> tuple[FlightEvent, ...]:
    """All events in order of time, those that elements and the rig tell among them."""
    times, layout = np.asarray(flown.times), built.rig.layout
    found = list(built.rig.happened(times, flown.signals)) + [
        it for element in built.elements.values() for it in element.happened(times, flown.signals, layout)
    ]
    if not found:
        return events
    more = [FlightEvent(it.time, it.kind, it.group, it.index, it.value, it.unit) for it in found]
    return tuple(sorted((*events, *more), key=lambda it: it.time))


def _kept(layout: Layout, flown: Any) -> list[int]:
    """Rows of the log whose two sides are kept: those with the largest numbers, in order of time."""
    if flown.log.sides is None:
        return []
    telling = {kind.name for kind in layout.events if kind.unit}
    found = [it for it in flown.events if it.kind in telling and it.row >= 0]
    return sorted({it.row for it in sorted(found, key=lambda it: -abs(it.value))[:MOST]})


def _jumps(sides: Any, rows: list[int]) -> dict[str, Track]:
    """Bodies before and after, (J, 2, k, 3), of rows of a log, (rows, 3, k)."""
    if not rows:
        return {}
    both = (sides.before, sides.after)
    return {
        group: Track(
            *(
                np.stack([np.asarray(leaf)[rows].swapaxes(1, 2) for leaf in pair], axis=1)
                for pair in zip(*(_leaves(side[group]) for side in both), strict=True)
            )
        )
        for group in ordered(sides.before)
    }


def _leaves(bodies: Any) -> list[Any]:
    return [getattr(bodies, name) for name in ("position", "velocity", "attitude", "rate")]


def _signals(
    kinds: Iterable[SignalKind], rig: Mapping[str, Any], own: Mapping[str, Any], units: Mapping[str, str]
) -> dict[str, Signal]:
    found = {
        kind.name: Signal(_column(rig[kind.name], kind.unit), kind.unit, kind.says, kind.owner)
        for kind in kinds
        if kind.name in rig
    }
    for name, values in own.items():
        column = np.asarray(values).reshape(len(values), -1)
        unit = "" if column.dtype == bool else units.get(name, "1")
        found.setdefault(name, Signal(column, unit, "told by the controller", "controller", held=True))
    return found


def _column(values: Any, unit: str) -> np.ndarray:
    return np.asarray(values, dtype=bool) if unit == "" else np.asarray(values)


def versions() -> dict[str, str]:
    """What computed a flight."""
    found = {"skyrig": skyrig.__version__, "python": platform.python_version()}
    for package in ("jax", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
