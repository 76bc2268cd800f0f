"""Vehicles that carry a payload on cables, as scenarios describe them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
import numpy as np

from skyrig.checks import Numbers
from skyrig.fields import Length, PayloadSpec, Point, SpecPart, unit
from skyrig.rigs.layout import End, Tether
from skyrig.scenario.mechanisms.base import Mechanism, Place, RigParts
from skyrig.vehicles import Payload as Load

if TYPE_CHECKING:
    from skyrig.rigs.protocol import Rig


class WinchSpec(SpecPart, frozen=True, kw_only=True):
    """A drum on the vehicle that reels its cable out and in."""

    rate: Annotated[float, unit("m/s", "Fastest reeling, either way", gt=0, le=1e3)]
    acceleration: Annotated[float, unit("m/s^2", "Hardest speeding up and slowing down", gt=0, le=1e4)]
    shortest: Annotated[float, unit("m", "Least free length it leaves", gt=0, le=1e3)]
    longest: Annotated[float, unit("m", "Most cable it can let out", gt=0, le=1e3)]


class CableSpec(SpecPart, frozen=True, kw_only=True):
    """One cable of a list."""

    length: Annotated[float, unit("m", "Free length, at the start if there is a winch", gt=0, le=1e3)]
    attachment: Annotated[
        Point | None, unit("m", "Where it holds the payload, in its frame; of the default set if left out")
    ] = None
    hook: Annotated[Point | None, unit("m", "Where it hangs on the vehicle, in its frame")] = None
    winch: Annotated[WinchSpec | None, unit("", "A drum for this cable")] = None


class CablesSpec(SpecPart, frozen=True, kw_only=True):
    """What all cables have in common."""

    length: Annotated[Length | list[Length], unit("m", "Free length of every cable, or a list of lengths")]
    attachments: Annotated[
        str | list[Point] | None,
        unit("m", "One of the payload's sets by name, or points; the set cable-n if left out"),
    ] = None
    hook: Annotated[Point | None, unit("m", "Where they hang on the vehicles, in their frame")] = None
    winch: Annotated[WinchSpec | None, unit("", "A drum for every cable")] = None


class CableRig(Mechanism, frozen=True, kw_only=True, tag="cables"):
    """Vehicles that carry a payload on cables."""

    payload: Annotated[str | PayloadSpec, unit("", "What is carried")]
    cables: Annotated[CablesSpec | list[CableSpec], unit("", "One cable for each vehicle")]
    restitution: Annotated[
        float, unit("1", "Share of an arriving cable's speed that comes back", ge=0, lt=1)
    ] = 0.0

    words: ClassVar[str] = "on cables"
    holds: ClassVar[tuple[str, str] | None] = ("cables.attachments", "cable")

    def parts(self, at: Place) -> CableParts:
        """The cables, one for each vehicle, with all that they have in common written out."""
        airframes, load = at.team(self.vehicles), at.load(self.payload)
        cables = _cables(self.cables, load, len(airframes), at)
        return CableParts(self, airframes, {"payload": (load,)}, cables)

    @classmethod
    def sketch(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Cables of half a metre."""
        return {"mechanism": "cables", **given, "cables": {"length": 0.5}}


