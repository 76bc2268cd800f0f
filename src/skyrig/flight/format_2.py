"""Files of format 2: arrays for every group of bodies and every signal, and a header that names them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta, Struct

from skyrig.errors import InputError
from skyrig.flight import agreement
from skyrig.flight.agreement import TRACK, WANTED, each
from skyrig.flight.flight import Flight
from skyrig.flight.records import TEAM, FlightEvent, ReferenceTrack, Signal
from skyrig.flight.rig import RigData
from skyrig.rigs.layout import Tether
from skyrig.tracks import Track
from skyrig.vehicles import Airframe, Payload
from skyrig.vehicles.shapes import FIELDS

FORMAT = 2
Name = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=40)]
"""Of a group of bodies or of tethers."""
SignalName = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_.-]*$", max_length=80)]
Unit = Annotated[str, Meta(pattern=r"^[A-Za-z0-9 /^*.%()µ°²³·-]*$", max_length=20)]
Words = Annotated[str, Meta(max_length=200)]
Count = Annotated[int, Meta(ge=0, le=1000)]
_AIRFRAME = (
    *("name", "mass", "inertia", "rotor_positions", "spin", "thrust_coefficient", "torque_coefficient"),
    *("speed_max", "speed_min", "rotor_radius", "height", "rotor_axes", "thrust_shares"),
)
_EVENTS = ("time", "kind", "owner", "index", "value", "unit", "jump")


class SignalHead(Struct, frozen=True, forbid_unknown_fields=True):
    """One signal."""

    name: SignalName
    unit: Unit
    says: Words
    owner: Words
    held: bool
    count: Count


class RigHead(Struct, frozen=True, forbid_unknown_fields=True):
    """The rig; vehicles that are alike share one airframe."""

    mechanism: Words
    words: Words
    rigid: bool
    airframes: list[dict[str, Any]]
    team: Annotated[list[Count], Meta(max_length=1000)]
    """Which of the airframes each vehicle has."""
    loads: dict[Name, list[dict[str, Any]]]
    tethers: list[Tether]
    points: list[tuple[float, float, float]]


class Header(Struct, frozen=True, forbid_unknown_fields=True):
    """All of it."""

    groups: dict[Name, Count]
    """How many bodies there are, by group, in order."""
    references: list[Name]
    measured: list[Name]
    signals: list[SignalHead]
    rig: RigHead


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
    arrays = {"header": np.asarray(_header(flight))}
    for name in ("bodies", "references", "measured", "jumps"):
        for group, part in getattr(flight, name).items():
            arrays |= {f"{name}.{group}.{own.name}": getattr(part, own.name) for own in fields(part)}
    arrays |= {f"signals.{name}": signal.values for name, signal in flight.signals.items()}
    return arrays | _event_arrays(flight.events)


def parts(arrays: Mapping[str, np.ndarray], where: str) -> dict[str, Any]:
    """Rig, bodies, references, what was measured, signals, events and jumps, by a flight's fields' names."""
    if arrays["header"].dtype.kind != "U" or arrays["header"].shape != ():
        raise agreement.odd(where, "header", "must be text")
    head = read_header(str(arrays["header"]), where)
    known = shapes(head)
    foreign = next((name for name in arrays if name not in known), None)
    if foreign is not None:
        raise agreement.odd(where, "header", f"does not name the array {foreign[:60]!r}")
    extents = agreement.check(arrays, known, where)
    rig = _rig(head, where)
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


def _values(arrays: Mapping[str, np.ndarray], signal: SignalHead) -> np.ndarray:
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


def _header(flight: Flight) -> str:
    """The header of a flight."""
    rig = flight.rig
    alike: list[Airframe] = []
    for frame in rig.airframes:
        if not any(frame is known for known in alike):
            alike.append(frame)
    head = Header(
        groups={group: it.position.shape[1] for group, it in flight.bodies.items()},
        references=list(flight.references),
        measured=list(flight.measured),
        signals=[
            SignalHead(name, it.unit, it.says, it.owner, it.held, it.count)
            for name, it in flight.signals.items()
        ],
        rig=RigHead(
            mechanism=rig.mechanism,
            words=rig.words,
            rigid=rig.rigid,
            airframes=[_plain(frame, _AIRFRAME) for frame in alike],
            team=[next(k for k, known in enumerate(alike) if known is frame) for frame in rig.airframes],
            loads={group: [_load(it) for it in them] for group, them in rig.loads.items()},
            tethers=list(rig.tethers),
            points=rig.points.tolist(),
        ),
    )
    text = msgspec.json.encode(head).decode()
    read_header(text, f"the flight {flight.name!r}")  # what is written can be read again
    return text


def read_header(text: str, where: str) -> Header:
    """A file's header, or an `InputError` that says what no flight has."""
    try:
        head = msgspec.json.decode(text, type=Header)
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError) as error:
        raise agreement.odd(where, "header", f"cannot be: {str(error)[:80]}") from None
    known, rig = head.groups, head.rig
    if TEAM not in known or len(rig.team) != known[TEAM]:
        wanted = known.get(TEAM, 0)
        raise agreement.odd(where, "header", f"must give a frame to each of its {wanted} vehicles")
    for group, them in rig.loads.items():
        if known.get(group) != len(them) or group == TEAM:
            raise agreement.odd(where, "header", f"must have as many bodies as loads in group {group}")
    for group in (*head.references, *head.measured):
        if group not in known:
            raise agreement.odd(where, "header", f"names the group {group}, but there is none")
    for tether in rig.tethers:
        for end in (tether.start, tether.end):
            if not 0 <= end.index < known.get(end.group, 0):
                raise agreement.odd(where, "header", "has a tether that ends at a body that is not there")
    return head


def _rig(head: Header, where: str) -> RigData:
    """The rig that a header tells of."""
    rig = head.rig
    try:
        frames = [Airframe.from_dict(it) for it in rig.airframes]
        return RigData(
            mechanism=rig.mechanism,
            words=rig.words,
            airframes=tuple(frames[k] for k in rig.team),
            loads={group: tuple(map(Payload.from_dict, them)) for group, them in rig.loads.items()},
            tethers=tuple(rig.tethers),
            points=np.asarray(rig.points, dtype=np.float64).reshape(-1, 3),
            rigid=rig.rigid,
        )
    except (InputError, IndexError) as error:
        raise agreement.odd(where, "header", f"tells of no rig: {str(error)[:80].rstrip('.')}") from None


def _load(load: Payload) -> dict[str, Any]:
    made_of = ("kind", *FIELDS[load.shape.kind])
    return _plain(load, ("name", "mass", "inertia")) | {"shape": _plain(load.shape, made_of)}


def _plain(thing: Any, names: Sequence[str]) -> dict[str, Any]:
    """Those of a thing's attributes that it has, as JSON holds them."""
    found: Mapping[str, Any] = {name: getattr(thing, name, None) for name in names}
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in found.items()
        if value is not None
    }
