"""What speed controllers tell of their rotors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

from skyrig.fields import unit
from skyrig.sensing.sensor import Carrier, Numbers, Quantity, Sensor, SensorSpec, Truth


class RotorSpeedsSpec(SensorSpec, frozen=True, kw_only=True):
    """Speed of every rotor, from the thrust it makes: w = sqrt(f / k)."""

    noise: Annotated[float, unit("rad/s", "Of a sample", ge=0)] = 1.0

    def build(self, carrier: Carrier) -> Sensor:
        """One for each rotor."""
        return RotorSpeeds(self, carrier)


class RotorSpeeds(Sensor):
    """The counters at work; vehicles with fewer rotors than others read zero for those they lack."""

    def __init__(self, said: RotorSpeedsSpec, carrier: Carrier) -> None:
        self.said, self.frames = said, tuple(carrier.airframes)
        self.shape = len(self.frames), max(frame.rotor_count for frame in self.frames)

    def quantities(self) -> tuple[Quantity, ...]:
        """The speeds."""
        return (Quantity("rotor_speeds.speed", "rad/s", self.shape, "rotors' speeds, as counted"),)

    def sample(self, truth: Truth, random: np.random.Generator) -> Mapping[str, Numbers]:
        """From thrust and moment to thrusts of rotors, to speeds."""
        kicks, speed = random.standard_normal(self.shape), np.zeros(self.shape)
        for k, frame in enumerate(self.frames):
            made = frame.allocation @ np.concatenate([truth.thrust[k : k + 1], truth.moment[k]])
            counted = np.sqrt(np.maximum(made / (frame.thrust_coefficient * frame.shares), 0.0))
            speed[k, : frame.rotor_count] = counted + self.said.noise * kicks[k, : frame.rotor_count]
        return {"rotor_speeds.speed": speed}
