"""Set-points and commands for autopilots, as a companion computer sends them: MAVLink over UDP.

Each autopilot sends its heartbeat to port 14540 + i, and is answered where it came from.
"""

from __future__ import annotations

import contextlib
import math
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skyrig.bridges import firmware, frames
from skyrig.bridges.attitude import AttitudeLoops
from skyrig.bridges.autopilot import LOCAL
from skyrig.bridges.mavlink import ARMED, Stream
from skyrig.bridges.mission import Setpoint
from skyrig.errors import InputError
from skyrig.sensing.sensor import Numbers

if TYPE_CHECKING:
    from skyrig.vehicles import Airframe

PORT = 14540
LOCAL_NED = 1
NO_YAW_RATE = 1 << 11
"""All of SET_POSITION_TARGET_LOCAL_NED counts but the yaw rate."""
NO_RATES = 7
"""All of SET_ATTITUDE_TARGET counts but the body rates."""
SET_MODE, ARM, TAKE_OFF = 176, 400, 22
CUSTOM, WARNING = 1, 4
PLACED = 1 | 2 | 16
"""Flags of ESTIMATOR_STATUS: attitude, horizontal velocity and place are known."""
SMOOTH, FAR = 0.05, 10.0
"""Weight of a new message where a vehicle says where it is; from where on it makes no sense (m)."""
HEIGHT = 1.0
"""What is asked of those that take off by a command (m); set-points follow at once."""


@dataclass(frozen=True)
class Firmware:
    """How an autopilot is made to follow set-points."""

    mode: tuple[int, int]
    """Main and sub mode for MAV_CMD_DO_SET_MODE."""
    takes_off: bool
    """Whether it wants a command to take off, and no set-point before it pushes."""
    aligns: bool
    """Whether it lets itself be armed before it knows where it is, and says when it does."""
    loops: AttitudeLoops
    """By which it turns."""
    throttle: Callable[[Airframe, float, float], float]
    """What it wants to be told of an airframe's thrust (N), given how far up that points (1)."""


PX4 = Firmware((6, 0), False, True, firmware.PX4_LOOPS, firmware.px4_throttle)
ARDUPILOT = Firmware((4, 0), True, False, firmware.ARDUPILOT_LOOPS, firmware.ardupilot_throttle)


class Offboard:
    """A companion for each of n vehicles.

    Args:
        start: (n, 3) where each stands: its own origin (m).
        firmware: Whose ways to follow.
        port: Of the first vehicle; the next ones have the next.
        host: Where to listen.
    """

    def __init__(self, start: Numbers, firmware: Firmware, port: int = PORT, host: str = LOCAL) -> None:
        self.start, self.firmware = start, firmware
        self._sockets: list[socket.socket] = []
        self._streams = [Stream(system=255, component=190) for _ in start]
        self._where: list[Any] = [None] * len(start)
        self.armed = np.zeros(len(start), dtype=bool)
        """Of each vehicle, as its heartbeats say."""
        self.aligned = np.full(len(start), not firmware.aligns)
        """Whether its filter knows heading and place; firmware that checks that itself counts as aligned."""
        self.believed = np.zeros_like(start)
        """(n, 3) where each vehicle's filter has it while it waits, from its own origin (m)."""
        self.waiting = True
        """Whether vehicles stand where they started."""
        self._said = [""] * len(start)
        for k in range(len(start)):
            it = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            it.setblocking(False)
            self._sockets.append(it)
            try:
                it.bind((host, port + k))
            except (OSError, OverflowError) as error:
                self.close()
                reason = getattr(error, "strerror", None) or str(error)
                raise InputError(f"UDP port {port + k} cannot be listened on: {reason}.") from None

    @property
    def complete(self) -> bool:
        """Whether every vehicle has been heard of."""
        return all(self._where)

    def listen(self) -> None:
        """Take what has come in."""
        for k, it in enumerate(self._sockets):
            for _ in range(100):
                try:
                    raw, where = it.recvfrom(65536)
                except OSError:
                    break
                for message in self._streams[k].datagram(raw):
                    self._take(k, message, where)

    def _take(self, k: int, message: Any, where: Any) -> None:
        kind = message.get_type()
        if kind == "HEARTBEAT" and message.get_srcComponent() == 1:
            self._where[k] = where
            self.armed[k] = bool(message.base_mode & ARMED)
        elif kind == "LOCAL_POSITION_NED" and self.waiting:
            told = frames.world(np.array([message.x, message.y, message.z]))
            if np.isfinite(told).all() and np.abs(told).max() < FAR:
                known = self.believed[k].any()
                self.believed[k] += (SMOOTH if known else 1.0) * (told - self.believed[k])
        elif kind == "ESTIMATOR_STATUS":
            self.aligned[k] = message.flags & PLACED == PLACED
        elif kind == "STATUSTEXT" and message.severity <= WARNING:
            self._said[k] = "".join(it for it in str(message.text) if it.isprintable())

    def said(self, k: int) -> str:
        """The latest complaint of a vehicle as the end of a sentence; '' if it made none."""
        return f" (it says: {self._said[k]})" if self._said[k] else ""

    def aim(self, wanted: Setpoint, usec: int) -> None:
        """A set-point for each vehicle, from where its filter has its start."""
        places = frames.world(wanted.position - self.start + self.believed)
        speeds = frames.world(wanted.velocity)
        pushes, yaw = frames.world(wanted.acceleration), _wrapped(math.pi / 2 - wanted.yaw)
        for k, (place, speed, push) in enumerate(zip(places, speeds, pushes, strict=True)):
            make = self._streams[k].make.set_position_target_local_ned_encode
            moves = [float(it) for it in (*place, *speed, *push)]
            head = (usec // 1000 % 2**32, k + 1, 1, LOCAL_NED, NO_YAW_RATE)
            self._send(k, make(*head, *moves, yaw, 0.0))

    def turn(self, attitude: Numbers, throttle: Sequence[float], usec: int) -> None:
        """An attitude (n, 4), world east, north, up and body forward, left, up, and a throttle for each."""
        for k, (turned, push) in enumerate(zip(frames.attitude(attitude).tolist(), throttle, strict=True)):
            make = self._streams[k].make.set_attitude_target_encode
            self._send(k, make(usec // 1000 % 2**32, k + 1, 1, NO_RATES, turned, 0.0, 0.0, 0.0, push))

    def begin(self) -> None:
        """Ask every vehicle to follow set-points and to arm, and then to take off if it wants that."""
        for k, armed in enumerate(self.armed):
            if not self.aligned[k]:
                continue
            if not armed:
                self._command(k, SET_MODE, CUSTOM, *self.firmware.mode)
                self._command(k, ARM, 1.0)
            elif self.firmware.takes_off:
                self._command(k, TAKE_OFF, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, HEIGHT)

    def disarm(self) -> None:
        """Ask every vehicle to stop its rotors."""
        for k in range(len(self.start)):
            self._command(k, ARM, 0.0)

    def close(self) -> None:
        """Hang up."""
        for it in self._sockets:
            it.close()

    def _command(self, k: int, command: int, *numbers: float) -> None:
        seven = [float(it) for it in (*numbers, *(0.0,) * (7 - len(numbers)))]
        self._send(k, self._streams[k].make.command_long_encode(k + 1, 1, command, 0, *seven))

    def _send(self, k: int, message: Any) -> None:
        if self._where[k] is not None:
            with contextlib.suppress(OSError):  # a vehicle that is gone is told of by its own link
                self._sockets[k].sendto(self._streams[k].bytes_of(message), self._where[k])


def _wrapped(angle: float) -> float:
    return math.remainder(angle, 2 * math.pi)