@dataclass(frozen=True, repr=False)
class CableParts(RigParts):
    """The parts of a rig on cables."""

    cables: tuple[CableSpec, ...] = ()
    """One for each vehicle, attachments filled in."""

    @property
    def payload(self) -> Load:
        """What is carried."""
        return self.loads["payload"][0]

    @property
    def lengths(self) -> tuple[float, ...]:
        """Of the cables (m)."""
        return tuple(cable.length for cable in self.cables)

    @property
    def points(self) -> Numbers:
        """(n, 3) where the cables hold the payload, in its frame (m)."""
        return np.asarray([cable.attachment for cable in self.cables], dtype=np.float64)

    @property
    def tethers(self) -> tuple[Tether, ...]:
        """The cables."""
        return tuple(
            Tether(
                "cable",
                End("vehicles", k, cable.hook or (0.0, 0.0, 0.0)),
                End("payload", 0, cable.attachment or (0.0, 0.0, 0.0)),
            )
            for k, cable in enumerate(self.cables)
        )

    def build(self) -> Rig:
        """The slung rig."""
        from skyrig.rigs import Slung

        return Slung.build(self.airframes, self.payload, ropes(self.cables), self.said.restitution)

    def believed(self, factors: Any, at: Place) -> CableParts:
        """The same with masses, inertias and lengths in these shares of what they are."""
        long = at.each(factors, "cable_length", self.count)
        cables = (
            msgspec.structs.replace(cable, length=cable.length * long[k])
            for k, cable in enumerate(self.cables)
        )
        scaled: Any = super().believed(factors, at)
        return replace(scaled, cables=tuple(cables))

    def check_start(self, start: Any, where: str) -> None:
        """No vehicle starts beyond its cable or inside another."""
        from skyrig.scenario.cable_checks import check_hover, check_places

        if start.vehicles is None:
            check_hover(self, start, where)
        else:
            check_places(self, start, where)

    def check_happening(self, happening: Any, where: str, path: str) -> None:
        """Cables that are cut or reeled are there, and have a winch."""
        from skyrig.scenario.cable_checks import check_cable_happening

        check_cable_happening(self, happening, where, path)

    def goals(self, happenings: Sequence[Any], times: Numbers) -> dict[str, Numbers]:
        """Free length that each cable shall have in the end, (T, n) (m); winches need a while for it."""
        target = np.tile(self.lengths, (len(times), 1))
        for reel in happenings:
            which = slice(None) if reel.cable is None else reel.cable
            target[times >= reel.time, which] = reel.length
        return {"winch": target}

    def lines(self) -> list[tuple[str, str]]:
        """How long the cables are."""
        return [("cables", ", ".join(f"{length:g}" for length in self.lengths) + " m")]

    def remarks(self, start: Any) -> Iterator[str]:
        """Sentences on lengths as they come out when a unit slips, and on vehicles too close in hover."""
        from skyrig.scenario.plausible import lengths, overlapping

        yield from lengths(self.lengths, self.airframes)
        if start.vehicles is None and not (start.lean or 0) > 0 and not self.payload.is_point:
            heights = np.outer(self.lengths, [0.0, 0.0, 1.0])
            yield from overlapping(self.points + heights, self.airframes)

    def lean(self, wash: float) -> float | None:
        """The one at which the busiest vehicle works least."""
        from skyrig.scenario.formation import best_lean

        return best_lean(self, wash).lean

    def washed(self, lean: float, wash: float) -> Iterator[str]:
        """A sentence on a formation below which the load is pressed down too hard."""
        from skyrig.scenario.formation import washed

        yield from washed(self, lean, wash)

    def demands(self, follower: Any, vehicle: int | None) -> Iterator[str]:
        """Sentences on thrusts that vehicles have not, and tilts that cables cannot hold."""
        from skyrig.scenario.demands import slung_thrust, steep, too_fast

        yield from slung_thrust(follower, self, vehicle)
        if vehicle is None and not self.payload.is_point:
            yield from steep(follower)
            yield from too_fast(follower)


def ropes(cables: Sequence[CableSpec]) -> list[Any]:
    """The cables as rigs are built of them."""
    from skyrig.rigs import Cable as Rope
    from skyrig.rigs import Winch

    def drum(it: Any) -> Any:
        return None if it is None else Winch(it.rate, it.acceleration, it.shortest, it.longest)

    return [Rope(it.length, it.attachment or (0.0, 0.0, 0.0), it.hook, drum(it.winch)) for it in cables]


def _cables(cables: CablesSpec | list[CableSpec], load: Load, n: int, at: Place) -> tuple[CableSpec, ...]:
    if isinstance(cables, CablesSpec):
        lengths = cables.length if isinstance(cables.length, list) else [cables.length] * n
        at.count(lengths, n, "lengths", "cables.length")
        points = at.points(cables.attachments, load, n, "cable", "cables.attachments")
        made = tuple(
            CableSpec(length=length, attachment=tuple(point), hook=cables.hook, winch=cables.winch)
            for length, point in zip(lengths, points.tolist(), strict=True)
        )
    else:
        at.count(cables, n, "cables", "cables")
        if any(cable.attachment is None for cable in cables):
            defaults = at.points(None, load, n, "cable", "cables[].attachment").tolist()
        else:
            defaults = [[]] * n
        made = tuple(
            cable if cable.attachment is not None else msgspec.structs.replace(cable, attachment=tuple(point))
            for cable, point in zip(cables, defaults, strict=True)
        )
    for k, cable in enumerate(made):
        _check_cable(cable, load, at.at(f"cables[{k}]" if isinstance(cables, list) else "cables"))
    return made


def _check_cable(cable: CableSpec, load: Load, at: Place) -> None:
    if load.is_point and cable.attachment is not None and any(cable.attachment):
        raise at.refuse("attachment", f"must be [0, 0, 0] on the point mass '{load.name}'")
    winch = cable.winch
    if winch is None:
        return
    if winch.shortest > winch.longest:
        raise at.refuse(
            "winch.shortest", f"must be at most its longest {winch.longest:g} m, not {winch.shortest:g}"
        )
    if not winch.shortest <= cable.length <= winch.longest:
        raise at.refuse(
            "length",
            f"must lie within its winch's {winch.shortest:g} to {winch.longest:g} m, not be {cable.length:g}",
        )
