"""From a `Spec` to checked parts in plain NumPy: airframes, payload, cables, attachments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import msgspec
import numpy as np

from skyrig import files
from skyrig.brief import brief
from skyrig.checks import Numbers
from skyrig.errors import InputError
from skyrig.scenario.sentences import nearest, refuse, shown
from skyrig.scenario.spec import Cable, CableRig, Cables, Factors, LinkRig, Payload, Vehicle
from skyrig.vehicles import Airframe, airframe_names, payload_names
from skyrig.vehicles import Payload as Load

T = TypeVar("T")


@dataclass(frozen=True)
class RigParts:
    """What a rig is made of, vehicle by vehicle."""

    mechanism: str
    """'cables' or 'links'."""
    airframes: tuple[Airframe, ...]
    payload: Load
    attachments: Numbers
    """(n, 3) in the payload frame (m)."""
    cables: tuple[Cable, ...] = ()
    """One for each vehicle, attachments filled in; none for links."""
    yaw: Numbers | None = None
    """(n,) of linked vehicles (rad)."""
    restitution: float = 0.0

    __repr__ = brief

    @property
    def count(self) -> int:
        """How many vehicles there are."""
        return len(self.airframes)

    @property
    def mass(self) -> float:
        """Of everything together (kg)."""
        return self.payload.mass + sum(frame.mass for frame in self.airframes)


def rig_parts(
    rig: CableRig | LinkRig,
    where: str,
    path: str = "rig",
    like: tuple[CableRig | LinkRig, RigParts] | None = None,
) -> RigParts:
    """The parts of `rig`, checked one by one and against each other.

    `like` is another rig with its parts: a team or payload that is said in the same words serves again.
    """
    if like is not None and like[0].vehicles == rig.vehicles:
        airframes = like[1].airframes
    else:
        airframes = team(rig.vehicles, where, f"{path}.vehicles")
    if like is not None and like[0].payload == rig.payload:
        load = like[1].payload
    else:
        load = _load(rig.payload, where, f"{path}.payload")
    n = len(airframes)
    if isinstance(rig, LinkRig):
        points = _points(rig.attachments, load, n, "rigid", where, f"{path}.attachments")
        turns = rig.yaw if isinstance(rig.yaw, list) else [rig.yaw] * n
        _count(turns, n, "yaw", where, f"{path}.yaw")
        return RigParts("links", airframes, load, points, yaw=np.asarray(turns, dtype=np.float64))
    cables = _cables(rig.cables, load, n, where, f"{path}.cables")
    points = np.asarray([cable.attachment for cable in cables], dtype=np.float64)
    return RigParts("cables", airframes, load, points, cables=cables, restitution=rig.restitution)


def scaled(parts: RigParts, factors: Factors, where: str, path: str) -> RigParts:
    """The rig with masses, inertias and lengths in these shares of what they are; the same if all are 1."""
    if factors == Factors():
        return parts
    n = parts.count

    def each(name: str) -> list[float]:
        value = getattr(factors, name)
        shares = value if isinstance(value, list) else [value] * n
        _count(shares, n, "shares", where, f"{path}.{name}")
        return shares

    heavy, round_about, long = each("vehicle_mass"), each("vehicle_inertia"), each("cable_length")
    load = parts.payload
    return replace(
        parts,
        airframes=tuple(
            replace(frame, mass=frame.mass * heavy[k], inertia=frame.inertia * round_about[k])
            for k, frame in enumerate(parts.airframes)
        ),
        payload=replace(
            load,
            mass=load.mass * factors.payload_mass,
            inertia=None if load.inertia is None else load.inertia * factors.payload_inertia,
        ),
        cables=tuple(
            msgspec.structs.replace(cable, length=cable.length * long[k])
            for k, cable in enumerate(parts.cables)
        ),
    )


def team(vehicles: str | Vehicle | list[str | Vehicle], where: str, path: str) -> tuple[Airframe, ...]:
    """Every vehicle's airframe, in order."""
    listed = vehicles if isinstance(vehicles, list) else [vehicles]
    frames: list[Airframe] = []
    for k, entry in enumerate(listed):
        place = f"{path}[{k}]" if isinstance(vehicles, list) else path
        count = entry.count if isinstance(entry, Vehicle) else 1
        fields = _fields(entry, "vehicles", airframe_names(), where, place)
        fields.pop("count", None)
        frame = _made(Airframe.from_dict, fields, where, place)
        frames += [frame] * count
    if not frames:
        raise refuse(where, path, "must name at least one vehicle, but the list is empty")
    if len(frames) > 100:
        raise refuse(where, path, f"must name at most 100 vehicles, not {len(frames)}")
    return tuple(frames)


def _load(entry: str | Payload, where: str, path: str) -> Load:
    return _made(Load.from_dict, _fields(entry, "payloads", payload_names(), where, path), where, path)


