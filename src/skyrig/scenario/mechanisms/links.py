"""Vehicles fixed to the payload by rigid links, as scenarios describe them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from skyrig.checks import Numbers
from skyrig.fields import PayloadSpec, Point, unit
from skyrig.scenario.mechanisms.base import Mechanism, Place, RigParts
from skyrig.scenario.sentences import refuse
from skyrig.vehicles import Payload as Load

if TYPE_CHECKING:
    from skyrig.rigs import Linked


class LinkRig(Mechanism, frozen=True, kw_only=True, tag="links"):
    """Vehicles fixed to the payload by rigid links."""

    payload: Annotated[str | PayloadSpec, unit("", "What is carried")]
    attachments: Annotated[
        str | list[Point] | None,
        unit("m", "Where the vehicles sit: a set's name or points; the set rigid-n if left out"),
    ] = None
    yaw: Annotated[
        float | list[float], unit("rad", "Turn of the vehicles about the payload's z axis, one or a list")
    ] = 0.0

    words: ClassVar[str] = "on rigid links"
    rigid: ClassVar[bool] = True
    holds: ClassVar[tuple[str, str] | None] = ("attachments", "rigid")

    def parts(self, at: Place) -> LinkParts:
        """Where every vehicle sits on the payload, and how it is turned there."""
        airframes, load = at.team(self.vehicles), at.load(self.payload)
        n = len(airframes)
        points = at.points(self.attachments, load, n, "rigid", "attachments")
        turns = self.yaw if isinstance(self.yaw, list) else [self.yaw] * n
        at.count(turns, n, "yaw", "yaw")
        yaw = np.asarray(turns, dtype=np.float64)
        return LinkParts(self, airframes, {"payload": (load,)}, points, yaw)

    @classmethod
    def sketch(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Vehicles where the payload has places for them."""
        return {"mechanism": "links", **given}


@dataclass(frozen=True, repr=False)
class LinkParts(RigParts):
    """The parts of a rig on rigid links."""

    seats: Numbers = field(default_factory=lambda: np.zeros((0, 3)))
    """(n, 3) where the vehicles sit, in the payload frame (m)."""
    yaw: Numbers = field(default_factory=lambda: np.zeros(0))
    """(n,) turn of each vehicle about the payload's z axis (rad)."""

    @property
    def payload(self) -> Load:
        """What is carried."""
        return self.loads["payload"][0]

    @property
    def points(self) -> Numbers:
        """(n, 3) where the vehicles sit, in the payload frame (m)."""
        return self.seats

    def build(self) -> Linked:
        """The linked rig."""
        from skyrig.rigs import Linked

        return Linked.build(self.airframes, self.payload, self.seats, self.yaw)

    def check_start(self, start: Any, where: str) -> None:
        """Vehicles are where the payload is."""
        if start.vehicles is not None:
            raise refuse(
                where, "start.vehicles", "must be left out: linked vehicles are where the payload is"
            )
        if start.lean is not None:
            raise refuse(where, "start.lean", "is for cables and must be left out for rigid links")

    def check_hover(self, thrust: Numbers, where: str) -> None:
        """Anything goes: the whole team's rotors share the load as they are able to."""

    def remarks(self, start: Any) -> Iterator[str]:
        """Sentences on vehicles whose propellers overlap."""
        from skyrig.scenario.plausible import overlapping

        if not self.payload.is_point:
            yield from overlapping(self.seats, self.airframes)

    def demands(self, follower: Any, vehicle: int | None) -> Iterator[str]:
        """Sentences on tilts that rotors cannot make, and on those that nobody makes."""
        from skyrig.scenario.demands import linked_thrust, linked_yaw, tilted_in_vain, too_fast

        yield from linked_thrust(follower, self)
        yield from linked_yaw(follower, self)
        if not self.payload.is_point:
            yield from tilted_in_vain(follower)
            yield from too_fast(follower)
