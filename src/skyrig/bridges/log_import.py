"""A recorded flight from somebody's logs: MCAP files, ROS 2 bags and PX4's ULogs, as a flight to compare.

A log tells where bodies were. What the rig is stands in a scenario; who is who, on the command line:
`vehicle0=flight.mcap:/drone1/pose`. All bodies are read off at common times, from the first at which all are
known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from skyrig.bridges import frames, scene
from skyrig.bridges.ros_messages import NEED
from skyrig.checks import nearest
from skyrig.errors import InputError
from skyrig.flight.flight import Flight, Inputs, ReferenceTrack, Track
from skyrig.flight.metrics import metrics
from skyrig.flight.records import TEAM
from skyrig.flight.rig import rig_data
from skyrig.runs.assembly import sampled, versions
from skyrig.scenario import Scenario
from skyrig.sensing.sensor import Numbers
from skyrig.turns import conjugate, multiply, vector_of

RATE = 100.0
"""At which logs are read off (Hz)."""


@dataclass(frozen=True)
class Logged:
    """One body as it was logged."""

    times: Numbers
    """(T,) s, by the log's own clock."""
    position: Numbers
    """(T, 3) m, east, north, up."""
    attitude: Numbers
    """(T, 4) wxyz, body to world."""


def import_flight(scenario: Scenario, where: Mapping[str, str], start: float = 0.0) -> Flight:
    """The flight that logs tell of.

    Args:
        scenario: What was flown; its rig is the flight's.
        where: By body ('payload', 'vehicle0'), a file, or file and topic: 'flight.mcap:/drone1/pose'.
        start: From when on, after the first instant at which all bodies are known (s).
    """
    rig = rig_data(scenario.parts)
    named = scene.names(rig)
    every = [name for them in named.values() for name in them]
    for name in where:
        if name not in every:
            raise InputError(f"--body {name!r} is no body of {scenario.name}{nearest(name, every)}.")
    missing = [name for name in every if name not in where]
    if missing:
        raise InputError(f"--body {missing[0]}=LOG:TOPIC is missing: where is the {missing[0]} logged?")
    logged = {name: read_body(where[name], name) for name in every}
    first = max(it.times[0] for it in logged.values()) + start
    last = min(it.times[-1] for it in logged.values())
    if last - first < 2 / RATE:
        raise InputError("the logs share no time: are they of one flight, and by one clock?")
    times = np.arange(0.0, last - first + 1e-9, 1 / RATE)
    tracks = {
        group: _joined([_read_off(logged[name], times + first) for name in them])
        for group, them in named.items()
    }
    n = rig.count
    unknown, moments = np.full((1, n), np.nan), np.full((1, n, 3), np.nan)
    inputs = Inputs(np.zeros(1), unknown, moments, unknown, moments, np.zeros((1, n)))
    order = {group: tracks[group] for group in (*(it for it in tracks if it != TEAM), TEAM)}
    flight = Flight(
        scenario.name,
        times,
        order,
        inputs,
        rig,
        references=_references(scenario, rig.carried or TEAM, times),
        scenario=scenario.to_yaml(),
        versions=versions(),
    )
    return replace(flight, metrics=metrics(flight, limits=scenario.spec.verdict))


def _references(scenario: Scenario, carried: str, times: Numbers) -> dict[str, ReferenceTrack]:
    """Where bodies should have been, if the log begins when the reference does."""
    motions = scenario.motions
    found = {} if motions.payload is None else {carried: sampled([motions.payload], times)}
    return found if motions.vehicles is None else {**found, TEAM: sampled(list(motions.vehicles), times)}


def read_body(said: str, name: str) -> Logged:
    """One body from a file, or from a file and a topic."""
    file, _, topic = said.partition(":")
    path = Path(file)
    if not path.exists():
        raise InputError(f"{file} cannot be read: there is no such file.")
    read = {".ulg": _from_ulog, ".mcap": _from_mcap}.get(path.suffix, _from_bag)
    try:
        rows = list(read(path, topic or f"/{name}/odometry"))
    except InputError:
        raise
    except ImportError:
        raise InputError(NEED) from None
    except Exception as error:  # whatever a parser of another format trips over
        raise InputError(f"{file} cannot be read: {str(error)[:120] or type(error).__name__}.") from None
    if len(rows) < 2:
        raise InputError(f"{file} has no poses in {topic or f'/{name}/odometry'}.")
    times, places, turns = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    good = np.isfinite(np.column_stack([times, places, turns])).all(axis=1)
    order = np.unique(times[good], return_index=True)[1]
    times, places, turns = times[good][order], places[good][order], turns[good][order]
    if len(times) < 2:
        raise InputError(f"{file} has no poses in {topic or f'/{name}/odometry'} that are numbers.")
    size = np.linalg.norm(turns, axis=1, keepdims=True)
    return Logged(times, places, np.where(size > 0.1, turns / np.maximum(size, 0.1), [1.0, 0.0, 0.0, 0.0]))


