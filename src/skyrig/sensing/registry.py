"""What `sensors:` may hold, by name."""

from __future__ import annotations

from skyrig.sensing.barometer import BarometerSpec
from skyrig.sensing.battery import BatterySpec
from skyrig.sensing.cable_directions import CableDirectionsSpec
from skyrig.sensing.gnss import GnssSpec
from skyrig.sensing.imu import ImuSpec
from skyrig.sensing.magnetometer import MagnetometerSpec
from skyrig.sensing.motion_capture import MotionCaptureSpec
from skyrig.sensing.rotor_speeds import RotorSpeedsSpec
from skyrig.sensing.sensor import SensorSpec
from skyrig.sensing.tension_cells import TensionCellsSpec

SENSORS: dict[str, type[SensorSpec]] = {
    "imu": ImuSpec,
    "gnss": GnssSpec,
    "barometer": BarometerSpec,
    "magnetometer": MagnetometerSpec,
    "motion_capture": MotionCaptureSpec,
    "cable_directions": CableDirectionsSpec,
    "tension_cells": TensionCellsSpec,
    "rotor_speeds": RotorSpeedsSpec,
    "battery": BatterySpec,
}
