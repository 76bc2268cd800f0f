"""Drag of what is carried, from its shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from msgspec import Meta

from skyrig.fields import unit
from skyrig.scenario.sentences import refuse
from skyrig.scenario.world import AIR_DENSITY, ElementSpec

if TYPE_CHECKING:
    from skyrig.elements import Element
    from skyrig.scenario.mechanisms import RigParts
    from skyrig.vehicles import Payload


class PayloadDragSpec(ElementSpec, frozen=True, kw_only=True):
    """Air against what is carried, from its shape: F = -density/2 coefficient area |v| v."""

    pushes = True
    drags = True

    coefficient: Annotated[
        Annotated[float, Meta(ge=0, le=10)] | None,
        unit("1", "Of its shape; 1.05 of a box, 0.47 of a ball if left out"),
    ] = None
    density: Annotated[float, unit("kg/m^3", "Of the air", gt=0, le=10)] = AIR_DENSITY

    def check(self, parts: RigParts, where: str, path: str) -> None:
        """Something is carried."""
        if not parts.loads:
            raise refuse(where, path, "needs a payload, which this rig has not")

    def build(self, parts: RigParts) -> Element:
        """Areas of every load."""
        from skyrig.algebra import as_jax
        from skyrig.elements import PayloadDrag

        flat, ball = {}, {}
        for group, them in parts.loads.items():
            usual = [0.47 if it.is_point else 1.05 for it in them]
            half = (
                self.density
                / 2
                * np.array([each if self.coefficient is None else self.coefficient for each in usual])
            )
            areas = [areas_of(it) for it in them]
            flat[group] = as_jax(half * np.stack([area[:3] for area in areas], axis=1))
            ball[group] = as_jax(half * np.array([area[3] for area in areas]))
        return PayloadDrag(flat, ball)


def areas_of(load: Payload) -> np.ndarray:
    """Area seen along x, y and z of a payload's frame, and that of a ball (m^2), one or the other zero."""
    if load.is_point:
        radius = float(getattr(load.shape, "radius", 0.0))
        return np.array([0.0, 0.0, 0.0, np.pi * radius**2])
    corners = np.asarray(load.shape.corners)
    wide = np.ptp(corners, axis=0)
    outline = getattr(load.shape, "outline", None)
    top = wide[0] * wide[1] if outline is None else _inside(np.asarray(outline))
    return np.array([wide[1] * wide[2], wide[0] * wide[2], top, 0.0])


def _inside(outline: np.ndarray) -> float:
    """Area within an outline (m^2)."""
    x, y = outline.T
    return float(abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2)
