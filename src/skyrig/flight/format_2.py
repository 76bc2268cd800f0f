"""Files of format 2: arrays for every group of bodies and every signal, and a header that names them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from skyrig.flight import agreement, header
from skyrig.flight.agreement import TRACK, WANTED, each
from skyrig.flight.flight import Flight
from skyrig.flight.header import Header
from skyrig.flight.records import TEAM, FlightEvent, ReferenceTrack, Signal
from skyrig.tracks import Track

FORMAT = 2
_EVENTS = ("time", "kind", "owner", "index", "value", "unit", "jump")


def shapes(head: Header) -> dict[str, str]:
    """What each array of a file with this header is like, first those that the others are measured by.

    T times, K times of the inputs, e events, w most values of one, i impacts, j jumps with both sides kept.
    """
    found = {**agreement.COMMON, "header": ""}
    for group, count in head.groups.items():
        found |= each(f"bodies.{group}", f"T {count}", TRACK)
        found |= each(f"jumps.{group}", f"j 2 {count}", TRACK)
    for group in head.references:
        found |= each(f"references.{group}", f"T {head.groups[group]}", WANTED)
    found |= agreement.inputs(str(head.groups[TEAM]))
    for group in head.measured:
        found |= each(f"measured.{group}", f"K {head.groups[group]}", TRACK)
    for signal in head.signals:
        found[f"signals.{signal.name}"] = f"{'K' if signal.held else 'T'} {signal.count}"
    found |= each("events", "e", dict.fromkeys(_EVENTS, ""))
    return found | {"events.values": "e w"} | agreement.IMPACTS


def to_arrays(flight: Flight) -> dict[str, np.ndarray]:
    """Header, bodies, references, what was measured, signals, events and jumps by name."""
    arrays = {"header": np.asarray(header.written(flight))}
    for name in ("bodies", "references", "measured", "jumps"):
        for group, part in getattr(flight, name).items():
            arrays |= {f"{name}.{group}.{own.name}": getattr(part, own.name) for own in fields(part)}
    arrays |= {f"signals.{name}": signal.values for name, signal in flight.signals.items()}
    return arrays | _event_arrays(flight.events)


def parts(arrays: Mapping[str, np.ndarray], where: str) -> dict[str, Any]:
    """Rig, bodies, references, what was measured, signals, events and jumps, by a flight's fields' names."""
    if arrays["header"].dtype.kind != "U" or arrays["header"].shape != ():
        raise agreement.odd(where, "header", "must be text")
    head = header.read(str(arrays["header"]), where)
    known = shapes(head)
    foreign = next((name for name in arrays if name not in known), None)
    if foreign is not None:
        raise agreement.odd(where, "header", f"does not name the array {foreign[:60]!r}")
    extents = agreement.check(arrays, known, where)
    rig = header.rig_of(head, where)
    agreement.check_indices(
        arrays, "impacts.cable", "cable", sum(it.name == "cable" for it in rig.tethers), where
    )
    agreement.check_indices(arrays, "events.jump", "jump", extents.get("j", 0), where)
    _check_owners(arrays, head, where)
    jumps = head.groups if extents.get("j") else ()
    return {
        "rig": rig,
        "bodies": {group: _group(arrays, f"bodies.{group}", Track) for group in head.groups},
        "references": {
            group: _group(arrays, f"references.{group}", ReferenceTrack) for group in head.references
        },
        "measured": {group: _group(arrays, f"measured.{group}", Track) for group in head.measured},
        "signals": {
            it.name: Signal(_values(arrays, it), it.unit, it.says, it.owner, it.held) for it in head.signals
        },
        "events": tuple(_events(arrays)),
        "jumps": {group: _group(arrays, f"jumps.{group}", Track) for group in jumps},
    }


def _check_owners(arrays: Mapping[str, np.ndarray], head: Header, where: str) -> None:
    """Whether events happened to bodies and tethers that are there; other owners are not counted."""
    count = Counter(tether.name for tether in head.rig.tethers) | Counter(head.groups)
    for owner, index in zip(arrays["events.owner"], arrays["events.index"], strict=True):
        if owner in count and index >= count[owner]:
            name = str(owner).removesuffix("s")
            raise agreement.odd(where, "events.index", f"names {name} {index}, but there are {count[owner]}")


def _group(arrays: Mapping[str, np.ndarray], name: str, kind: type) -> Any:
    return kind(**{own.name: arrays[f"{name}.{own.name}"] for own in fields(kind)})


def _values(arrays: Mapping[str, np.ndarray], signal: header.SignalHead) -> np.ndarray:
    values = arrays[f"signals.{signal.name}"]
    return values if signal.unit else values.astype(bool, copy=False)


def _event_arrays(events: tuple[FlightEvent, ...]) -> dict[str, np.ndarray]:
    """One array a field; -1 for nobody in particular and for no jump, NaN where there are no more values."""
    kinds = dict(zip(_EVENTS, (float, str, str, int, float, str, int), strict=True))
    arrays = {}
    for name, kind in kinds.items():
        column = [getattr(event, name) for event in events]
        arrays[f"events.{name}"] = np.asarray([-1 if it is None else it for it in column], dtype=kind)
    wide = max((len(event.values) for event in events), default=0)
    values = np.full((len(events), wide), np.nan)
    for row, event in zip(values, events, strict=True):
        row[: len(event.values)] = event.values
    return arrays | {"events.values": values}


def _events(arrays: Mapping[str, np.ndarray]) -> list[FlightEvent]:
    columns = [arrays[f"events.{name}"].tolist() for name in (*_EVENTS, "values")]
    return [
        FlightEvent(
            time=float(time),
            kind=kind,
            owner=owner,
            index=None if index < 0 else int(index),
            value=float(value),
            unit=unit,
            values=tuple(it for it in values if it == it),  # NaN fills up rows
            jump=None if jump < 0 else int(jump),
        )
        for time, kind, owner, index, value, unit, jump, values in zip(*columns, strict=True)
    ]
