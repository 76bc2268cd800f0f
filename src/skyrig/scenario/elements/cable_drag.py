"""Drag of cables and of whatever else joins bodies by a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np

from skyrig.fields import unit
from skyrig.scenario.sentences import refuse
from skyrig.scenario.world import AIR_DENSITY, ElementSpec

if TYPE_CHECKING:
    from skyrig.elements import Element
    from skyrig.scenario.mechanisms import RigParts


class CableDragSpec(ElementSpec, frozen=True, kw_only=True):
    """Air across cables, straight from end to end."""

    pushes = True
    drags = True

    diameter: Annotated[float, unit("m", "Of every cable", gt=0, le=1)]
    coefficient: Annotated[float, unit("1", "Of a cylinder across the wind", ge=0, le=10)] = 1.2
    density: Annotated[float, unit("kg/m^3", "Of the air", gt=0, le=10)] = AIR_DENSITY

    def check(self, parts: RigParts, where: str, path: str) -> None:
        """There are cables, from one group to another."""
        if not parts.tethers:
            raise refuse(where, path, f"needs cables, but this rig is {parts.said.words}")
        if len({(it.start.group, it.end.group) for it in parts.tethers}) > 1:
            raise refuse(where, path, "needs cables that all go from one group of bodies to one other")

    def build(self, parts: RigParts) -> Element:
        """The cables' ends."""
        from skyrig.algebra import as_jax
        from skyrig.elements import CableDrag
        from skyrig.elements.strands import Strands

        lines = Strands.of(parts.tethers)
        assert lines is not None
        size = self.density / 2 * self.coefficient * self.diameter
        return CableDrag(lines.start, lines.end, coefficient=as_jax(np.full(len(lines.names), size)))
