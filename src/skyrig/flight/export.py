"""A flight as CSV, for spreadsheets and other tools: one row a time, one column a number."""

from __future__ import annotations

import csv
import io
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from skyrig.errors import InputError
from skyrig.flight.flight import Flight, Track, Wanted
from skyrig.flight.storage import write_whole

_AXES = {3: ("x", "y", "z"), 4: ("w", "x", "y", "z")}
_UNITS = {
    "position": "m",
    "velocity": "m/s",
    "acceleration": "m/s^2",
    "attitude": "1",
    "rate": "rad/s",
    "tension": "N",
    "length": "m",
    "taut": "0/1",
    "commanded_thrust": "N",
    "thrust": "N",
    "commanded_moment": "N m",
    "moment": "N m",
    "saturated": "1",
}


def columns(flight: Flight) -> dict[str, np.ndarray]:
    """Every column by its name with unit, such as 'payload.position.x (m)'; each (T,)."""
    found: dict[str, np.ndarray] = {"time (s)": flight.times}
    for name, part in (
        ("payload", flight.payload),
        ("reference", flight.reference),
        ("vehicle", flight.vehicles),
        ("vehicle_reference", flight.vehicle_references),
    ):
        if part is not None:
            found |= _bodies(name, part)
    for field in ("tension", "length", "taut"):
        for k, column in enumerate(getattr(flight.cables, field).T):
            found[f"cable{k}.{field} ({_UNITS[field]})"] = column
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
    writer.writerow(["time (s)", "kind", "cable", "impulse (N s)"])
    writer.writerows(
        [it.time, it.kind, "" if it.cable is None else it.cable, it.impulse] for it in flight.events
    )
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
    row = np.clip(np.searchsorted(inputs.times, flight.times + 1e-9, side="right") - 1, 0, None)
    found = {}
    for k in range(flight.rig.count):
        for field in ("commanded_thrust", "thrust", "saturated"):
            found[f"vehicle{k}.{field} ({_UNITS[field]})"] = getattr(inputs, field)[row, k]
        for field in ("commanded_moment", "moment"):
            for i, axis in enumerate("xyz"):
                found[f"vehicle{k}.{field}.{axis} ({_UNITS[field]})"] = getattr(inputs, field)[row, k, i]
    return found


def _bodies(name: str, part: Track | Wanted) -> dict[str, np.ndarray]:
    found = {}
    for field, values in vars(part).items():
        each = values[:, None] if values.ndim == 2 else values
        for k in range(each.shape[1]):
            who = name if values.ndim == 2 else f"{name}{k}"
            for i, axis in enumerate(_AXES[values.shape[-1]]):
                found[f"{who}.{field}.{axis} ({_UNITS[field]})"] = each[:, k, i]
    return found


def _numbers(column: np.ndarray) -> list[float | int]:
    return column.astype(int).tolist() if column.dtype == bool else column.tolist()
