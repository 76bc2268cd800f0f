"""Motion capture: poses of all bodies from cameras, late, noisy and now and then not at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

from skyrig.fields import unit
from skyrig.sensing.sensor import Carrier, Numbers, Quantity, Rate, Sensor, SensorSpec, Truth
from skyrig.turns import multiply, of_vector


class MotionCaptureSpec(SensorSpec, frozen=True, kw_only=True):
    """Poses of all bodies from cameras."""

    rate: Annotated[Rate | None, unit("Hz", "Frames a second")] = 100.0
    delay: Annotated[float, unit("s", "From a frame to its arrival", ge=0, le=10)] = 0.01
    position: Annotated[float, unit("m", "Noise of the positions along each axis", ge=0)] = 1e-3
    attitude: Annotated[float, unit("rad", "Noise of the attitudes about each axis", ge=0)] = 5e-3
    lost: Annotated[float, unit("1", "Share of frames that are lost", ge=0, lt=1)] = 0.0
    out: Annotated[list[tuple[float, float]], unit("s", "From when to when nothing is seen at all")] = []

    def build(self, carrier: Carrier) -> Sensor:
        """Cameras for all bodies."""
        return MotionCapture(self, carrier)


class MotionCapture(Sensor):
    """The cameras at work."""

    def __init__(self, said: MotionCaptureSpec, carrier: Carrier) -> None:
        self.said, self.groups = said, dict(carrier.groups)

    def quantities(self) -> tuple[Quantity, ...]:
        """Position and attitude of every group."""
        found = []
        for group, count in self.groups.items():
            found += [
                Quantity(f"motion_capture.{group}.position", "m", (count, 3), f"where the {group} are seen"),
                Quantity(f"motion_capture.{group}.attitude", "1", (count, 4), "quaternion wxyz, to world"),
            ]
        return tuple(found)

    def sample(self, truth: Truth, random: np.random.Generator) -> Mapping[str, Numbers] | None:
        """A frame, or None where it is lost."""
        said, found = self.said, {}
        chance = random.random()
        for group, count in self.groups.items():
            kicks, bodies = random.standard_normal((2, count, 3)), truth.bodies[group]
            found[f"motion_capture.{group}.position"] = bodies.position + said.position * kicks[0]
            turned = multiply(np.asarray(bodies.attitude), of_vector(said.attitude * kicks[1]))
            found[f"motion_capture.{group}.attitude"] = turned
        blind = any(since <= truth.time < until for since, until in said.out)
        return None if blind or chance < said.lost else found
