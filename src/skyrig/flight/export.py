"""A flight as CSV, for spreadsheets and other tools: one row a time, one column a number."""

from __future__ import annotations

import csv
import io
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from skyrig.errors import InputError
from skyrig.flight.flight import Flight, ReferenceTrack, Track
from skyrig.flight.records import PAYLOAD, label, ordered
from skyrig.flight.storage import write_whole

_AXES = {3: ("x", "y", "z"), 4: ("w", "x", "y", "z")}
_UNITS = {
    "position": "m",
    "velocity": "m/s",
    "acceleration": "m/s^2",
    "attitude": "1",
    "rate": "rad/s",
    "commanded_thrust": "N",
    "thrust": "N",
    "commanded_moment": "N m",
    "moment": "N m",
    "saturated": "1",
}


def columns(flight: Flight) -> dict[str, np.ndarray]:
    """Every column by its name with unit, such as 'payload.position.x (m)'; each (T,)."""
    found: dict[str, np.ndarray] = {"time (s)": flight.times}
    for group in ordered(flight.bodies):
        found |= _bodies(group, "", flight.bodies[group])
        if group in flight.references:
            found |= _bodies(group, "reference", flight.references[group])
    for held in (False, True):
        for name, signal in flight.signals.items():
            if signal.held == held and len(signal):
                found |= _signal(name, signal.unit, flight.signal_at(name))
    return found | _inputs(flight)


def write_csv(flight: Flight, path: Path) -> list[Path]:
    """Write everything over time to `path`, and the events beside it as NAME-events.csv."""
    every = columns(flight)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(every)
    writer.writerows(zip(*(_numbers(column) for column in every.values()), strict=True))
    events = io.StringIO()
    writer = csv.writer(events, lineterminator="\n")
    writer.writerow(["time (s)", "kind", "cable", "impulse (N s)", "owner", "index", "value", "unit"])
    for it in flight.events:
        impulse = it.value if it.unit in ("N s", "") else 0.0
        cable, index = ("" if number is None else number for number in (it.cable, it.index))
        writer.writerow([it.time, it.kind, cable, impulse, it.owner, index, it.value, it.unit])
    beside = path.with_name(f"{path.stem}-events.csv")
    return [write_whole(path, stream.getvalue()), write_whole(beside, events.getvalue())]


def to_pandas(flight: Flight) -> Any:
    """See `Flight.to_pandas`."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise InputError("flight.to_pandas needs pandas, which is not installed.") from None
    every = columns(flight)
    times = every.pop("time (s)")
    return pandas.DataFrame(every, index=pandas.Index(times, name="time (s)"))


def _inputs(flight: Flight) -> dict[str, np.ndarray]:
    """Thrusts and moments in force at the flight's times: those of the latest row of the inputs."""
    inputs = flight.inputs
    if not len(inputs.times):
        return {}
    row = inputs.rows(flight.times)
    found = {}
    for k in range(flight.rig.count):
        for field in ("commanded_thrust", "thrust", "saturated"):
            found[f"vehicle{k}.{field} ({_UNITS[field]})"] = getattr(inputs, field)[row, k]
        for field in ("commanded_moment", "moment"):
            for i, axis in enumerate("xyz"):
                found[f"vehicle{k}.{field}.{axis} ({_UNITS[field]})"] = getattr(inputs, field)[row, k, i]
    return found


def _bodies(group: str, what: str, part: Track | ReferenceTrack) -> dict[str, np.ndarray]:
    """Columns of the bodies of a group: of where they are, or of what they have as `what`."""
    found = {}
    count = part.position.shape[1]
    for field, values in vars(part).items():
        for k in range(count):
            who = label(group, k, count)
            if what:  # the payload's is just the reference
                one = group.removesuffix("s")
                who = what if group == PAYLOAD else f"{one}_{what}{who.removeprefix(one)}"
            for i, axis in enumerate(_AXES[values.shape[-1]]):
                found[f"{who}.{field}.{axis} ({_UNITS[field]})"] = values[:, k, i]
    return found


def _signal(name: str, unit: str, values: np.ndarray) -> dict[str, np.ndarray]:
    """Columns of a signal, its owners numbered: 'cable0.tension (N)'."""
    owner, dot, rest = name.partition(".")
    return {f"{owner}{k}{dot}{rest} ({unit or '0/1'})": column for k, column in enumerate(values.T)}


def _numbers(column: np.ndarray) -> list[float | int]:
    return column.astype(int).tolist() if column.dtype == bool else column.tolist()
