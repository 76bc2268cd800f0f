"""Drag by coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from skyrig.fields import Point, SpecPart, unit
from skyrig.scenario.sentences import nearest, refuse, shown
from skyrig.scenario.world import ElementSpec

if TYPE_CHECKING:
    from skyrig.elements import Element
    from skyrig.scenario.mechanisms import RigParts


class Coefficients(SpecPart, frozen=True, kw_only=True):
    """Of the drag of a body, one for all directions or along each of its axes."""

    linear: Annotated[float | Point, unit("N s/m", "Drag over speed")] = 0.0
    quadratic: Annotated[float | Point, unit("N s^2/m^2", "Drag over speed squared")] = 0.0


class DragSpec(ElementSpec, frozen=True, kw_only=True):
    """Air against bodies: F = -(linear + quadratic |v|) v, axis by axis of each body's frame."""

    pushes = True
    drags = True

    bodies: Annotated[dict[str, Coefficients], unit("", "Coefficients by group of bodies: payload, vehicles")]

    def check(self, parts: RigParts, where: str, path: str) -> None:
        """The groups are there, and nothing is pushed along."""
        groups = (*parts.loads, "vehicles")
        for name, given in self.bodies.items():
            if name not in groups:
                listed = f"{', '.join(groups)}{nearest(name, groups)}"
                raise refuse(
                    where, f"{path}.bodies", f"must name groups of the rig, {listed}, not {shown(name)}"
                )
            for field in ("linear", "quadratic"):
                if np.any(np.asarray(getattr(given, field)) < 0):
                    raise refuse(where, f"{path}.bodies.{name}.{field}", "must not be below zero")

    def build(self, parts: RigParts) -> Element:
        """The drag of every group that is named."""
        from skyrig.algebra import as_jax
        from skyrig.elements import Drag

        def along(name: str) -> dict[str, Any]:
            return {
                group: as_jax(
                    np.broadcast_to(np.asarray(getattr(it, name), dtype=float), (3,)).reshape(3, 1).copy()
                )
                for group, it in self.bodies.items()
            }

        return Drag(along("linear"), along("quadratic"))