def _fields(
    entry: str | Vehicle | Payload, folder: str, names: tuple[str, ...], where: str, path: str
) -> dict[str, Any]:
    """The fields of a vehicle or payload: those of its bundled type, if it has one, with its own on top."""
    said = {} if isinstance(entry, str) else msgspec.to_builtins(entry)
    own = {name: value for name, value in said.items() if value is not None}
    kind = entry if isinstance(entry, str) else own.pop("type", None)
    if kind is None:
        return own
    if kind not in names:
        place = path if isinstance(entry, str) else f"{path}.type"
        listed = f"{folder.removesuffix('s')}, one of {', '.join(names)}{nearest(kind, names)}"
        raise refuse(where, place, f"must name a {listed}, not {shown(kind)}")
    fields = dict(files.read_bundled(folder, kind))
    if "rotor_positions" in own:
        fields.pop("layout", None)
        fields.pop("arm", None)
    if "shape" in own and "inertia" not in own:
        fields.pop("inertia", None)  # it is the old shape's
    elif "mass" in own and "inertia" not in own and fields.get("inertia") is not None:
        # the same shape of another density: moments of inertia go with the mass
        share = own["mass"] / fields["mass"] if own["mass"] > 0 else 1.0
        fields["inertia"] = (np.asarray(fields["inertia"]) * share).tolist()
    return {**fields, **own}


def _made(maker: Callable[..., T], fields: dict[str, Any], where: str, path: str) -> T:
    """What `maker` makes of `fields`, its complaints put as ours: file, then path with the field's name."""
    place = f"{where}: {path}"
    try:
        return maker(fields, where=place)
    except InputError as error:
        text = str(error).removeprefix(f"{place}: ")
        first = text.split(" ")[0].rstrip(":")
        joint = "." if first in fields else ": "
        raise InputError(f"{place}{joint}{text}") from None


def _points(given: str | list[Any] | None, load: Load, n: int, joint: str, where: str, path: str) -> Numbers:
    """Attachment points, nx3, from a set's name or from points."""
    if isinstance(given, list):
        _count(given, n, "attachments", where, path)
        points = np.asarray(given, dtype=np.float64).reshape(n, 3)
        if load.is_point and np.any(points != 0):
            raise refuse(where, path, f"must all be [0, 0, 0] on the point mass '{load.name}'")
        return points
    if load.is_point:
        return np.zeros((n, 3))
    name = f"{joint}-{n}" if given is None else given
    if name not in load.attachments:
        known = tuple(load.attachments)
        have = f"it has {', '.join(known)}" if known else "it has none"
        if given is None:
            raise refuse(where, path, f"must be given: payload '{load.name}' has no set '{name}', {have}")
        near = nearest(name, known)
        raise refuse(
            where, path, f"must name a set of payload '{load.name}'{near}, not {shown(name)}: {have}"
        )
    points = load.attachments[name]
    if len(points) != n:
        raise refuse(where, path, f"must hold {n} points, one a vehicle, but '{name}' holds {len(points)}")
    return points


def _cables(cables: Cables | list[Cable], load: Load, n: int, where: str, path: str) -> tuple[Cable, ...]:
    if isinstance(cables, Cables):
        lengths = cables.length if isinstance(cables.length, list) else [cables.length] * n
        _count(lengths, n, "lengths", where, f"{path}.length")
        points = _points(cables.attachments, load, n, "cable", where, f"{path}.attachments")
        made = tuple(
            Cable(length=length, attachment=tuple(point), hook=cables.hook, winch=cables.winch)
            for length, point in zip(lengths, points.tolist(), strict=True)
        )
    else:
        _count(cables, n, "cables", where, path)
        if any(cable.attachment is None for cable in cables):
            defaults = _points(None, load, n, "cable", where, f"{path}[].attachment").tolist()
        else:
            defaults = [[]] * n
        made = tuple(
            cable if cable.attachment is not None else msgspec.structs.replace(cable, attachment=tuple(point))
            for cable, point in zip(cables, defaults, strict=True)
        )
    for k, cable in enumerate(made):
        place = f"{path}[{k}]" if isinstance(cables, list) else path
        _check_cable(cable, load, where, place)
    return made


def _check_cable(cable: Cable, load: Load, where: str, path: str) -> None:
    if load.is_point and cable.attachment is not None and any(cable.attachment):
        raise refuse(where, f"{path}.attachment", f"must be [0, 0, 0] on the point mass '{load.name}'")
    winch = cable.winch
    if winch is None:
        return
    if winch.shortest > winch.longest:
        raise refuse(
            where,
            f"{path}.winch.shortest",
            f"must be at most its longest {winch.longest:g} m, not {winch.shortest:g}",
        )
    if not winch.shortest <= cable.length <= winch.longest:
        raise refuse(
            where,
            f"{path}.length",
            f"must lie within its winch's {winch.shortest:g} to {winch.longest:g} m, not be {cable.length:g}",
        )


def _count(entries: list[Any] | tuple[Any, ...], n: int, noun: str, where: str, path: str) -> None:
    if len(entries) != n:
        raise refuse(where, path, f"must hold one entry for each of {n} vehicles, not {len(entries)} {noun}")
