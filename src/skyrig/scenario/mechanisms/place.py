"""Where in a file a rig is described: what makes airframes and payloads of it, and says what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
import numpy as np

from skyrig import files
from skyrig.checks import Numbers
from skyrig.errors import InputError
from skyrig.fields import PayloadSpec, VehicleSpec
from skyrig.scenario.sentences import nearest, refuse, shown
from skyrig.vehicles import Airframe, airframe_names, payload_names
from skyrig.vehicles import Payload as Load

T = TypeVar("T")


@dataclass(frozen=True)
class Place:
    """Where in a file a rig is described, and what may serve again from another description like it."""

    where: str
    path: str = "rig"
    like: Any = None
    """The `RigParts` of that one, or None."""

    def at(self, field: str) -> Place:
        """A field below."""
        return Place(self.where, f"{self.path}.{field}", self.like)

    def refuse(self, field: str, problem: str) -> InputError:
        """The error to raise about a field below."""
        return refuse(self.where, f"{self.path}.{field}" if field else self.path, problem)

    def team(
        self, vehicles: str | VehicleSpec | list[str | VehicleSpec], field: str = "vehicles"
    ) -> tuple[Airframe, ...]:
        """Every vehicle's airframe, in order."""
        if self.like is not None and self.like.said.vehicles == vehicles:
            return self.like.airframes
        listed = vehicles if isinstance(vehicles, list) else [vehicles]
        frames: list[Airframe] = []
        for k, entry in enumerate(listed):
            place = self.at(f"{field}[{k}]" if isinstance(vehicles, list) else field)
            count = entry.count if isinstance(entry, VehicleSpec) else 1
            fields = place.fields(entry, "vehicles", airframe_names())
            fields.pop("count", None)
            frames += [place.made(Airframe.from_dict, fields)] * count
        if not frames:
            raise self.refuse(field, "must name at least one vehicle, but the list is empty")
        if len(frames) > 100:
            raise self.refuse(field, f"must name at most 100 vehicles, not {len(frames)}")
        return tuple(frames)

    def load(self, entry: str | PayloadSpec, field: str = "payload") -> Load:
        """The payload that is described in a field."""
        if (
            self.like is not None
            and getattr(self.like.said, field, None) == entry
            and field in self.like.loads
        ):
            return self.like.loads[field][0]
        place = self.at(field)
        return place.made(Load.from_dict, place.fields(entry, "payloads", payload_names()))

    def fields(
        self, entry: str | VehicleSpec | PayloadSpec, folder: str, names: tuple[str, ...]
    ) -> dict[str, Any]:
        """Those of a vehicle or payload: of its bundled type, if it has one, with its own on top."""
        said = {} if isinstance(entry, str) else msgspec.to_builtins(entry)
        own = {name: value for name, value in said.items() if value is not None}
        kind = entry if isinstance(entry, str) else own.pop("type", None)
        if kind is None:
            return own
        if kind not in names:
            listed = f"{folder.removesuffix('s')}, one of {', '.join(names)}{nearest(kind, names)}"
            place = self.path if isinstance(entry, str) else f"{self.path}.type"
            raise refuse(self.where, place, f"must name a {listed}, not {shown(kind)}")
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

    def made(self, maker: Callable[..., T], fields: dict[str, Any]) -> T:
        """What `maker` makes of `fields`, its complaints put as ours: file, then the field's path."""
        place = f"{self.where}: {self.path}"
        try:
            return maker(fields, where=place)
        except InputError as error:
            text = str(error).removeprefix(f"{place}: ")
            first = text.split(" ")[0].rstrip(":")
            joint = "." if first in fields else ": "
            raise InputError(f"{place}{joint}{text}") from None

    def points(self, given: str | list[Any] | None, load: Load, n: int, joint: str, field: str) -> Numbers:
        """Attachment points, nx3, from a set's name or from points; the set `joint`-n if none is given."""
        if isinstance(given, list):
            self.count(given, n, "attachments", field)
            points = np.asarray(given, dtype=np.float64).reshape(n, 3)
            if load.is_point and np.any(points != 0):
                raise self.refuse(field, f"must all be [0, 0, 0] on the point mass '{load.name}'")
            return points
        if load.is_point:
            return np.zeros((n, 3))
        name = f"{joint}-{n}" if given is None else given
        if name not in load.attachments:
            known = tuple(load.attachments)
            have = f"it has {', '.join(known)}" if known else "it has none"
            if given is None:
                raise self.refuse(field, f"must be given: payload '{load.name}' has no set '{name}', {have}")
            near = nearest(name, known)
            raise self.refuse(
                field, f"must name a set of payload '{load.name}'{near}, not {shown(name)}: {have}"
            )
        points = load.attachments[name]
        if len(points) != n:
            raise self.refuse(field, f"must hold {n} points, one a vehicle, but '{name}' holds {len(points)}")
        return points

    def count(self, entries: Sequence[Any], n: int, noun: str, field: str) -> None:
        """Refuse a list that is not one for each vehicle."""
        if len(entries) != n:
            raise self.refuse(
                field, f"must hold one entry for each of {n} vehicles, not {len(entries)} {noun}"
            )

    def each(self, holder: Any, name: str, n: int) -> list[float]:
        """A field that holds one number for all vehicles, or one for each."""
        value = getattr(holder, name)
        shares = value if isinstance(value, list) else [value] * n
        self.count(shares, n, "shares", name)
        return shares
