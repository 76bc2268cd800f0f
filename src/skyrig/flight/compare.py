"""Two flights side by side: their metrics, and how far apart they flew."""

from __future__ import annotations

import numpy as np

from skyrig.errors import InputError
from skyrig.flight.flight import Flight
from skyrig.flight.records import ordered
from skyrig.flight.tables import Row, rows
from skyrig.flight.units import Value

STILL = ("cable.length",)
"""Signals whose differences are not told."""
Line = tuple[str, Value, Value, str]
"""A name, the first flight's value, the second's, and their unit (SI); '' where there is but one value."""


def compare(first: Flight, second: Flight) -> list[Line]:
    """Every metric that either flight has, and the largest distances between the two."""
    left, right = (
        {(name, unit): value for name, value, unit in rows(flight.metrics, zeros=True, spans=False)}
        for flight in (first, second)
    )
    every = {**left, **right} if len(left) >= len(right) else {**right, **left}
    lines: list[Line] = [("verdict", first.verdict.word, second.verdict.word, "")]
    lines += [(name, left.get((name, unit)), right.get((name, unit)), unit) for name, unit in every]
    return lines + [(name, "", value, unit) for name, value, unit in apart(first, second)]


def apart(first: Flight, second: Flight) -> list[Row]:
    """Largest distances between two flights over their common time, the second read at the first's times.

    Raises:
        InputError: If they share no time.
    """
    start, end = max(first.times[0], second.times[0]), min(first.times[-1], second.times[-1])
    times = first.times[(first.times >= start) & (first.times <= end)]
    if not len(times):
        raise InputError(
            f"the flights {first.name!r} and {second.name!r} cannot be compared: they share no time."
        )
    found: list[Row] = []
    for group in ordered(first.bodies):
        one, other = first.bodies[group].position, (second.bodies.get(group) or first.bodies[group]).position
        if group in second.bodies and one.shape[1] == other.shape[1]:
            gap = np.linalg.norm(_at(times, first.times, one) - _at(times, second.times, other), axis=-1)
            found.append((f"largest distance between the {group}", float(gap.max()), "m"))
    for name, signal in first.signals.items():
        twin = second.signals.get(name)
        if twin is None or name in STILL or signal.held or not signal.unit or signal.count != twin.count:
            continue
        if twin.unit == signal.unit and signal.count and not twin.held:
            values = ((first, signal), (second, twin))
            one, other = (_at(times, whose.times, it.values[..., None]) for whose, it in values)
            words = "tension" if name == "cable.tension" else name
            unit = "" if signal.unit == "1" else signal.unit
            found.append((f"largest difference of {words}", float(np.abs(one - other).max()), unit))
    found.append(("difference in number of events", len(second.events) - len(first.events), ""))
    return found


def _at(times: np.ndarray, own: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values (T, ..., c) read off at `times`, linearly in between."""
    flat = values.reshape(len(own), -1)
    read = np.stack([np.interp(times, own, column) for column in flat.T], axis=1)
    return read.reshape(len(times), *values.shape[1:])
