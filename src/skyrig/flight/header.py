"""What a flight file says of its own arrays, as JSON: groups of bodies, signals, and the rig."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta, Struct

from skyrig.errors import InputError
from skyrig.flight.agreement import odd
from skyrig.flight.flight import Flight
from skyrig.flight.records import TEAM
from skyrig.flight.rig import RigData
from skyrig.rigs.layout import Tether
from skyrig.vehicles import Airframe, Payload

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
_SHAPE = ("kind", "radius", "size", "outline", "height")


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


def written(flight: Flight) -> str:
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
    read(text, f"the flight {flight.name!r}")  # what is written can be read again
    return text


def read(text: str, where: str) -> Header:
    """A file's header, or an `InputError` that says what no flight has."""
    try:
        head = msgspec.json.decode(text, type=Header)
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError) as error:
        raise odd(where, "header", f"cannot be: {str(error)[:80]}") from None
    known, rig = head.groups, head.rig
    if TEAM not in known or len(rig.team) != known[TEAM]:
        raise odd(where, "header", f"must give a frame to each of its {known.get(TEAM, 0)} vehicles")
    for group, them in rig.loads.items():
        if known.get(group) != len(them) or group == TEAM:
            raise odd(where, "header", f"must have as many bodies as loads in group {group}")
    for group in (*head.references, *head.measured):
        if group not in known:
            raise odd(where, "header", f"names the group {group}, but there is none")
    for tether in rig.tethers:
        for end in (tether.start, tether.end):
            if not 0 <= end.index < known.get(end.group, 0):
                raise odd(where, "header", "has a tether that ends at a body that is not there")
    return head


def rig_of(head: Header, where: str) -> RigData:
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
        raise odd(where, "header", f"tells of no rig: {str(error)[:80].rstrip('.')}") from None


def _load(load: Payload) -> dict[str, Any]:
    return _plain(load, ("name", "mass", "inertia")) | {"shape": _plain(load.shape, _shape_fields(load))}


def _shape_fields(load: Payload) -> Sequence[str]:
    """What a shape is made of; a cylinder's outline follows from its radius."""
    both = hasattr(load.shape, "outline") and hasattr(load.shape, "radius")
    return [name for name in _SHAPE if not (both and name == "outline")]


def _plain(thing: Any, names: Sequence[str]) -> dict[str, Any]:
    """Those of a thing's attributes that it has, as JSON holds them."""
    found: Mapping[str, Any] = {name: getattr(thing, name, None) for name in names}
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in found.items()
        if value is not None
    }
