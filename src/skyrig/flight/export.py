"""A flight as CSV, for spreadsheets and other tools: one row a time, one column a number."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

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
    return found


def write_csv(flight: Flight, path: Path) -> list[Path]:
    """Write states, reference and tensions to `path`, and the events beside it as NAME-events.csv."""
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
