"""A stand-in for an autopilot: a program of its own that speaks PX4's or ArduPilot's simulator protocol.

    python standin.py px4 -i 0        (or ardupilot)

It is true to the protocol, not to the firmware. It boots for some sensor messages, answers each one with
actuators of the same time, follows set-points and arms by MAVLink over UDP. As ArduPilot it wants to be asked
to take off once it is armed, spins up for two seconds, and idles for good if a set-point comes before it
flies. It flies by the truth that simulators send along (HIL_STATE_QUATERNION, or ArduPilot's JSON), not by an
estimate of its own; its law is a plain cascade of position, velocity, attitude and rate. It needs NumPy and
pymavlink and nothing of skyrig; what it knows of its airframe stands in the environment variable
SKYRIG_STANDIN.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import socket
import struct
import sys
import time
from typing import Any

os.environ.setdefault("MAVLINK20", "1")

import numpy as np
from pymavlink.dialects.v20 import common

GRAVITY, EARTH = 9.80665, 6371000.0
ARMED, BOOT = 128, 10
FLIES = 0.9
"""Share of the hover's thrust from which it flies and follows."""
SPIN_UP = 2.0
"""From rest to the hover's thrust, where it takes off by a command (s)."""
HEARTBEAT, PLACED = 250, 1 | 2 | 16
"""Answers between two heartbeats; flags of a filter that knows where it is."""
SERVOS = struct.Struct("<HHI16H")
MAGIC, NO_YAW = 18458, 1 << 10
OWN_TURN, OWN_RATE = np.array([10.0, 10.0, 3.0]), 25.0
"""Its own loops, where it is told places: rate over missing turn, acceleration over missing rate (1/s)."""


def rotation(q):
    """Of a unit quaternion wxyz, body to world."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def heading(q):
    """Of a unit quaternion wxyz (rad)."""
    w, x, y, z = q
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def cross(a, b):
    """Vector product; NumPy's own takes ten times as long for one."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def within(values, most):
    """Values between -most and most."""
    return np.minimum(np.maximum(values, -most), most)


def messages(coder, raw) -> list[Any]:
    """Those that are whole with these bytes."""
    return coder.parse_buffer(raw) or []


class StandinLaw:
    """Position, velocity, attitude and rate loops of one vehicle; world north, east, down."""

    def __init__(self, frame):
        self.inertia = np.array(frame["inertia"])
        self.weight, self.most = float(frame["hover"]), np.array(frame["thrust_max"])
        self.inverse = np.linalg.pinv(np.array(frame["mixing"]))
        self.integral = np.zeros(3)
        self.turn, self.rate = np.array(frame["turn"]), np.array(frame["rate"])
        self.least, self.leans = frame["least"], frame["leans"]

    def bring(self, dt, state, wanted):
        """Controls between 0 and 1 that bring a state to where it is wanted."""
        place, velocity, turned, rate = state
        goal, speed, push, yaw = wanted
        off = speed + within(2.0 * (goal - place), 2.0) - velocity
        self.integral = within(self.integral + 1.5 * off * dt, 3.0)
        pull = push + 4.0 * off + self.integral - [0.0, 0.0, GRAVITY]
        pull[2] = min(pull[2], -0.3 * GRAVITY)
        down = -pull / math.sqrt(pull @ pull)
        side = cross(down, (math.cos(yaw), math.sin(yaw), 0.0))
        side /= math.sqrt(side @ side)
        aim = np.array([cross(side, down), side, down]).T
        thrust = self.weight / GRAVITY * -(pull @ turned[:, 2])
        return self.steer(turned, rate, aim, thrust, OWN_TURN, OWN_RATE)

    def hold(self, state, aim, throttle):
        """Controls between 0 and 1 for an attitude and a throttle, by the loops that firmware is told."""
        _, _, turned, rate = state
        share = self.least + (1 - self.least) * throttle
        thrust = share * self.most.sum() / (max(aim[2, 2], 0.1) if self.leans else 1.0)
        return self.steer(turned, rate, aim, thrust, self.turn, self.rate)

    def steer(self, turned, rate, aim, thrust, stiff, fast):
        """Controls that turn the body towards `aim` and push."""
        skew = aim.T @ turned - turned.T @ aim
        missing = -0.5 * np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
        spin = fast * (stiff * missing - rate)
        moment = self.inertia @ spin + cross(rate, self.inertia @ rate)
        asked = self.inverse @ [thrust, moment[0], -moment[1], -moment[2]]  # rotors have forward, left, up
        return np.sqrt(np.minimum(np.maximum(asked / self.most, 0.0), 1.0))


