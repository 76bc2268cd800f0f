"""Where all bodies are believed to be, from what sensors read: what a controller sees with `sees: estimate`.

Vehicles have an error-state Kalman filter each (IMU, with motion capture, or satellites and a compass). What
is carried has no IMU: where motion capture sees it, or where the cables' directions say that it must be, is
smoothed by a Kalman filter that takes accelerations for white noise. Readings that come late are compared
with what was believed when they were taken, and what they correct now is corrected there too, so that nothing
is corrected twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skyrig.sensing.cable_directions import LoadsOnCables
from skyrig.sensing.eskf import PLACE, TURN, ErrorStateFilter, FilterEstimate
from skyrig.sensing.sensor import TEAM, Carrier, Numbers, Reading, SensorSpec
from skyrig.tracks import Track
from skyrig.turns import conjugate, multiply, of_vector, vector_of

START = (0.01, 0.01, 0.01)
"""How well it is known where a rig stands before it flies: m, m/s, rad."""
PUSH, SPIN = 0.55, 1.0
"""Density of the accelerations (m/s^2/sqrt(Hz)) and angular accelerations (rad/s^2/sqrt(Hz)) of a load."""
KEPT = 0.5
"""How long what was believed is remembered (s)."""


def needs(sensors: Mapping[str, SensorSpec], loads: bool) -> str | None:
    """What is missing to estimate by, in a few words; None if all is there."""
    if "imu" not in sensors:
        return "sensors.imu"
    if loads and not {"motion_capture", "cable_directions"} & set(sensors):
        return "sensors.motion_capture or sensors.cable_directions, which see the load"
    if not {"motion_capture", "gnss"} & set(sensors):
        return "sensors.gnss or sensors.motion_capture"
    return None


class Estimator:
    """Of one flight.

    Args:
        said: The scenario's sensors.
        bodies: Where everything is at the start, by group, (k, 3): a rig knows that when it is set up.
        carrier: What the sensors are mounted on.
    """

    def __init__(self, said: Mapping[str, SensorSpec], bodies: Mapping[str, Track], carrier: Carrier) -> None:
        self._said: dict[str, Any] = dict(said)
        self._filter = ErrorStateFilter(self._said["imu"])
        team = bodies[TEAM]
        self.team = FilterEstimate.begin(
            np.asarray(team.position), np.asarray(team.attitude), START, self._said["imu"]
        )
        self.rate = np.zeros_like(self.team.position)
        """(n, 3) of the vehicles, their frames (rad/s)."""
        self._loads = {group: _Pose(track) for group, track in bodies.items() if group != TEAM}
        directions = self._said.get("cable_directions")
        self._cables = None if directions is None else LoadsOnCables(carrier, directions)
        self._past: list[tuple[float, dict[str, tuple[Numbers, Numbers]]]] = []
        self._now = 0.0

    def bodies(self) -> dict[str, Track]:
        """Where all bodies are believed to be, by group, (k, 3)."""
        team = Track(self.team.position, self.team.velocity, self.team.attitude, self.rate)
        return {**{group: it.track() for group, it in self._loads.items()}, TEAM: team}

    def take(self, time: float, readings: Mapping[str, Reading]) -> None:
        """On to `time` (s) with what sensors read there."""
        dt, self._now = time - self._now, time
        imu = readings["imu"].values
        if dt > 0:
            self.team = self._filter.predict(self.team, imu["imu.accel"], imu["imu.gyro"], dt)
            for it in self._loads.values():
                it.predict(dt)
        self._remember(time)
        before = self._past[-1][1]
        if "motion_capture" in readings and readings["motion_capture"].fresh:
            self._seen(readings["motion_capture"])
        elif "motion_capture" not in readings:
            self._satellites(readings)
        if self._cables is not None and readings["cable_directions"].fresh:
            self._hung(self._cables, readings["cable_directions"])
        self._amend(before)
        self.rate = imu["imu.gyro"] - self.team.gyro_bias

    def _satellites(self, readings: Mapping[str, Reading]) -> None:
        own, gnss = self._filter, readings["gnss"]
        if gnss.fresh:
            said, then = self._said["gnss"], self._believed(gnss.time)[TEAM]
            sizes = np.array([said.horizontal, said.horizontal, said.vertical])
            self.team = own.place(self.team, gnss.values["gnss.position"], sizes, then[0])
            self.team = own.speed(self.team, gnss.values["gnss.velocity"], np.full(3, said.velocity))
        compass = readings.get("magnetometer")
        if compass is not None and compass.fresh:
            said = self._said["magnetometer"]
            field = compass.values["magnetometer.field"]
            self.team = own.compass(self.team, field, np.array(said.field), np.full(3, max(said.noise, 1e-3)))

    def _seen(self, frame: Reading) -> None:
        """A frame of the cameras."""
        said, then = self._said["motion_capture"], self._believed(frame.time)
        place, turned = max(said.position, 1e-5), max(said.attitude, 1e-5)

        def told(group: str) -> tuple[Numbers, Numbers]:
            whole = f"motion_capture.{group}"
            return frame.values[f"{whole}.position"], frame.values[f"{whole}.attitude"]

        position, attitude = told(TEAM)
        self.team = self._filter.place(self.team, position, np.full(3, place), then[TEAM][0])
        self.team = self._filter.turned(self.team, attitude, np.full(3, turned), then[TEAM][1])
        for group, it in self._loads.items():
            it.correct(*told(group), then[group], place, turned)

    def _hung(self, cables: LoadsOnCables, seen: Reading) -> None:
        """Where loads must be for their cables to lead as they do."""
        then, spread = self._believed(seen.time), self.team.covariance
        ends = cables.ends(seen.values["cable_directions.direction"], *then[TEAM])
        variances = np.diagonal(spread, axis1=-2, axis2=-1)
        size = cables.deviation(variances[:, PLACE], variances[:, TURN])
        for group in cables.groups:
            position, attitude, scale = cables.fit(group, ends, then[group])
            place, turned = np.nanmin(scale, axis=0) * max(size, 1e-5)
            self._loads[group].correct(position, attitude, then[group], place, turned)

    def _poses(self) -> dict[str, tuple[Numbers, Numbers]]:
        """Positions and attitudes believed now, by group."""
        loads = {group: (it.position, it.attitude) for group, it in self._loads.items()}
        return {**loads, TEAM: (self.team.position, self.team.attitude)}

    def _remember(self, time: float) -> None:
        self._past = [it for it in self._past if it[0] > time - KEPT] + [(time, self._poses())]

    def _amend(self, before: dict[str, tuple[Numbers, Numbers]]) -> None:
        """Move what was believed as what is believed now was just corrected."""
        now = self._poses()
        if all(now[group][0] is place for group, (place, _) in before.items()):
            return
        by = {
            group: (now[group][0] - place, multiply(conjugate(turned), now[group][1]))
            for group, (place, turned) in before.items()
        }
        self._past = [
            (
                time,
                {
                    group: (place + by[group][0], multiply(turned, by[group][1]))
                    for group, (place, turned) in poses.items()
                },
            )
            for time, poses in self._past
        ]

    def _believed(self, time: float) -> dict[str, tuple[Numbers, Numbers]]:
        """What was believed nearest to a time (s)."""
        return min(self._past, key=lambda it: abs(it[0] - time))[1]


class _Pose:
    """Bodies that only cameras see: place and velocity, attitude and rate, each pair with its covariance."""

    def __init__(self, track: Track) -> None:
        self.position, self.attitude = np.asarray(track.position), np.asarray(track.attitude)
        self.velocity, self.rate = np.zeros_like(self.position), np.zeros_like(self.position)
        self._spread = [np.diag([START[0] ** 2, START[1] ** 2]), np.diag([START[2] ** 2, START[2] ** 2])]

    def track(self) -> Track:
        """As they are believed to move."""
        return Track(self.position, self.velocity, self.attitude, self.rate)

    def predict(self, dt: float) -> None:
        """On by `dt` (s), whatever pushes them being white noise."""
        self.position = self.position + self.velocity * dt
        self.attitude = multiply(self.attitude, of_vector(self.rate * dt))
        on, noise = np.array([[1.0, dt], [0.0, 1.0]]), np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
        self._spread = [
            on @ it @ on.T + size**2 * noise for it, size in zip(self._spread, (PUSH, SPIN), strict=True)
        ]

    def correct(
        self, position: Numbers, attitude: Numbers, then: tuple[Numbers, Numbers], place: float, turned: float
    ) -> None:
        """With a frame, against what was believed when it was taken; deviations in m and rad."""
        first, second = (self._gain(k, size) for k, size in enumerate((place, turned)))
        off = position - then[0]
        self.position, self.velocity = self.position + first[0] * off, self.velocity + first[1] * off
        missing = vector_of(multiply(conjugate(then[1]), attitude))
        self.attitude = multiply(self.attitude, of_vector(second[0] * missing))
        self.rate = self.rate + second[1] * missing

    def _gain(self, k: int, deviation: float) -> Numbers:
        spread = self._spread[k]
        gain = spread[:, 0] / (spread[0, 0] + deviation**2)
        self._spread[k] = spread - np.outer(gain, spread[0])
        return gain
