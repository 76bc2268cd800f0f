"""A load cell in every cable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

from skyrig.fields import unit
from skyrig.sensing.sensor import Carrier, Numbers, Quantity, Sensor, SensorSpec, Truth


class TensionCellsSpec(SensorSpec, frozen=True, kw_only=True):
    """The pull of every cable."""

    noise: Annotated[float, unit("N", "Of a sample", ge=0)] = 0.02
    offset: Annotated[float, unit("N", "Standard deviation of what an unloaded cell reads", ge=0)] = 0.02
    scale: Annotated[float, unit("1", "Standard deviation of the error in scale", ge=0)] = 0.01
    range: Annotated[float, unit("N", "Most it can read", gt=0)] = 100.0

    def fault(self, carrier: Carrier) -> tuple[str, str] | None:
        """There must be cables."""
        return super().fault(carrier) or (
            None if carrier.lines else ("", "needs cables, which this rig has not")
        )

    def build(self, carrier: Carrier) -> Sensor:
        """One for each cable."""
        return TensionCells(self, len(carrier.lines))


class TensionCells(Sensor):
    """The cells at work."""

    def __init__(self, said: TensionCellsSpec, count: int) -> None:
        self.said, self.count = said, count
        self.errors: tuple[Numbers, Numbers] | None = None

    def quantities(self) -> tuple[Quantity, ...]:
        """The pull."""
        return (Quantity("tension_cells.tension", "N", (self.count,), "pull of each cable, as measured"),)

    def sample(self, truth: Truth, random: np.random.Generator) -> Mapping[str, Numbers]:
        """What the cables pull with, as far as the cells go."""
        said = self.said
        if self.errors is None:
            kicks = random.standard_normal((2, self.count))
            self.errors = said.offset * kicks[0], 1 + said.scale * kicks[1]
        offset, scale = self.errors
        read = offset + scale * truth.tension + said.noise * random.standard_normal(self.count)
        return {"tension_cells.tension": np.clip(read, -said.range, said.range)}
