"""A vehicle with a soft gripper, as scenarios describe it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from skyrig.fields import PayloadSpec, SpecPart, unit
from skyrig.rigs.layout import End, Tether
from skyrig.scenario.mechanisms.base import Mechanism, Place, RigParts
from skyrig.scenario.sentences import refuse

if TYPE_CHECKING:
    from skyrig.rigs.gripper import SoftGripper
    from skyrig.soft import FingerDesign, Gripper

Positive = Annotated[float, Meta(gt=0)]
Belt = tuple[float, float]
SEGMENTS = 6
"""Of a rod where nobody says how many."""


class FingerSpec(SpecPart, frozen=True, kw_only=True):
    """What each finger is made of; left out, the finger of Fishman and Carlone."""

    length: Annotated[float, unit("m", "From base to tip", gt=0, le=2)] = 0.18
    width: Annotated[float, unit("m", "Of its square cross-section", gt=0, le=0.5)] = 0.025
    young: Annotated[float, unit("Pa", "Young's modulus", gt=0, le=1e8)] = 2e4
    poisson: Annotated[float, unit("1", "Poisson's ratio", gt=-1, lt=0.5)] = 0.25
    density: Annotated[float, unit("kg/m^3", "Of its material", gt=0, le=1e6)] = 250.0
    damping: Annotated[
        float, unit("s", "Viscous over elastic stress at a strain rate of 1/s", ge=0, le=1)
    ] = 0.01
    tendon_stiffness: Annotated[
        float, unit("N/m", "Half of a tendon's pull over its stretch", gt=0, le=1e6)
    ] = 1e3
    elements: Annotated[str, unit("", "H20, H27, H8, T4, or rod: reduced")] = "H20"
    slices: Annotated[
        Annotated[int, Meta(ge=1, le=100)] | None,
        unit("", "Elements or segments along the finger; 8, and 6 of a rod, if left out"),
    ] = None
    cells: Annotated[int, unit("", "Elements along a side of its cross-section", ge=1, le=8)] = 1


class GripperRig(Mechanism, frozen=True, kw_only=True, tag="gripper"):
    """A vehicle with soft fingers that grasps an object standing on level ground."""

    payload: Annotated[str | PayloadSpec, unit("", "The object to grasp")]
    finger: Annotated[FingerSpec, unit("", "Every finger")] = FingerSpec()
    fingers: Annotated[int, unit("", "How many, in a ring", ge=2, le=8)] = 4
    radius: Annotated[float, unit("m", "Of the ring of their bases", gt=0, le=1)] = 0.06
    drop: Annotated[float, unit("m", "Of the bases below the vehicle's centre of mass", ge=0, le=1)] = 0.02
    shortest: Annotated[
        Positive | None, unit("m", "Least length of tendons; 2/3 of the finger if left out")
    ] = None
    longest: Annotated[Positive | None, unit("m", "Largest length of tendons")] = None
    friction: Annotated[float, unit("1", "Of fingers on the object", ge=0, le=10)] = 0.8
    ground_friction: Annotated[float, unit("1", "Of all on the ground", ge=0, le=10)] = 0.5
    contact_stiffness: Annotated[
        float, unit("N/m/cm^2", "Of the fingers' skin, for each square centimetre", gt=0, le=1e6)
    ] = 3e3
    ground_stiffness: Annotated[float, unit("N/m", "Of each corner of the object", gt=0, le=1e7)] = 2e3
    floor: Annotated[float, unit("m", "Height of the ground, or of the table's top")] = 0.0
    belt: Annotated[Belt, unit("m/s", "How fast the ground runs, along x and y")] = (0.0, 0.0)

    words: ClassVar[str] = "held by a soft gripper"
    steps_itself: ClassVar[bool] = True

    def parts(self, at: Place) -> GripperParts:
        """One vehicle, its fingers, one object."""
        team, load = at.team(self.vehicles), at.load(self.payload)
        at.count(team, 1, "vehicles", "vehicles")
        made = GripperParts(self, team, {"payload": (load,)})
        at.made(lambda fields, where: made.design(), {})
        return made


@dataclass(frozen=True, repr=False)
class GripperParts(RigParts):
    """The parts of a vehicle with a soft gripper."""

    def design(self) -> FingerDesign:
        """Of every finger."""
        from skyrig.soft.design import FingerDesign

        said = self.said.finger
        values: dict[str, Any] = {name: getattr(said, name) for name in said.__struct_fields__}
        values["elements"] = "H20" if self.reduced else said.elements
        if said.slices is None:
            values["slices"] = SEGMENTS if self.reduced else FingerDesign.slices
        return FingerDesign(**values)

    @property
    def reduced(self) -> bool:
        """Whether fingers fly as rods; where tendons bring them is planned with elements all the same."""
        return self.said.finger.elements == "rod"

    def ring(self) -> dict[str, Any]:
        """How the fingers stand."""
        return {
            name: getattr(self.said, name) for name in ("fingers", "radius", "drop", "shortest", "longest")
        }

    def gripper(self) -> Gripper:
        """The fingers by themselves."""
        from skyrig.soft import Gripper

        return Gripper.build(self.design(), **self.ring())

    @property
    def tethers(self) -> tuple[Tether, ...]:
        """Along the inner edges of every finger and its outer ones: how it is drawn, as a strip."""
        import numpy as np

        said = self.said
        half, found = said.finger.width / 2, []
        for k in range(said.fingers):
            angle = np.pi / said.fingers * (1 + 2 * k)
            inward = -np.array([np.cos(angle), np.sin(angle), 0.0])
            aside = np.cross([0.0, 0.0, -1.0], inward)
            base = -said.radius * inward - [0.0, 0.0, said.drop]
            rim = [base + half * (x * inward + y * aside) for x, y in ((1, -1), (1, 1), (-1, 1), (-1, -1))]
            ends = [End("vehicles", 0, (float(x), float(y), float(z))) for x, y, z in rim]
            found += [Tether("tendon", ends[0], ends[1], strip=True), Tether("tendon", ends[2], ends[3])]
        return tuple(found)

    def build(self) -> SoftGripper:
        """The rig."""
        from skyrig.rigs.gripper import RodGripper, SoftGripper

        kind = RodGripper if self.reduced else SoftGripper
        names = ("friction", "ground_friction", "contact_stiffness", "ground_stiffness", "floor", "belt")
        more = {name: getattr(self.said, name) for name in names}
        more["contact_stiffness"] *= 1e4  # a square metre has as many square centimetres
        return kind.build(self.airframes[0], self.loads["payload"][0], self.design(), **self.ring(), **more)

    def check_start(self, start: Any, where: str) -> None:
        """Vehicle and object are both placed, or the reference places them."""
        if start.lean is not None:
            raise refuse(where, "start.lean", "is for cables and must be left out for a gripper")

    def check_hover(self, thrust: Any, where: str) -> None:
        """A hover is not asked for."""

    def lines(self) -> list[tuple[str, str]]:
        """What fingers it has."""
        said = self.said
        return [("fingers", f"{said.fingers} of {said.finger.length:g} m, {said.finger.young:g} Pa")]

    def remarks(self, start: Any) -> Iterator[str]:
        """Nothing seems odd."""
        return iter(())
