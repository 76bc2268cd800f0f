"""What PX4 is told at a tick, all vehicles at once: HIL_SENSOR, HIL_GPS and HIL_STATE_QUATERNION in numbers.

They stand in the order in which they go over the wire, largest type first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyrig.bridges import frames
from skyrig.bridges.autopilot import AutopilotMoment
from skyrig.constants import GRAVITY
from skyrig.sensing.barometer import pressure_altitude
from skyrig.sensing.geodesy import geodetic
from skyrig.sensing.sensor import Numbers

ACCEL, GYRO, MAGNET, PRESSURE = 0x7, 0x38, 0x1C0, 0x1A00
"""Bits of HIL_SENSOR.fields_updated."""
WARMTH = 25.0
"""Told as the air's (degrees Celsius)."""
SPREAD = (30, 40)
"""Told as the satellites' dilution of precision, horizontal and vertical (0.01)."""
SATELLITES, FIX = 12, 3
Origin = tuple[float, float, float]


@dataclass(frozen=True)
class VehicleRow:
    """Of one vehicle."""

    state: tuple[float, ...]
    """The truth, which PX4 puts into its log."""
    satellites: tuple[int, ...] | None
    """None unless they are new."""
    sensors: tuple[float, ...]


def rows(moment: AutopilotMoment, origin: Origin) -> list[VehicleRow]:
    """What each vehicle is told."""
    states, sensors = _states(moment, origin), _sensors(moment)
    seen = _satellites(moment, origin) if moment.readings["gnss"].fresh else [None] * len(states)
    return [VehicleRow(*parts) for parts in zip(states, seen, sensors, strict=True)]


def _sensors(moment: AutopilotMoment) -> list[tuple[float, ...]]:
    """HIL_SENSOR: SI, but Gauss and hPa, body axes forward, right, down."""
    readings, usec = moment.readings, moment.usec
    imu, magnet, air = readings["imu"].values, readings["magnetometer"], readings["barometer"]
    pressure = air.values["barometer.pressure"][:, None]
    fields = ACCEL | GYRO | (MAGNET if magnet.fresh else 0) | (PRESSURE if air.fresh else 0)
    felt = [frames.body(imu["imu.accel"]), frames.body(imu["imu.gyro"])]
    field = frames.body(magnet.values["magnetometer.field"]) / 100  # µT to Gauss
    told = [*felt, field, pressure / 100, 0 * pressure, pressure_altitude(pressure), 0 * pressure + WARMTH]
    return [(usec, *row, fields, 0) for row in np.concatenate(told, axis=1).tolist()]


def _states(moment: AutopilotMoment, origin: Origin) -> list[tuple[float, ...]]:
    """HIL_STATE_QUATERNION: degrees times 1e7, mm, cm/s, thousandths of g."""
    it, usec = moment.truth.vehicles, moment.usec
    place = _coded(geodetic(np.asarray(it.position), origin))
    turned = frames.attitude(np.asarray(it.attitude))
    floats = np.concatenate([turned, frames.body(np.asarray(it.rate))], axis=1).tolist()
    velocity = _short(frames.world(np.asarray(it.velocity)) * 100)
    felt = _short(frames.body(moment.readings["imu"].values["imu.accel"]) * (1000 / GRAVITY))
    parts = zip(floats, place, velocity, felt, strict=True)
    return [(usec, *a, *b, *c, 0, 0, *d) for a, b, c, d in parts]


def _satellites(moment: AutopilotMoment, origin: Origin) -> list[tuple[int, ...]]:
    """HIL_GPS: degrees times 1e7, mm, cm/s, hundredths of a degree."""
    values = moment.readings["gnss"].values
    place = _coded(geodetic(values["gnss.position"], origin))
    velocity = frames.world(values["gnss.velocity"]) * 100
    speed = np.minimum(np.rint(np.hypot(velocity[:, 0], velocity[:, 1])), 65534).astype(int)
    course = np.rint(np.degrees(np.arctan2(velocity[:, 1], velocity[:, 0])) % 360.0 * 100).astype(int) % 36000
    parts = zip(place, speed.tolist(), _short(velocity), course.tolist(), strict=True)
    return [
        (moment.usec, *where, *SPREAD, fast, *way, towards, FIX, SATELLITES, 0, 0)
        for where, fast, way, towards in parts
    ]


def _coded(place: Numbers) -> list[list[int]]:
    """Latitude, longitude (degrees) and altitude (m) as whole numbers of 1e-7 degrees and mm."""
    return np.rint(place * [1e7, 1e7, 1e3]).astype(int).tolist()


def _short(values: Numbers) -> list[list[int]]:
    """As 16 bits hold them."""
    return np.minimum(np.maximum(np.rint(values), -32768), 32767).astype(int).tolist()
