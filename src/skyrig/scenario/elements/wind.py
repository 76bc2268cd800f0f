"""A steady wind, its growth with height, and gusts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np

from skyrig.fields import Point, SpecPart, unit
from skyrig.scenario.sentences import refuse
from skyrig.scenario.world import ElementSpec

if TYPE_CHECKING:
    from skyrig.elements import Element
    from skyrig.scenario.mechanisms import RigParts

FASTEST = 100.0
"""No wind is faster (m/s)."""


class ShearSpec(SpecPart, frozen=True, kw_only=True):
    """Wind that grows with the logarithm of height: ln(z/roughness)/ln(height/roughness)."""

    height: Annotated[float, unit("m", "Where the wind is as stated: 20 feet", gt=0, le=1e4)] = 6.096
    roughness: Annotated[float, unit("m", "Below it there is none: 0.15 feet", gt=0, le=100)] = 0.04572


class GustSpec(SpecPart, frozen=True, kw_only=True):
    """A gust that rises by 1 - cosine, stays, and falls as it rose."""

    time: Annotated[float, unit("s", "When it begins", ge=0)]
    velocity: Annotated[Point, unit("m/s", "What it adds at its height, world frame")]
    rise: Annotated[float, unit("s", "How long it rises, and falls", gt=0, le=1e3)] = 1.0
    hold: Annotated[float, unit("s", "How long it stays in between", ge=0, le=1e6)] = 0.0


class WindSpec(ElementSpec, frozen=True, kw_only=True):
    """A steady wind that all bodies feel, with shear and gusts if wanted."""

    pushes = True

    velocity: Annotated[Point, unit("m/s", "Where the air goes, world frame")] = (0.0, 0.0, 0.0)
    shear: Annotated[ShearSpec | None, unit("", "How it grows with height; the same at all if left out")] = (
        None
    )
    gusts: Annotated[list[GustSpec], unit("", "Gusts, in any order")] = []

    def check(self, parts: RigParts, where: str, path: str) -> None:
        """Winds are winds, and shear has a height above its roughness."""
        given = {"velocity": self.velocity} | {
            f"gusts[{k}].velocity": it.velocity for k, it in enumerate(self.gusts)
        }
        for field, velocity in given.items():
            if not np.linalg.norm(velocity) <= FASTEST:
                raise refuse(where, f"{path}.{field}", f"must be at most {FASTEST:g} m/s, not {velocity}")
        if self.shear is not None and self.shear.height <= self.shear.roughness:
            raise refuse(
                where, f"{path}.shear.height", f"must be above its roughness {self.shear.roughness:g} m"
            )

    def build(self, parts: RigParts) -> Element:
        """The wind."""
        from skyrig.algebra import as_jax
        from skyrig.elements import Gusts, Shear, Wind

        shear = gusts = None
        if self.shear is not None:
            shear = Shear(*(as_jax(np.asarray(it)) for it in (self.shear.height, self.shear.roughness)))
        if self.gusts:
            rows = np.array([(it.time, it.rise, it.hold) for it in self.gusts]).T
            velocity = np.array([it.velocity for it in self.gusts], dtype=float)[:, :, None]
            gusts = Gusts(*(as_jax(row.copy()) for row in rows), velocity=as_jax(velocity))
        return Wind(as_jax(np.array(self.velocity, dtype=float)[:, None]), shear, gusts)
