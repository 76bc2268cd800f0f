"""Set-points and commands for autopilots, as a companion computer sends them: MAVLink over UDP.

Each autopilot sends its heartbeat to port 14540 + i, and is answered where it came from.
"""

from __future__ import annotations

import contextlib
import math
import socket
from dataclasses import dataclass
from typing import Any

import numpy as np

from skyrig.bridges import frames
from skyrig.bridges.autopilot import LOCAL
from skyrig.bridges.mavlink import ARMED, Stream
from skyrig.bridges.mission import Setpoint
from skyrig.errors import InputError
from skyrig.sensing.sensor import Numbers

PORT = 14540
LOCAL_NED = 1
NO_YAW_RATE = 1 << 11
"""All of SET_POSITION_TARGET_LOCAL_NED counts but the yaw rate."""
SET_MODE, ARM, TAKE_OFF = 176, 400, 22
CUSTOM, WARNING = 1, 4
HEIGHT = 1.0
"""What is asked of those that take off by a command (m); set-points follow at once."""


@dataclass(frozen=True)
class Firmware:
    """How an autopilot is made to follow set-points."""

    mode: tuple[int, int]
    """Main and sub mode for MAV_CMD_DO_SET_MODE."""
    takes_off: bool
    """Whether it wants a command to take off, and no set-point before it pushes."""


PX4 = Firmware((6, 0), False)
ARDUPILOT = Firmware((4, 0), True)


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
        elif kind == "STATUSTEXT" and message.severity <= WARNING:
            self._said[k] = "".join(it for it in str(message.text) if it.isprintable())

    def said(self, k: int) -> str:
        """The latest complaint of a vehicle as the end of a sentence; '' if it made none."""
        return f" (it says: {self._said[k]})" if self._said[k] else ""

    def aim(self, wanted: Setpoint, usec: int) -> None:
        """A set-point for each vehicle, from its own origin."""
        places, speeds = frames.world(wanted.position - self.start), frames.world(wanted.velocity)
        pushes, yaw = frames.world(wanted.acceleration), _wrapped(math.pi / 2 - wanted.yaw)
        for k, (place, speed, push) in enumerate(zip(places, speeds, pushes, strict=True)):
            make = self._streams[k].make.set_position_target_local_ned_encode
            moves = [float(it) for it in (*place, *speed, *push)]
            head = (usec // 1000 % 2**32, k + 1, 1, LOCAL_NED, NO_YAW_RATE)
            self._send(k, make(*head, *moves, yaw, 0.0))

    def begin(self) -> None:
        """Ask every vehicle to follow set-points and to arm, and then to take off if it wants that."""
        for k, armed in enumerate(self.armed):
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
