"""A magnetometer on every vehicle: the earth's field in the body frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

from skyrig.fields import Point, unit
from skyrig.sensing.sensor import Carrier, Numbers, Quantity, Rate, Sensor, SensorSpec, Truth
from skyrig.turns import conjugate, turn

FIELD = (1.1, 21.5, -43.0)
"""In Zurich: east, north, up (µT)."""


class MagnetometerSpec(SensorSpec, frozen=True, kw_only=True):
    """The earth's magnetic field at every vehicle."""

    rate: Annotated[Rate | None, unit("Hz", "Samples a second")] = 50.0
    noise: Annotated[float, unit("µT", "Of a sample along each axis", ge=0)] = 0.2
    bias: Annotated[float, unit("µT", "Standard deviation of what the vehicle itself adds", ge=0)] = 0.0
    field: Annotated[Point, unit("µT", "Of the earth: east, north, up")] = FIELD

    def build(self, carrier: Carrier) -> Sensor:
        """One for each vehicle."""
        return Magnetometer(self, len(carrier.airframes))


class Magnetometer(Sensor):
    """The magnetometers at work."""

    def __init__(self, said: MagnetometerSpec, count: int) -> None:
        self.said, self.count = said, count
        self.bias: Numbers | None = None

    def quantities(self) -> tuple[Quantity, ...]:
        """The field."""
        return (Quantity("magnetometer.field", "µT", (self.count, 3), "magnetic field, body frame"),)

    def sample(self, truth: Truth, random: np.random.Generator) -> Mapping[str, Numbers]:
        """The field along the vehicles' axes."""
        shape = (self.count, 3)
        if self.bias is None:
            self.bias = self.said.bias * random.standard_normal(shape)
        earth = np.broadcast_to(np.asarray(self.said.field, dtype=np.float64), shape)
        seen = turn(conjugate(np.asarray(truth.vehicles.attitude)), earth)
        return {"magnetometer.field": seen + self.bias + self.said.noise * random.standard_normal(shape)}