class Companion:
    """Set-points and commands by UDP."""

    def __init__(self, instance, port, takes_off):
        self.takes_off = takes_off
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.to = ("127.0.0.1", port)
        self.coder = common.MAVLink(None, srcSystem=instance + 1, srcComponent=1)
        self.coder.robust_parsing = True
        self.armed, self.follows, self.wanted = False, False, None
        self.held = None
        """Attitude and throttle, where those are told instead of a place."""
        self.asked = False
        """Whether it was asked to take off."""

    def beat(self):
        """One heartbeat."""
        mode = 1 | (ARMED if self.armed else 0)
        beat = self.coder.heartbeat_encode(2, 12, mode, 6 << 16 if self.follows else 0, 4)
        sure = self.coder.estimator_status_encode(0, PLACED, *[0.0] * 8)
        with contextlib.suppress(OSError):
            for message in (beat, sure):
                self.socket.sendto(message.pack(self.coder), self.to)

    def listen(self):
        """Do what has been asked."""
        while True:
            try:
                raw = self.socket.recv(65536)
            except OSError:
                return
            for it in messages(self.coder, raw):
                kind = it.get_type()
                if kind == "COMMAND_LONG" and it.command == 176:
                    self.follows = True
                elif kind == "COMMAND_LONG" and it.command == 400:
                    told = self.wanted is not None or self.held is not None
                    self.armed = bool(it.param1) and self.follows and (self.takes_off or told)
                    self.beat()
                elif kind == "COMMAND_LONG" and it.command == 22:
                    self.asked = self.armed
                elif kind == "SET_POSITION_TARGET_LOCAL_NED":
                    place, speed, push = (it.x, it.y, it.z), (it.vx, it.vy, it.vz), (it.afx, it.afy, it.afz)
                    yaw = 0.0 if it.type_mask & NO_YAW else it.yaw
                    self.wanted, self.held = (np.array(place), np.array(speed), np.array(push), yaw), None
                elif kind == "SET_ATTITUDE_TARGET":
                    self.held, self.wanted = (rotation(it.q), it.thrust), None


class StandinVehicle:
    """What is common to both protocols: from a state to controls."""

    def __init__(self, instance, port, takes_off=False):
        frame = json.loads(os.environ["SKYRIG_STANDIN"])
        self.count, self.most = len(frame["thrust_max"]), sum(frame["thrust_max"])
        self.law, self.companion = StandinLaw(frame), Companion(instance, port, takes_off)
        self.home, self.last, self.answers = None, None, 0
        self.share = 0.0 if takes_off else 1.0
        """Of the hover's thrust, while rotors spin up."""

    def decide(self, seconds, place, velocity, q, rate):
        """Controls at a time of the simulator's clock."""
        if self.answers % HEARTBEAT == 0:
            self.companion.beat()
        self.answers += 1
        self.companion.listen()
        self.home = place if self.home is None else self.home
        dt, self.last = (0.0 if self.last is None else seconds - self.last), seconds
        if not self.companion.armed:
            return np.zeros(self.count)
        if self.share < FLIES:
            if self.companion.asked and self.companion.wanted is None and self.companion.held is None:
                self.share += dt / SPIN_UP
            return np.full(self.count, math.sqrt(self.share * self.law.weight / self.most))
        state = (place - self.home, velocity, rotation(q), rate)
        if self.companion.held is not None:
            return self.law.hold(state, *self.companion.held)
        wanted = self.companion.wanted or (np.zeros(3), np.zeros(3), np.zeros(3), heading(q))
        return self.law.bring(dt, state, wanted)


