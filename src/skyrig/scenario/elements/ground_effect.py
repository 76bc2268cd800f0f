"""Rotors near the ground."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from skyrig.fields import unit
from skyrig.scenario.world import ElementSpec

if TYPE_CHECKING:
    from skyrig.elements import Element
    from skyrig.scenario.mechanisms import RigParts


class GroundEffectSpec(ElementSpec, frozen=True, kw_only=True):
    """Rotors near the ground lift more."""

    model: Annotated[
        Literal["multirotor", "single"],
        unit("", "With the other rotors (Sanchez-Cuevas), or each by itself (Cheeseman and Bennett)"),
    ] = "multirotor"
    fountain: Annotated[float, unit("1", "How much the air that rises below the body adds", ge=0, le=10)] = (
        2.0
    )
    ground: Annotated[float, unit("m", "Height of the ground", ge=-1e4, le=1e4)] = 0.0

    def build(self, parts: RigParts) -> Element:
        """Rotors and the distances between them."""
        from skyrig.algebra import as_jax
        from skyrig.elements import GroundEffect, RotorSet

        rotors = RotorSet.of(parts.airframes)
        r = rotors.share.shape[0]
        apart = np.full((r, r, parts.count), np.inf)
        for k, it in enumerate(parts.airframes):
            place = it.rotor_positions[:, :2]
            between = ((place[:, None] - place[None]) ** 2).sum(2)
            np.fill_diagonal(between, np.inf)
            apart[: it.rotor_count, : it.rotor_count, k] = between
        span = np.array([(2 * it.arm) ** 2 for it in parts.airframes])
        whole = (apart, span, 1.0 if self.model == "multirotor" else 0.0, self.fountain, self.ground)
        return GroundEffect(rotors, *(as_jax(np.asarray(it, dtype=float)) for it in whole))
