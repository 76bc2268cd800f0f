"""Vehicles that carry a payload on elastic cables, as scenarios describe them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from skyrig.fields import SpecPart, unit
from skyrig.scenario.mechanisms.base import Place
from skyrig.scenario.mechanisms.cables import CableParts, CableRig, ropes
from skyrig.scenario.sentences import refuse

if TYPE_CHECKING:
    from skyrig.rigs.protocol import Rig

MOST_STRETCH = 1.5
"""How many times its length from its payload a vehicle may start."""


class MaterialSpec(SpecPart, frozen=True, kw_only=True):
    """What a cable is made of; left out, a thin braided line of polyethylene fibres."""

    stiffness: Annotated[
        Annotated[float, Meta(gt=0, le=1e9)] | None,
        unit("N/m", "Of the whole cable; modulus times area over length if left out"),
    ] = None
    damping: Annotated[
        Annotated[float, Meta(ge=0, le=1e7)] | None,
        unit("N s/m", "Of the whole cable; by the damping ratio if left out"),
    ] = None
    modulus: Annotated[float, unit("Pa", "Young's modulus", gt=0, le=1e13)] = 25e9
    area: Annotated[float, unit("m^2", "Cross-section", gt=0, le=1)] = 0.8e-6
    damping_ratio: Annotated[
        float, unit("1", "Of the payload's share bouncing on one cable; 1 is critical", ge=0, le=100)
    ] = 0.1
    mass_per_metre: Annotated[float, unit("kg/m", "Weight of the cable", gt=0, le=100)] = 1e-3
    bending: Annotated[float, unit("N m^2", "E I, what resists bending", ge=0, le=1e4)] = 0.0
    drag_per_metre: Annotated[
        float, unit("N s^2/m^3", "Drag force over squared speed and length", ge=0, le=100)
    ] = 0.0


class ElasticRig(CableRig, frozen=True, kw_only=True, tag="elastic"):
    """Vehicles that carry a payload on cables that stretch, sag, fold and snap."""

    material: Annotated[MaterialSpec | list[MaterialSpec], unit("", "Of all cables, or one for each")] = (
        MaterialSpec()
    )
    segments: Annotated[
        int, unit("", "Springs in a row in each cable; 1 for a massless one", ge=1, le=200)
    ] = 5

    words: ClassVar[str] = "on elastic cables"
    steps_itself: ClassVar[bool] = True

    def parts(self, at: Place) -> ElasticParts:
        """The cables, one for each vehicle, with all that they have in common written out."""
        plain = super().parts(at)
        if isinstance(self.material, list):
            at.count(self.material, plain.count, "materials", "material")
        return ElasticParts(self, plain.airframes, plain.loads, plain.cables)

    @classmethod
    def sketch(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Cables of half a metre."""
        return {**super().sketch(given), "mechanism": "elastic"}


@dataclass(frozen=True, repr=False)
class ElasticParts(CableParts):
    """The parts of a rig on elastic cables."""

    def build(self) -> Rig:
        """The elastic rig."""
        from skyrig.rigs import Elastic, Material

        def made(it: MaterialSpec) -> Material:
            return Material(**{name: getattr(it, name) for name in it.__struct_fields__})

        said = self.said.material
        material = [made(it) for it in said] if isinstance(said, list) else made(said)
        return Elastic.build(self.airframes, self.payload, ropes(self.cables), material, self.said.segments)

    def check_start(self, start: Any, where: str) -> None:
        """As on other cables, but a start may stretch them."""
        from skyrig.scenario.cable_checks import check_hover, spans

        if start.vehicles is None:
            check_hover(self, start, where)
            return
        for k, apart in enumerate(spans(self, start)):
            if apart > MOST_STRETCH * self.cables[k].length:
                raise refuse(
                    where,
                    f"start.vehicles[{k}].position",
                    f"must be within {MOST_STRETCH:g} times its cable's {self.cables[k].length:g} m of the "
                    f"attachment, not {apart:.6g}",
                )
