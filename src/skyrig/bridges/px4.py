"""PX4's simulator interface: one TCP server a vehicle, HIL_SENSOR out, HIL_ACTUATOR_CONTROLS in, in lockstep.

PX4 connects to port 4560 + i, takes its time from HIL_SENSOR, and answers each of them with one
HIL_ACTUATOR_CONTROLS that bears the same time, once it has booted. See docs/bridges.md.
"""

from __future__ import annotations

import select
import socket
import time
from typing import Any

import numpy as np

from skyrig.bridges.autopilot import LOCAL, Answer, AutopilotMoment, LinkLost
from skyrig.bridges.hil import VehicleRow, rows
from skyrig.bridges.mavlink import ARMED, NONSENSE, Stream, dialect
from skyrig.errors import InputError
from skyrig.sensing.geodesy import ORIGIN

PORT = 4560
GLANCE = 0.005
"""How long an answer is waited for while a vehicle boots (s)."""


class Px4Link:
    """TCP servers for n vehicles.

    Args:
        rotors: Of each vehicle.
        port: Of the first vehicle; the next ones have the next.
        host: Where to listen.
        patience: How long to wait for a vehicle that neither answers nor hangs up (s).
        origin: Latitude, longitude (degrees) and altitude (m) of the world's origin.
    """

    rate = 250.0
    word = "PX4"

    def __init__(
        self,
        rotors: list[int],
        port: int = PORT,
        host: str = LOCAL,
        patience: float = 60.0,
        origin: tuple[float, float, float] = ORIGIN,
    ) -> None:
        self.rotors, self.port, self.host, self.patience, self.origin = rotors, port, host, patience, origin
        self._servers: list[socket.socket] = []
        self._clients: list[_Client] = []

    def open(self) -> str:
        """Listen, one port a vehicle."""
        for k in range(len(self.rotors)):
            server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._servers.append(server)
            try:
                server.bind((self.host, self.port + k))
                server.listen(1)
            except (OSError, OverflowError) as error:
                self.close()
                reason = getattr(error, "strerror", None) or str(error)
                raise InputError(f"port {self.port + k} cannot be listened on: {reason}.") from None
        last = f" to {self.port + len(self.rotors) - 1}" if len(self.rotors) > 1 else ""
        return f"Waiting for PX4 on {self.host}, TCP port {self.port}{last}."

    def connect(self) -> None:
        """Take one client on each port; a second one is refused, as nobody listens any more."""
        end = time.monotonic() + self.patience
        for k, server in enumerate(self._servers):
            server.settimeout(max(end - time.monotonic(), 0.01))
            try:
                connection, _ = server.accept()
            except TimeoutError:
                raise LinkLost(
                    f"vehicle {k} did not connect to port {self.port + k} in {self.patience:g} s."
                ) from None
            server.close()
            self._clients.append(_Client(k, connection, self.rotors[k]))

    def exchange(self, moment: AutopilotMoment) -> Answer | None:
        """Send to all, then wait for all."""
        told = rows(moment, self.origin)
        for client, row in zip(self._clients, told, strict=True):
            client.send(row)
        ready = all(client.talks for client in self._clients)
        end = time.monotonic() + (self.patience if ready else GLANCE)
        waiting = {client.socket: client for client in self._clients if client.answered < moment.usec}
        while waiting:
            rest = end - time.monotonic()
            found, _, _ = select.select(list(waiting), [], [], max(rest, 0.0))
            for it in found:
                if waiting[it].receive(moment.usec):
                    del waiting[it]
            if not found and rest <= 0:
                break
        late = [client for client in waiting.values() if client.talks]
        if late and ready:
            raise LinkLost(f"vehicle {late[0].index} did not answer for {self.patience:g} s.")
        if not all(client.talks for client in self._clients):
            return None
        if waiting:  # one that began to talk in this very round may still be behind
            return None
        return Answer(
            np.stack([client.controls for client in self._clients]),
            np.array([client.armed for client in self._clients]),
        )

    def close(self) -> None:
        """Hang up."""
        for it in (*self._servers, *(client.socket for client in self._clients)):
            it.close()


class _Client:
    """One vehicle at the other end."""

    def __init__(self, index: int, connection: socket.socket, rotors: int) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(10.0)
        self.index, self.socket, self.stream = index, connection, Stream()
        self.controls, self.armed = np.zeros(rotors), False
        self.talks = False
        """Whether it has answered at all."""
        self.answered = -1
        """Time of the latest answer (microseconds)."""

    def send(self, told: VehicleRow) -> None:
        """What it is told at a tick, in one piece: truth for its log, satellites if new, then sensors."""
        stream, known = self.stream, dialect()
        raw = stream.plain(known.MAVLink_hil_state_quaternion_message, *told.state)
        if told.satellites is not None:
            raw += stream.plain(known.MAVLink_hil_gps_message, *told.satellites)
        raw += stream.plain(known.MAVLink_hil_sensor_message, *told.sensors)
        try:
            self.socket.sendall(raw)
        except OSError:
            raise self.gone() from None

    def receive(self, usec: int) -> bool:
        """Read what is there; whether the answer to `usec` is among it."""
        try:
            raw = self.socket.recv(65536)
        except OSError:
            raise self.gone() from None
        if not raw:
            raise self.gone()
        for message in self.stream.messages(raw):
            if message.get_type() == "HIL_ACTUATOR_CONTROLS":
                self._take(message, usec)
        if self.stream.nonsense > NONSENSE:
            raise LinkLost(f"vehicle {self.index} sends bytes that are no MAVLink.")
        return self.answered >= usec

    def _take(self, message: Any, usec: int) -> None:
        if message.time_usec > usec:
            raise LinkLost(
                f"vehicle {self.index} answers for {message.time_usec} us, but it is {usec} us: "
                "it was not restarted with the simulator, or something else answers."
            )
        if message.time_usec <= self.answered:
            return  # an answer once more
        self.talks, self.answered = True, message.time_usec
        self.armed = bool(message.mode & ARMED)
        asked = np.array(message.controls[: len(self.controls)])
        self.controls = np.where(np.isfinite(asked), np.clip(asked, 0.0, 1.0), 0.0) * self.armed

    def gone(self) -> LinkLost:
        """What to say when it hangs up."""
        return LinkLost(
            f"vehicle {self.index} hung up; PX4 never connects again: start both anew for another flight."
        )
