"""Cables beside what stands around: how near their straight lines come to a surface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig.elements.points import Points
from skyrig.elements.surfaces import Surface
from skyrig.rigs.bodies import Bodies

if TYPE_CHECKING:
    from collections.abc import Sequence

SPOTS = 33
"""Points of each cable that are looked at: what is thinner than a 32nd of its length may be missed."""


class Strands(eqx.Module):
    """Lines between points of two groups, each straight from end to end."""

    start: Points
    end: Points
    names: tuple[str, ...] = eqx.field(static=True, default=())
    """What each is called."""

    @staticmethod
    def of(tethers: Sequence[Any]) -> Strands | None:
        """Those of a rig; None where there are none, or where they join more than two groups."""
        groups = {(it.start.group, it.end.group) for it in tethers}
        if len(groups) != 1:
            return None
        starts, ends = ([getattr(it, side) for it in tethers] for side in ("start", "end"))
        sides = (
            Points.tied(side[0].group, [it.index for it in side], [it.point for it in side])
            for side in (starts, ends)
        )
        return Strands(*sides, names=tuple(it.name for it in tethers))

    def gap(self, surface: Surface, bodies: dict[str, Bodies]) -> Float[Array, "count *batch"]:
        """How far each is from touching a surface (m); below zero where it passes through."""
        start, end = (side.moving(bodies).place for side in (self.start, self.end))
        gaps = [surface.gap(start + s * (end - start))[0] for s in np.linspace(0.0, 1.0, SPOTS)]
        return jnp.stack(gaps).min(0)