def px4(instance, host, port, companion):
    """PX4's side: connect, read, answer every HIL_SENSOR."""
    link = connected(host, port)
    coder = common.MAVLink(None, srcSystem=instance + 1, srcComponent=1)
    link.sendall(coder.heartbeat_encode(2, 12, 0, 0, 0).pack(coder))
    link.sendall(coder.command_long_encode(0, 0, 511, 0, 93, 5000, 0, 0, 0, 0, 0).pack(coder))
    vehicle, state, clock, sensed = StandinVehicle(instance, companion), None, 0, 0
    while raw := link.recv(65536):
        for it in messages(coder, raw):
            kind = it.get_type()
            if kind == "HIL_STATE_QUATERNION":
                north, east = math.radians(it.lat / 1e7) * EARTH, math.radians(it.lon / 1e7) * EARTH
                place = np.array([north, east * math.cos(math.radians(it.lat / 1e7)), -it.alt / 1e3])
                turned, rate = np.array(it.attitude_quaternion), (it.rollspeed, it.pitchspeed, it.yawspeed)
                state = place, np.array([it.vx, it.vy, it.vz]) / 100, turned, np.array(rate)
            elif kind == "HIL_SENSOR":
                sensed += 1
                if clock and not 0 < it.time_usec - clock < 100_000:
                    sys.exit(f"time jumped from {clock} to {it.time_usec} us")
                clock = it.time_usec
                if sensed <= BOOT or state is None:
                    continue
                controls = vehicle.decide(clock / 1e6, *state)
                mode = 1 | (ARMED if vehicle.companion.armed else 0)
                sixteen = [float(u) for u in controls] + [0.0] * (16 - len(controls))
                link.sendall(coder.hil_actuator_controls_encode(clock, sixteen, mode, 1).pack(coder))


def ardupilot(instance, host, port, companion):
    """ArduPilot's side: servos by UDP, one frame an answer."""
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.connect((host, port))
    link.settimeout(1.0)
    vehicle, frame, pwm, clock = StandinVehicle(instance, companion, True), 0, [1000] * 16, -1.0
    while True:
        try:
            link.send(SERVOS.pack(MAGIC, 400, frame, *pwm))
            raw = link.recv(65536)
        except TimeoutError:
            continue  # as ArduPilot does, the same frame again
        except ConnectionRefusedError:
            if frame:
                return  # the simulator is gone
            time.sleep(0.05)
            continue
        if not raw:
            continue  # somebody looks whether there is anybody
        told = json.loads(raw)
        if told["timestamp"] <= clock:
            continue
        clock, frame = told["timestamp"], frame + 1
        place, velocity = np.array(told["position"]), np.array(told["velocity"])
        turned, rate = np.array(told["quaternion"]), np.array(told["imu"]["gyro"])
        controls = vehicle.decide(clock, place, velocity, turned, rate)
        pwm = [1000 + round(1000 * float(u)) for u in controls] + [1000] * (16 - len(controls))


def connected(host, port):
    """A TCP connection, tried for until somebody listens."""
    for _ in range(600):
        try:
            link = socket.create_connection((host, port))
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return link
        except OSError:
            time.sleep(0.05)
    sys.exit(f"nobody listens on port {port}")


def main():
    """Run one vehicle until the simulator hangs up."""
    parser = argparse.ArgumentParser(description="A stand-in for an autopilot.")
    parser.add_argument("protocol", choices=("px4", "ardupilot"))
    parser.add_argument("-i", "--instance", type=int, default=0)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, help="of this instance's simulator")
    parser.add_argument("--companion", type=int, help="UDP port that heartbeats go to")
    given = parser.parse_args()
    first, gap, speak = {"px4": (4560, 1, px4), "ardupilot": (9002, 10, ardupilot)}[given.protocol]
    port = first + gap * given.instance if given.port is None else given.port
    companion = 14540 + given.instance if given.companion is None else given.companion
    with contextlib.suppress(ConnectionError, KeyboardInterrupt):  # the simulator is gone
        speak(given.instance, given.host, port, companion)


if __name__ == "__main__":
    main()
