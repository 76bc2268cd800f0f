"""A barometer on every vehicle: the pressure of the standard atmosphere, with noise and a slow drift."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from skyrig.fields import unit
from skyrig.sensing.sensor import Carrier, Numbers, Quantity, Rate, Sensor, SensorSpec, Truth

SEA_LEVEL, TEMPERATURE, LAPSE = 101325.0, 288.15, 0.0065
"""Of the standard atmosphere: pressure (Pa) and temperature (K) at sea level, fall of temperature (K/m)."""
EXPONENT = 5.25588
"""g M / (R L) of the standard atmosphere (1)."""


def pressure(altitude: Numbers | float) -> Any:
    """Of the standard atmosphere at an altitude above the sea (m), in Pa."""
    return SEA_LEVEL * (1 - LAPSE * np.asarray(altitude, dtype=np.float64) / TEMPERATURE) ** EXPONENT


def pressure_altitude(value: Numbers | float) -> Any:
    """The altitude (m) at which the standard atmosphere has this pressure (Pa)."""
    return TEMPERATURE / LAPSE * (1 - (np.asarray(value, dtype=np.float64) / SEA_LEVEL) ** (1 / EXPONENT))


class BarometerSpec(SensorSpec, frozen=True, kw_only=True):
    """Air pressure at every vehicle."""

    rate: Annotated[Rate | None, unit("Hz", "Samples a second")] = 50.0
    noise: Annotated[float, unit("Pa", "Of a sample", ge=0)] = 2.0
    walk: Annotated[float, unit("Pa/s/sqrt(Hz)", "Random walk of its bias", ge=0)] = 0.1
    altitude: Annotated[float, unit("m", "Of the world's origin above the sea", ge=-500, le=9000)] = 488.0

    def build(self, carrier: Carrier) -> Sensor:
        """One for each vehicle."""
        return Barometer(self, len(carrier.airframes))


class Barometer(Sensor):
    """The barometers at work."""

    def __init__(self, said: BarometerSpec, count: int) -> None:
        self.said, self.count = said, count
        self.bias, self.last = np.zeros(count), 0.0

    def quantities(self) -> tuple[Quantity, ...]:
        """The pressure."""
        return (Quantity("barometer.pressure", "Pa", (self.count,), "static pressure of the air"),)

    def sample(self, truth: Truth, random: np.random.Generator) -> Mapping[str, Numbers]:
        """The pressure at the vehicles' heights."""
        kicks = random.standard_normal((2, self.count))
        self.bias = self.bias + self.said.walk * np.sqrt(max(truth.time - self.last, 0.0)) * kicks[0]
        self.last = truth.time
        height = self.said.altitude + np.asarray(truth.vehicles.position)[:, 2]
        return {"barometer.pressure": pressure(height) + self.bias + self.said.noise * kicks[1]}
