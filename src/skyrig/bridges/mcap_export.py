"""A flight as an MCAP file: ROS 2 messages of every sample, and the scene for Foxglove.

Every number of the flight's motions, signals and inputs is there as float64, so what is read back is the
flight to the last bit; `/flight/time` holds the times, which stamps round to nanoseconds.
"""

from __future__ import annotations

import io
import json
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import numpy as np

from skyrig.bridges import ros_messages as ros
from skyrig.bridges import scene
from skyrig.errors import InputError
from skyrig.flight.flight import Flight
from skyrig.flight.records import TEAM
from skyrig.flight.storage import write_whole
from skyrig.tracks import Track

LAYOUT = "foxglove-layout.json"
CABLE_RATE = 30.0
"""Drawings of cables a second (Hz)."""


class _Log:
    """An MCAP file being written."""

    def __init__(self) -> None:
        try:
            from mcap.writer import CompressionType, Writer
        except ImportError:
            raise InputError(ros.NEED) from None
        self.stream = io.BytesIO()
        self._writer = Writer(self.stream, compression=CompressionType.ZSTD)
        self._writer.start(profile="ros2", library="skyrig")
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, int] = {}

    def write(self, topic: str, time: float, message: Any) -> None:
        """A ROS 2 message."""
        kind = message.__msgtype__
        if topic not in self._channels:
            self._channel(topic, kind, "ros2msg", ros.definition(kind).encode(), "cdr")
        self._put(topic, ros.nanoseconds_of(time), ros.coded(message))

    def draw(self, topic: str, nanoseconds: int, message: Any) -> None:
        """One of Foxglove's messages."""
        if topic not in self._channels:
            schema = type(message).get_schema()
            self._channel(topic, schema.name, schema.encoding, schema.data, "protobuf")
        self._put(topic, nanoseconds, message.encode())

    def attach(self, name: str, kind: str, content: str) -> None:
        """A file beside the messages."""
        self._writer.add_attachment(0, 0, name, kind, content.encode())

    def finish(self) -> bytes:
        """The whole file."""
        self._writer.finish()
        return self.stream.getvalue()

    def _channel(self, topic: str, kind: str, encoding: str, definition: bytes, coding: str) -> None:
        if kind not in self._schemas:
            self._schemas[kind] = self._writer.register_schema(kind, encoding, definition)
        self._channels[topic] = self._writer.register_channel(topic, coding, self._schemas[kind])

    def _put(self, topic: str, nanoseconds: int, content: bytes) -> None:
        self._writer.add_message(self._channels[topic], nanoseconds, content, nanoseconds)


def write_mcap(flight: Flight, path: Path) -> list[Path]:
    """Write `path`, and a layout for Foxglove beside it."""
    log = _Log()
    log.attach("scenario.yaml", "application/yaml", flight.scenario)
    log.attach("metrics.json", "application/json", json.dumps(flight.metrics))
    log.draw("/scene/bodies", ros.nanoseconds_of(float(flight.times[0])), scene.bodies(flight.rig))
    named = scene.names(flight.rig)
    inputs, step = _held_rows(flight), _thin(flight)
    for row, time in enumerate(flight.times.tolist()):
        log.write("/flight/time", time, ros.numbers([time]))
        now = {
            group: Track(*(leaf[row] for leaf in vars(it).values())) for group, it in flight.bodies.items()
        }
        _bodies(log, flight, named, now, row, time)
        if row % step == 0:
            nanoseconds = ros.nanoseconds_of(time)
            log.draw("/scene/cables", nanoseconds, scene.cables(flight.rig, now, nanoseconds))
        for name, signal in flight.signals.items():
            if not signal.held:
                log.write(topic_of(name), time, ros.numbers(signal.values[row]))
        for held in inputs.get(row, ()):
            _inputs(log, flight, named[TEAM], held)
    for event in flight.events:
        log.write("/events", event.time, ros.text(ros.event_text(event)))
    layout = (resources("skyrig") / "data" / LAYOUT).read_text(encoding="utf-8")
    return [write_whole(path, log.finish()), write_whole(path.with_name(LAYOUT), layout)]


def topic_of(signal: str) -> str:
    """Where a signal is told: '/signals/cable/tension'."""
    return "/signals/" + signal.replace(".", "/").replace("-", "_")


def _thin(flight: Flight) -> int:
    """Of how many rows cables are drawn in one."""
    rate = (len(flight.times) - 1) / max(flight.duration, 1e-9)
    return max(round(rate / CABLE_RATE), 1)


def _held_rows(flight: Flight) -> dict[int, list[int]]:
    """Rows of the inputs that begin at each row of the flight."""
    found: dict[int, list[int]] = {}
    rows = np.clip(np.searchsorted(flight.times, flight.inputs.times - 1e-9), 0, len(flight.times) - 1)
    for held, row in enumerate(rows.tolist()):
        found.setdefault(row, []).append(held)
    return found


def _bodies(log: _Log, flight: Flight, named: Any, now: Any, row: int, time: float) -> None:
    frames = []
    for group, track in now.items():
        wanted = flight.references.get(group)
        for k, name in enumerate(named[group]):
            place, velocity, turned, rate = (np.asarray(leaf)[k] for leaf in vars(track).values())
            frames.append((name, place, turned))
            log.write(f"/{name}/odometry", time, ros.odometry(time, name, place, velocity, turned, rate))
            log.write(f"/{name}/velocity", time, ros.vector_stamped(time, ros.MAP, velocity))
            if wanted is not None:
                goal = ros.pose_stamped(time, wanted.position[row, k], wanted.attitude[row, k])
                log.write(f"/{name}/reference", time, goal)
    log.write("/tf", time, ros.transforms(time, frames))


def _inputs(log: _Log, flight: Flight, team: list[str], held: int) -> None:
    """What was asked of rotors and what they gave, and signals that are held with them."""
    inputs, time = flight.inputs, float(flight.inputs.times[held])
    for k, name in enumerate(team):
        for topic, thrust, moment in (
            ("command", inputs.commanded_thrust, inputs.commanded_moment),
            ("wrench", inputs.thrust, inputs.moment),
        ):
            force = (0.0, 0.0, thrust[held, k])
            log.write(f"/{name}/{topic}", time, ros.wrench(time, name, force, moment[held, k]))
    for name, signal in flight.signals.items():
        if signal.held:
            log.write(topic_of(name), time, ros.numbers(signal.values[held]))