Rows = Iterator[tuple[float, Any, Any]]


def _from_mcap(path: Path, topic: str) -> Rows:
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    with path.open("rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        for _, _, raw, message in reader.iter_decoded_messages(topics=[topic]):
            yield _pose(message, raw.log_time / 1e9, topic)


def _from_bag(path: Path, topic: str) -> Rows:
    from rosbags.highlevel import AnyReader

    from skyrig.bridges.ros_messages import store

    with AnyReader([path], default_typestore=store()) as reader:
        wanted = [it for it in reader.connections if it.topic == topic]
        if not wanted:
            return  # an empty list would stand for all of them
        for connection, time, raw in reader.messages(connections=wanted):
            yield _pose(reader.deserialize(raw, connection.msgtype), time / 1e9, topic)


def _from_ulog(path: Path, topic: str) -> Rows:
    """A vehicle by PX4's own estimate: north, east, down to east, north, up."""
    from pyulog import ULog

    log = ULog(str(path), ["vehicle_local_position", "vehicle_attitude"])
    found = {it.name: it.data for it in log.data_list}
    if set(found) != {"vehicle_local_position", "vehicle_attitude"}:
        raise InputError(f"{path} has no vehicle_local_position and vehicle_attitude.")
    place, turned = found["vehicle_local_position"], found["vehicle_attitude"]
    times = place["timestamp"] / 1e6
    rows = np.clip(np.searchsorted(turned["timestamp"], place["timestamp"]), 0, len(turned["timestamp"]) - 1)
    quaternion = np.stack([turned[f"q[{k}]"][rows] for k in range(4)], axis=1).astype(np.float64)
    position = frames.world(np.stack([place[it] for it in "xyz"], axis=1).astype(np.float64))
    return iter(zip(times, position, frames.attitude(quaternion), strict=True))


def _pose(message: Any, time: float, topic: str) -> tuple[float, Any, Any]:
    """Time, position and attitude of a message that has them, whatever it is called."""
    stamp = getattr(getattr(message, "header", None), "stamp", None)
    if stamp is not None:
        nanoseconds = getattr(stamp, "nanosec", getattr(stamp, "nanosecond", 0))
        time = stamp.sec + nanoseconds / 1e9
    inner = getattr(message, "pose", getattr(message, "transform", message))
    inner = getattr(inner, "pose", inner)
    place = getattr(inner, "position", getattr(inner, "translation", None))
    turned = getattr(inner, "orientation", getattr(inner, "rotation", None))
    if place is None or turned is None:
        raise InputError(
            f"topic {topic} has no poses: give one of PoseStamped, Odometry or TransformStamped."
        )
    return time, (place.x, place.y, place.z), (turned.w, turned.x, turned.y, turned.z)


def _read_off(body: Logged, times: Numbers) -> Track:
    """A body at `times` by the log's clock, straight in between, speeds by differences."""
    position = np.stack([np.interp(times, body.times, it) for it in body.position.T], axis=1)
    signs = np.cumprod(np.where((body.attitude[1:] * body.attitude[:-1]).sum(1) < 0, -1.0, 1.0))
    whole = body.attitude * np.concatenate([[1.0], signs])[:, None]
    turned = np.stack([np.interp(times, body.times, it) for it in whole.T], axis=1)
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    dt = times[1] - times[0]
    rate = vector_of(multiply(conjugate(turned[:-1]), turned[1:])) / dt
    return Track(position, np.gradient(position, dt, axis=0), turned, np.concatenate([rate, rate[-1:]]))


def _joined(tracks: list[Track]) -> Track:
    leaves: list[Callable[[Track], Any]] = [
        lambda it: it.position,
        lambda it: it.velocity,
        lambda it: it.attitude,
        lambda it: it.rate,
    ]
    return Track(*(np.stack([leaf(it) for it in tracks], axis=1) for leaf in leaves))
