"""The battery of each vehicle, as its monitor reads it: what rotors draw is gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np
from msgspec import Meta

from skyrig.fields import unit
from skyrig.sensing.sensor import Carrier, Numbers, Quantity, Sensor, SensorSpec, Truth

FULL, EMPTY = 4.2, 3.3
"""Of a lithium cell at rest (V)."""
HOUR = 3600.0


class BatterySpec(SensorSpec, frozen=True, kw_only=True):
    """A lithium battery for each vehicle; it adds no weight, and rotors turn on when it is empty."""

    capacity: Annotated[float, unit("A h", "Of a full battery", gt=0)] = 1.5
    cells: Annotated[int, Meta(ge=1, le=20, description="In series (1).")] = 3
    resistance: Annotated[float, unit("ohm", "Of the whole battery", ge=0)] = 0.03
    efficiency: Annotated[
        float,
        Meta(gt=0, le=1, description="Of motors: what rotors need over what is drawn (1)."),
    ] = 0.6
    electronics: Annotated[float, unit("W", "Drawn by everything else", ge=0)] = 2.0
    charge: Annotated[float, Meta(ge=0, le=1, description="At the start, of the capacity (1).")] = 1.0

    def build(self, carrier: Carrier) -> Sensor:
        """One for each vehicle."""
        return Battery(self, carrier)


class Battery(Sensor):
    """The monitor at work: rotors turn against their torques, P = sum(torque speed) / efficiency."""

    def __init__(self, said: BatterySpec, carrier: Carrier) -> None:
        self.said, self.frames = said, tuple(carrier.airframes)
        self.charge = np.full(len(self.frames), said.charge)
        """Share that is left."""
        self._time: float | None = None
        self._current = np.zeros(len(self.frames))

    def quantities(self) -> tuple[Quantity, ...]:
        """Voltage, current and charge."""
        shape = (len(self.frames),)
        return (
            Quantity("battery.voltage", "V", shape, "battery's voltage under load"),
            Quantity("battery.current", "A", shape, "drawn from the battery"),
            Quantity("battery.charge", "1", shape, "share of the battery's capacity that is left"),
        )

    def watch(self, truth: Truth) -> None:
        """Draw what flowed since the last tick."""
        if self._time is not None:
            flown = (truth.time - self._time) / HOUR
            self.charge = np.maximum(self.charge - self._current * flown / self.said.capacity, 0.0)
        self._time = truth.time
        self._current = self._power(truth) / self.voltage(truth)

    def sample(self, truth: Truth, random: np.random.Generator) -> Mapping[str, Numbers]:
        """What it reads."""
        voltage, charge = self.voltage(truth), self.charge.copy()
        return {
            "battery.voltage": voltage,
            "battery.current": self._current.copy(),
            "battery.charge": charge,
        }

    def voltage(self, truth: Truth) -> Numbers:
        """Under load (V): U^2 - U_rest U + R P = 0; at most half of what it has at rest is lost inside."""
        rest = self.said.cells * (EMPTY + (FULL - EMPTY) * self.charge)
        inside = np.maximum(rest**2 - 4 * self.said.resistance * self._power(truth), 0.0)
        return (rest + np.sqrt(inside)) / 2

    def _power(self, truth: Truth) -> Numbers:
        """Drawn by each vehicle (W)."""
        drawn = np.empty(len(self.frames))
        for k, frame in enumerate(self.frames):
            made = frame.allocation @ np.concatenate([truth.thrust[k : k + 1], truth.moment[k]])
            push = np.maximum(made, 0.0)
            speed = np.sqrt(push / (frame.thrust_coefficient * frame.shares))
            drawn[k] = frame.torque_to_thrust * (push @ speed) / self.said.efficiency
        return drawn + self.said.electronics
