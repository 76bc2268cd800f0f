"""A satellite receiver on every vehicle: position and velocity, and both as latitude, longitude, altitude."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

from skyrig.fields import unit
from skyrig.sensing.geodesy import ORIGIN
from skyrig.sensing.sensor import Carrier, Numbers, Quantity, Rate, Sensor, SensorSpec, Truth


class GnssSpec(SensorSpec, frozen=True, kw_only=True):
    """Position and velocity by satellites, of every vehicle."""

    rate: Annotated[Rate | None, unit("Hz", "Samples a second")] = 10.0
    horizontal: Annotated[float, unit("m", "Noise of the position, north and east", ge=0)] = 0.1
    vertical: Annotated[float, unit("m", "Noise of the height", ge=0)] = 0.15
    velocity: Annotated[float, unit("m/s", "Noise of the velocity along each axis", ge=0)] = 0.05
    origin: Annotated[
        tuple[float, float, float],
        unit("", "Where the world's origin is: latitude, longitude (degrees), altitude (m)"),
    ] = ORIGIN

    def build(self, carrier: Carrier) -> Sensor:
        """One for each vehicle."""
        return Gnss(self, len(carrier.airframes))


class Gnss(Sensor):
    """The receivers at work."""

    def __init__(self, said: GnssSpec, count: int) -> None:
        self.said, self.count = said, count

    def quantities(self) -> tuple[Quantity, ...]:
        """Position and velocity."""
        return (
            Quantity("gnss.position", "m", (self.count, 3), "from the world's origin: east, north, up"),
            Quantity("gnss.velocity", "m/s", (self.count, 3), "east, north, up"),
        )

    def sample(self, truth: Truth, random: np.random.Generator) -> Mapping[str, Numbers]:
        """Where the vehicles are, with noise."""
        said = self.said
        sizes = np.array([said.horizontal, said.horizontal, said.vertical])
        kicks = random.standard_normal((2, self.count, 3))
        return {
            "gnss.position": truth.vehicles.position + sizes * kicks[0],
            "gnss.velocity": truth.vehicles.velocity + said.velocity * kicks[1],
        }
