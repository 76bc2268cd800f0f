"""ArduPilot's JSON interface: servos in by UDP, the state out to where they came from, one answer a frame.

In come a magic number, a frame rate, a frame count and 16 (or 32) pulse widths; out goes one JSON object on a
line of its own with time, gyroscopes, accelerometers, position, velocity and attitude, north, east, down.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import struct
import time
from typing import Any

import numpy as np

from skyrig.bridges import frames
from skyrig.bridges.autopilot import LOCAL, Answer, AutopilotMoment, LinkLost
from skyrig.errors import InputError
from skyrig.sensing.sensor import Numbers

PORT, GAP = 9002, 10
SHORT, LONG = struct.Struct("<HHI16H"), struct.Struct("<HHI32H")
LOOK = 1.0
"""After how long it is looked whether a silent vehicle is still there (s)."""
LOST = 0.5
"""After how long an answer counts as lost if the same frame comes again (s); ArduPilot asks every second."""
MAGIC = {18458: SHORT, 29569: LONG}


def servos(raw: bytes) -> tuple[int, Numbers] | None:
    """Frame count and controls between 0 and 1 of a packet; None if it is none."""
    if len(raw) < 2:
        return None
    form = MAGIC.get(struct.unpack_from("<H", raw)[0])
    if form is None or len(raw) != form.size:
        return None
    _, _, count, *widths = form.unpack(raw)
    return count, np.clip((np.asarray(widths, dtype=np.float64) - 1000) / 1000, 0.0, 1.0)


class ArduPilotLink:
    """UDP sockets for n vehicles.

    Args:
        count: How many vehicles.
        rotors: Most rotors of one.
        port: Of the first vehicle; each next one has ten more.
        host: Where to listen.
        patience: How long to wait for a vehicle that says nothing (s).
    """

    rate = 400.0

    def __init__(
        self, count: int, rotors: int, port: int = PORT, host: str = LOCAL, patience: float = 60.0
    ) -> None:
        self.count, self.rotors, self.port, self.host, self.patience = count, rotors, port, host, patience
        self._vehicles: list[_Vehicle] = []

    def open(self) -> str:
        """Listen, one port a vehicle."""
        for k in range(self.count):
            it = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            it.setblocking(False)
            self._vehicles.append(_Vehicle(k, it))
            try:
                it.bind((self.host, self.port + GAP * k))
            except (OSError, OverflowError) as error:
                self.close()
                reason = getattr(error, "strerror", None) or str(error)
                raise InputError(f"UDP port {self.port + GAP * k} cannot be listened on: {reason}.") from None
        more = f", and on every tenth after it, {self.count} in all" if self.count > 1 else ""
        return f"Waiting for ArduPilot on {self.host}, UDP port {self.port}{more}."

    def connect(self) -> None:
        """Wait for every vehicle's first frame."""
        self._collect()

    def exchange(self, moment: AutopilotMoment) -> Answer | None:
        """Tell all of this moment, then wait for every one's next frame."""
        for it in self._vehicles:
            it.send(state(moment, it.index))
        self._collect()
        controls = np.stack([it.controls[: self.rotors] for it in self._vehicles])
        return Answer(controls, np.zeros(self.count, dtype=bool))  # it is heartbeats that tell who is armed

    def close(self) -> None:
        """Hang up."""
        for it in self._vehicles:
            it.socket.close()

    def _collect(self) -> None:
        waiting = {it.socket: it for it in self._vehicles}
        end = time.monotonic() + self.patience
        while waiting:
            found, _, _ = select.select(list(waiting), [], [], min(max(end - time.monotonic(), 0.0), LOOK))
            if not found and time.monotonic() >= end:
                late = next(iter(waiting.values()))
                raise LinkLost(f"vehicle {late.index} sent no frame for {self.patience:g} s.")
            if not found:
                for late in waiting.values():
                    late.look()
            for it in found:
                if waiting[it].receive():
                    del waiting[it]


class _Vehicle:
    """One vehicle at the other end."""

    def __init__(self, index: int, own: socket.socket) -> None:
        self.index, self.socket = index, own
        self.where: Any = None
        """Whom frames come from; others are passed over."""
        self.count = -1
        self.controls = np.zeros(32)
        self._told, self._when = b"", 0.0

    def send(self, told: bytes) -> None:
        """A state, to where frames come from."""
        self._told, self._when = told, time.monotonic()
        try:
            self.socket.send(told)
        except ConnectionRefusedError:
            raise self._gone() from None
        except OSError as error:
            raise LinkLost(f"vehicle {self.index} cannot be answered: {error.strerror}.") from None

    def look(self) -> None:
        """An empty datagram: if nobody is there any more, the system says so when next asked."""
        if self.where is not None:
            with contextlib.suppress(OSError):
                self.socket.send(b"")

    def receive(self) -> bool:
        """Read a packet; whether it is the next frame."""
        try:
            raw, where = self.socket.recvfrom(65536)
        except ConnectionRefusedError:
            raise self._gone() from None
        except OSError:
            return False
        found = servos(raw)
        if found is None or self.where not in (None, where):
            return False
        count, controls = found
        if self.where is not None and count == self.count and self._told:
            if time.monotonic() > self._when + LOST:
                self.send(self._told)  # it did not hear, and asks again
            return False  # it asked while it had to wait: told twice, it would lag from then on
        if self.where is not None and count != (self.count + 1) % 2**32:
            raise LinkLost(
                f"vehicle {self.index} went from frame {self.count} to {count}: it was started anew, or "
                "something else sends frames; start both anew for another flight."
            )
        if self.where is None:
            self.socket.connect(where)  # from now on the system tells if nobody is there any more
        self.where, self.count = where, count
        self.controls = np.concatenate([controls, np.zeros(32 - len(controls))])
        return True

    def _gone(self) -> LinkLost:
        return LinkLost(f"vehicle {self.index} hung up; start both anew for another flight.")


def state(moment: AutopilotMoment, k: int) -> bytes:
    """What ArduPilot is told of a vehicle: one JSON object between newlines."""
    imu, it = moment.readings["imu"].values, moment.truth.vehicles
    told: dict[str, Any] = {
        "timestamp": moment.usec / 1e6,
        "imu": {
            "gyro": frames.body(imu["imu.gyro"][k]).tolist(),
            "accel_body": frames.body(imu["imu.accel"][k]).tolist(),
        },
        "position": frames.world(np.asarray(it.position)[k]).tolist(),
        "velocity": frames.world(np.asarray(it.velocity)[k]).tolist(),
        "quaternion": frames.attitude(np.asarray(it.attitude)[k]).tolist(),
    }
    if "battery" in moment.readings:
        drawn = moment.readings["battery"].values
        told["battery"] = {word: float(drawn[f"battery.{word}"][k]) for word in ("voltage", "current")}
    return b"\n" + json.dumps(told).encode() + b"\n"
