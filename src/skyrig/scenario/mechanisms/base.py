"""What a mechanism is to a scenario: what YAML says of it, and the parts that are made of that.

A mechanism is two classes besides its rig: a `Mechanism`, whose fields are those of `rig:` in YAML, and its
`RigParts`, the same checked and in plain NumPy, which know how to build the rig. Nothing here needs JAX.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from skyrig.brief import brief
from skyrig.checks import Numbers
from skyrig.fields import SpecPart, VehicleSpec, unit
from skyrig.rigs.layout import Tether
from skyrig.scenario.mechanisms.place import Place
from skyrig.scenario.sentences import refuse
from skyrig.sensing.sensor import TEAM, CableOnBoard, Carrier
from skyrig.vehicles import Airframe
from skyrig.vehicles import Payload as Load

if TYPE_CHECKING:
    from skyrig.rigs import Rig


class Mechanism(SpecPart, frozen=True, kw_only=True, tag_field="mechanism"):
    """What `rig:` says; a mechanism of one's own derives from it with a `tag`, the name used in YAML."""

    vehicles: Annotated[str | VehicleSpec | list[str | VehicleSpec], unit("", "The team, in order")]

    words: ClassVar[str] = "joined together"
    """How its vehicles and payload are joined, as people say it: 'on cables'."""
    rigid: ClassVar[bool] = False
    """Whether its vehicles cannot turn against the payload, so that the whole must tilt to accelerate."""
    steps_itself: ClassVar[bool] = False
    """Whether its rig has a step of its own, so that `loop.integrator` may be 'own'."""
    holds: ClassVar[tuple[str, str] | None] = None
    """Field of `rig:` for where the payload is held, and what a payload's sets of such points begin with."""

    def parts(self, at: Place) -> RigParts:
        """The checked parts; `at` says where this stands, and makes teams and payloads."""
        raise NotImplementedError(f"{type(self).__name__} must say what its parts are")

    @classmethod
    def sketch(cls, given: Mapping[str, Any]) -> dict[str, Any] | None:
        """What `rig:` would say of `vehicles` and `payload` with nothing else known; None if it cannot."""
        return None


@dataclass(frozen=True)
class RigParts:
    """What a rig is made of, vehicle by vehicle and payload by payload."""

    said: Any
    """The `Mechanism` it was made of."""
    airframes: tuple[Airframe, ...]
    loads: Mapping[str, tuple[Load, ...]] = field(default_factory=dict)
    """What is not a vehicle, by group; most rigs have one 'payload'."""

    __repr__ = brief

    @property
    def mechanism(self) -> str:
        """Its name in YAML."""
        return str(type(self.said).__struct_config__.tag)

    @property
    def count(self) -> int:
        """How many vehicles there are."""
        return len(self.airframes)

    @property
    def payload(self) -> Load | None:
        """What is carried; None for a rig without a payload."""
        return self.loads["payload"][0] if "payload" in self.loads else None

    @property
    def mass(self) -> float:
        """Of everything together (kg)."""
        return sum(load.mass for group in self.loads.values() for load in group) + sum(
            frame.mass for frame in self.airframes
        )

    @property
    def tethers(self) -> tuple[Tether, ...]:
        """What is drawn between bodies."""
        return ()

    @property
    def lengths(self) -> tuple[float, ...]:
        """Of what can be made longer or shorter (m): cables, say."""
        return ()

    @property
    def points(self) -> Numbers:
        """(m, 3) where the payload is held, in its frame (m): marked in drawings."""
        return np.zeros((0, 3))

    def carrier(self, control_rate: float) -> Carrier:
        """What sensors are mounted on, at so many ticks a second (Hz)."""
        groups = {**{group: len(them) for group, them in self.loads.items()}, TEAM: self.count}
        cables = [it for it in self.tethers if it.name == "cable"]
        lines = [
            CableOnBoard(it.start, it.end, length) for it, length in zip(cables, self.lengths, strict=True)
        ]
        return Carrier(self.airframes, groups, lines, control_rate)

    def build(self) -> Rig:
        """The rig itself. Here JAX comes in."""
        raise NotImplementedError(f"{type(self).__name__} must build its rig")

    def believed(self, factors: Any, at: Place) -> RigParts:
        """The same with masses and inertias in these shares of what they are."""
        heavy, round_about = (
            at.each(factors, name, self.count) for name in ("vehicle_mass", "vehicle_inertia")
        )
        frames = (
            replace(frame, mass=frame.mass * heavy[k], inertia=frame.inertia * round_about[k])
            for k, frame in enumerate(self.airframes)
        )

        def load(it: Load) -> Load:
            inertia = None if it.inertia is None else it.inertia * factors.payload_inertia
            return replace(it, mass=it.mass * factors.payload_mass, inertia=inertia)

        loads = {group: tuple(load(it) for it in them) for group, them in self.loads.items()}
        return replace(self, airframes=tuple(frames), loads=loads)

    def check_start(self, start: Any, where: str) -> None:
        """Refuse a start that this mechanism cannot have."""

    def check_hover(self, thrust: Numbers, where: str) -> None:
        """Refuse a hover in which a vehicle must push harder (N) than it can."""
        for k, (needed, frame) in enumerate(zip(thrust, self.airframes, strict=True)):
            if needed > frame.total_thrust_max:
                raise refuse(
                    where,
                    f"rig.vehicles[{k}]",
                    f"must push {needed:.4g} N to hover with its load, but a {frame.name} gives "
                    f"{frame.total_thrust_max:.4g} N at most",
                )

    def check_happening(self, happening: Any, where: str, path: str) -> None:
        """Refuse a happening to parts that this mechanism does not have: cuts and winches, say."""
        raise refuse(where, path, f"needs a cable, but this rig is {self.said.words}")

    def goals(self, happenings: Sequence[Any], times: Numbers) -> dict[str, Numbers]:
        """Where the rig's own drives shall be at `times`, (T, k) by drive, as the happenings say."""
        return {}

    def lines(self) -> list[tuple[str, str]]:
        """What else a summary should say: a word and what it stands for here."""
        return []

    def remarks(self, start: Any) -> Iterator[str]:
        """Sentences on numbers that can be, but hardly are."""
        return iter(())

    def lean(self, wash: float) -> float | None:
        """Angle of cables from the vertical (rad) for a load that feels a share `wash` of the jets above it.

        None for rigs that cannot choose.
        """
        return None

    def washed(self, lean: float, wash: float) -> Iterator[str]:
        """Sentences on cables that lean so, if the team cannot lift through its own wash."""
        return iter(())

    def demands(self, follower: Any, vehicle: int | None) -> Iterator[str]:
        """Sentences on what a reference (of one vehicle, or of the payload) asks of this rig."""
        return iter(())
