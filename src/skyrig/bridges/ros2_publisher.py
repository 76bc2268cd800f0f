"""What a session tells on ROS 2's wire at every tick."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skyrig.bridges import ros2_markers
from skyrig.bridges import ros2_types as it
from skyrig.bridges.mission import Mission
from skyrig.bridges.ros2_wire import Wire
from skyrig.bridges.ros_messages import MAP, event_text
from skyrig.bridges.scene import names
from skyrig.errors import InputError
from skyrig.flight.records import TEAM
from skyrig.flight.rig import rig_data
from skyrig.runs.session import Session
from skyrig.turns import conjugate, of_vector, turn

DRAWN, SHOWN = 1 / 30, 1.0
"""How often cables are drawn, and bodies (s)."""
DISCHARGING, GOOD, LITHIUM = 2, 1, 3
"""Of sensor_msgs/BatteryState: status, health and technology."""


class Ros2Publisher:
    """A session's topics.

    Args:
        session: What is flown; its scenario has an IMU and batteries.
        wire: Where to tell it.
    """

    def __init__(self, session: Session, wire: Wire) -> None:
        self.session, self.wire = session, wire
        self.rig = rig_data(session.scenario.parts)
        self.named = names(self.rig)
        self._due = {"drawn": 0.0, "shown": 0.0}
        """When cables, and bodies and batteries, are told next (s)."""
        try:
            self._mission: Mission | None = Mission(session.built)
        except InputError:  # nothing is wanted of anybody
            self._mission = None
        wire.offer("/events", it.String)

    def tick(self) -> None:
        """Tell this tick."""
        session, write = self.session, self.wire.write
        truth, stamp = session.truth, stamp_of(session.time)
        header = it.Header(stamp, MAP)
        frames = []
        for group, named in self.named.items():
            track = truth.bodies[group]
            for k, name in enumerate(named):
                place, velocity, turned, rate = (np.asarray(leaf)[k] for leaf in vars(track).values())
                own = turn(conjugate(turned), velocity)
                pose = _pose(place, turned)
                twist = it.Twist(_vector(own), _vector(rate))
                whole = it.PoseWithCovariance(pose, [0.0] * 36), it.TwistWithCovariance(twist, [0.0] * 36)
                write(f"/{name}/odometry", it.Odometry(header, name, *whole))
                write(f"/{name}/pose", it.PoseStamped(header, pose))
                moved = it.Transform(_vector(place), pose.orientation)
                frames.append(it.TransformStamped(header, name, moved))
        for k, name in enumerate(self.named[TEAM]):
            write(f"/{name}/imu", self._imu(stamp, name, k))
        layout = it.ArrayLayout([], 0)
        write("/signals/cable/tension", it.Float64MultiArray(layout, _floats(truth.tension)))
        write("/tf", it.TFMessage(frames))
        self._wanted(header)
        for event in session.happened():
            write("/events", it.String(event_text(event)))
        self._now_and_then(truth, stamp)
        write("/clock", it.Clock(stamp))  # last: whoever has it has all

    def _wanted(self, header: Any) -> None:
        """Where the scenario's reference wants the load, and so each vehicle: place, yaw and velocity."""
        if self._mission is None:
            return
        now, target = self._mission.along(self.session.time), self.session.target.payload
        level = of_vector(np.array([0.0, 0.0, now.yaw]))
        goals = {name: (now.position[k], now.velocity[k], level) for k, name in enumerate(self.named[TEAM])}
        if target is not None:
            name = self.named[self.rig.carried or "payload"][0]
            goals[name] = target.position[0], target.position[1], target.attitude
        for name, (place, velocity, turned) in goals.items():
            self.wire.write(f"/{name}/reference", it.PoseStamped(header, _pose(place, turned)))
            told = it.Vector3Stamped(header, _vector(velocity))
            self.wire.write(f"/{name}/reference_velocity", told)

    def _now_and_then(self, truth: Any, stamp: Any) -> None:
        """What need not be told at every tick: drawings and batteries."""
        now, markers = self.session.time, []
        if self._is_due("shown", now, SHOWN):
            markers += ros2_markers.bodies(self.rig, stamp)
            for k, name in enumerate(self.named[TEAM]):
                self.wire.write(f"/{name}/battery", self._battery(stamp, name, k))
        if self._is_due("drawn", now, DRAWN):
            markers += ros2_markers.cables(self.rig, truth.bodies, stamp)
        if markers:
            self.wire.write("/markers", it.MarkerArray(markers))

    def _is_due(self, what: str, now: float, period: float) -> bool:
        due = now >= self._due[what] - 1e-9 or now == 0.0
        if due:
            self._due[what] = now + period
        return due

    def _battery(self, stamp: Any, name: str, k: int) -> Any:
        """What its monitor reads; a current that is drawn is negative there."""
        read, said = self.session.sensors["battery"].values, self.session.scenario.spec.instruments["battery"]
        words = "voltage", "current", "charge"
        voltage, current, charge = (float(read[f"battery.{word}"][k]) for word in words)
        full, cells = (float(getattr(said, word)) for word in ("capacity", "cells"))
        numbers = voltage, math.nan, -current, charge * full, full, full, charge
        each = [voltage / cells] * int(cells)
        state = DISCHARGING, GOOD, LITHIUM
        return it.BatteryState(it.Header(stamp, name), *numbers, *state, True, each, [], "", "")

    def _imu(self, stamp: Any, name: str, k: int) -> Any:
        values = self.session.sensors["imu"].values
        gyro, accel = (_vector(values[f"imu.{word}"][k]) for word in ("gyro", "accel"))
        unknown = [-1.0, *[0.0] * 8]  # as sensor_msgs says that there is no attitude
        blank, none = it.Quaternion(0.0, 0.0, 0.0, 1.0), [0.0] * 9
        return it.Imu(it.Header(stamp, name), blank, unknown, gyro, none, accel, none)


def stamp_of(seconds: float) -> Any:
    """A time as ROS 2 has it."""
    nanoseconds = round(seconds * 1e9)
    return it.Time(nanoseconds // 10**9, nanoseconds % 10**9)


def _floats(values: Any) -> list[float]:
    return [float(each) for each in values]


def _vector(values: Any) -> Any:
    return it.Vector3(*_floats(values))


def _pose(place: Any, wxyz: Any) -> Any:
    w, x, y, z = _floats(wxyz)
    return it.Pose(it.Point(*_floats(place)), it.Quaternion(x, y, z, w))
