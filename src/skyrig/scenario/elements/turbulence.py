"""Dryden's turbulence, as scenarios describe it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from skyrig.fields import unit
from skyrig.scenario.world import ElementSpec

if TYPE_CHECKING:
    from skyrig.elements import Element
    from skyrig.scenario.mechanisms import RigParts

LOG_SHEAR = 0.04572
"""Roughness of the wind's growth with height, 0.15 feet (m)."""


class TurbulenceSpec(ElementSpec, frozen=True, kw_only=True):
    """Dryden's turbulence at low altitude (MIL-F-8785C), the same at all places."""

    pushes = True

    speed: Annotated[float, unit("m/s", "Mean wind at 20 feet, which sets how rough it is", gt=0, le=100)]
    height: Annotated[float, unit("m", "At which the rig flies, which sets its lengths", gt=0, le=304.8)] = (
        6.096
    )
    direction: Annotated[float, unit("rad", "Where the mean wind goes, from x towards y", ge=-7, le=7)] = 0.0
    airspeed: Annotated[
        Annotated[float, Meta(gt=0, le=100)] | None,
        unit("m/s", "At which it is carried past; the mean wind at that height if left out"),
    ] = None
    seed: Annotated[
        Annotated[int, Meta(ge=0, le=2**32 - 1)] | None, unit("", "Of its own; the scenario's if left out")
    ] = None
    grid: Annotated[float, unit("s", "Between the points it is computed at", ge=1e-3, le=0.1)] = 0.01
    longest_step: Annotated[
        Annotated[float, Meta(gt=0, le=0.1)] | None,
        unit("s", "Longest physics step; that of the loop if left out"),
    ] = None

    def placed(self, spec: Any) -> TurbulenceSpec:
        """With the scenario's seed and step."""
        seed = spec.seed if self.seed is None else self.seed
        step = spec.loop.step if self.longest_step is None else self.longest_step
        return msgspec.structs.replace(self, seed=seed, longest_step=step)

    def build(self, parts: RigParts) -> Element:
        """The filters of all three axes."""
        from skyrig.elements.turbulence import Turbulence, dryden

        lengths, sigma = dryden(self.height, self.speed)
        above = max(self.height, 3.048) / LOG_SHEAR
        carried = self.speed * math.log(above) / math.log(6.096 / LOG_SHEAR)
        times = lengths / (carried if self.airspeed is None else self.airspeed)
        reach = max(1, math.ceil((self.longest_step or 0.0) / self.grid - 1e-6))
        return Turbulence.of(np.asarray(times), sigma, self.direction, self.seed or 0, self.grid, reach)
