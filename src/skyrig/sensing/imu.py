"""An inertial measurement unit on every vehicle: mean specific force and mean body rate.

Such units add up what they feel between two samples, so the readings are means: of the specific force
f = R^T (dv/dt - g), in which the pull of a cable, drag and contact count like thrust, and of the body rate.
Their integrals are therefore exact however coarse the rate, and an impact of impulse J shows as J / (m dt) in
the one sample in which it falls, or as the range if it is more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

from skyrig.constants import GRAVITY
from skyrig.fields import Point, unit
from skyrig.sensing.sensor import Carrier, Numbers, Quantity, Sensor, SensorSpec, Truth
from skyrig.turns import conjugate, multiply, of_vector, turn, vector_of


class ImuSpec(SensorSpec, frozen=True, kw_only=True):
    """Accelerometers and gyroscopes on every vehicle."""

    accel_noise: Annotated[float, unit("m/s^2/sqrt(Hz)", "White noise of the accelerometers", ge=0)] = 2e-3
    gyro_noise: Annotated[float, unit("rad/s/sqrt(Hz)", "White noise of the gyroscopes", ge=0)] = 2e-4
    accel_bias: Annotated[float, unit("m/s^2", "Standard deviation of the biases at the start", ge=0)] = 0.05
    gyro_bias: Annotated[float, unit("rad/s", "Standard deviation of the biases at the start", ge=0)] = 5e-3
    accel_walk: Annotated[float, unit("m/s^3/sqrt(Hz)", "Random walk of the biases", ge=0)] = 1e-3
    gyro_walk: Annotated[float, unit("rad/s^2/sqrt(Hz)", "Random walk of the biases", ge=0)] = 1e-5
    accel_range: Annotated[float, unit("m/s^2", "Most it can read along an axis", gt=0)] = 156.9
    gyro_range: Annotated[float, unit("rad/s", "Most it can read about an axis", gt=0)] = 34.9
    position: Annotated[Point, unit("m", "Where it sits, from the centre of mass, body frame")] = (
        0.0,
        0.0,
        0.0,
    )

    def build(self, carrier: Carrier) -> Sensor:
        """One for each vehicle."""
        return Imu(self, carrier)


class Imu(Sensor):
    """The units at work."""

    def __init__(self, said: ImuSpec, carrier: Carrier) -> None:
        self.said, self.count = said, len(carrier.airframes)
        self.place = np.asarray(said.position, dtype=np.float64)
        self.before: tuple[float, Numbers, Numbers] | None = None
        self.biases: tuple[Numbers, Numbers] | None = None

    def quantities(self) -> tuple[Quantity, ...]:
        """Specific force and body rate."""
        shape = (self.count, 3)
        return (
            Quantity("imu.accel", "m/s^2", shape, "specific force, body frame"),
            Quantity("imu.gyro", "rad/s", shape, "body rate"),
        )

    def sample(self, truth: Truth, random: np.random.Generator) -> Mapping[str, Numbers]:
        """Means since the last sample, with biases and noise, within the range."""
        force, rate, dt = self._felt(truth)
        said, shape = self.said, force.shape
        if self.biases is None:
            self.biases = (
                said.accel_bias * random.standard_normal(shape),
                said.gyro_bias * random.standard_normal(shape),
            )
        accel, gyro = self.biases
        kicks = random.standard_normal((4, *shape))
        per_root = 1 / np.sqrt(dt) if dt > 0 else 0.0
        read = force + accel + said.accel_noise * per_root * kicks[0]
        turned = rate + gyro + said.gyro_noise * per_root * kicks[1]
        self.biases = (
            accel + said.accel_walk * np.sqrt(dt) * kicks[2],
            gyro + said.gyro_walk * np.sqrt(dt) * kicks[3],
        )
        return {
            "imu.accel": np.clip(read, -said.accel_range, said.accel_range),
            "imu.gyro": np.clip(turned, -said.gyro_range, said.gyro_range),
        }

    def _felt(self, truth: Truth) -> tuple[Numbers, Numbers, float]:
        """Mean specific force (m/s^2), mean rate (rad/s), both in the body frame, and over how long (s)."""
        _, velocity = truth.vehicles.point(self.place)
        attitude, rate = np.asarray(truth.vehicles.attitude), np.asarray(truth.vehicles.rate)
        last, self.before = self.before, (truth.time, velocity, attitude)
        down = np.array([0.0, 0.0, -GRAVITY])
        if last is None or truth.time <= last[0]:
            return turn(conjugate(attitude), np.broadcast_to(-down, velocity.shape)), rate, 0.0
        dt = truth.time - last[0]
        angle = vector_of(multiply(conjugate(last[2]), attitude))
        middle = multiply(last[2], of_vector(angle / 2))
        return turn(conjugate(middle), (velocity - last[1]) / dt - down), angle / dt, dt
