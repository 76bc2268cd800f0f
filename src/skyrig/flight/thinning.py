"""Fewer samples of a flight: for files that stay small, and for flights that last long.

Metrics, events and impacts are worked out from every step before any of them is left out.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from skyrig.errors import InputError
from skyrig.flight.flight import Flight
from skyrig.flight.impacts import AROUND, hardest

MOST_BYTES = 5e6
"""Of a file for a minute of flight, where nobody says how many samples to keep."""
RATES = (100.0, 50.0, 25.0, 20.0, 10.0, 5.0, 2.0, 1.0)
"""From which the number of samples a second is then taken."""
_SAMPLED = ("payload", "vehicles", "cables", "reference", "vehicle_references")
_HELD = ("inputs", "measured_payload", "measured_vehicles")


def usual_rate(flight: Flight) -> float:
    """Samples a second with which a minute of such a flight stays below MOST_BYTES (Hz)."""
    sampled = flight.times.itemsize + sum(_width(getattr(flight, name)) for name in _SAMPLED)
    held = sum(_width(getattr(flight, name)) for name in _HELD)
    held += sum(value.nbytes / max(len(value), 1) for value in flight.signals.values())
    most = 0.95 * MOST_BYTES / 60 / (sampled + held)
    return next((rate for rate in RATES if rate <= most), RATES[-1])


def thinned(flight: Flight, rate: float | None = None) -> Flight:
    """A copy with at most `rate` samples a second (Hz), the usual rate if None.

    Besides these it keeps the first and the last sample, those at which an error or a tension is largest or
    least, and every one near the hardest impact, so that pictures show what metrics tell.
    """
    if rate is None:
        rate = usual_rate(flight)
    if not rate > 0:
        raise InputError(f"rate must be a number of samples a second above 0, not {rate:g}.")
    rows = np.union1d(_grid(flight.times, rate), _telling(flight))
    ticks = _grid(flight.inputs.times, rate)
    if len(rows) == len(flight.times) and len(ticks) == len(flight.inputs.times):
        return flight
    changes: dict[str, Any] = {name: _some(getattr(flight, name), rows) for name in _SAMPLED}
    changes |= {name: _some(getattr(flight, name), ticks) for name in _HELD}
    changes["signals"] = {name: value[ticks] for name, value in flight.signals.items()}
    return replace(flight, times=flight.times[rows], **changes)


def _grid(times: np.ndarray, rate: float) -> np.ndarray:
    """Rows of the first sample in each period of the rate, and of the last one."""
    if not len(times):
        return np.zeros(0, int)
    period = np.floor((times - times[0]) * rate + 1e-6)
    first = np.flatnonzero(np.diff(period, prepend=-1) > 0)
    return np.union1d(first, len(times) - 1)


def _telling(flight: Flight) -> np.ndarray:
    """Rows that pictures must not lose."""
    rows = [np.zeros(0, int)]
    if flight.cables.tension.shape[1] and len(flight.times):
        rows += [flight.cables.tension.argmax(0), flight.cables.tension.argmin(0)]
    if flight.reference is not None and len(flight.times):
        apart = np.linalg.norm(flight.payload.position - flight.reference.position, axis=1)
        rows.append(np.array([apart.argmax()]))
    hit = hardest(flight)
    if hit is not None:
        rows.append(np.flatnonzero(np.abs(flight.times - hit.time) <= AROUND + 1e-9))
    return np.concatenate(rows)


def _width(part: Any) -> float:
    """Bytes of one row of a part."""
    if part is None:
        return 0.0
    arrays = [getattr(part, each.name) for each in fields(part)]
    return sum(array.nbytes / max(len(array), 1) for array in arrays)


def _some(part: Any, rows: np.ndarray) -> Any:
    if part is None:
        return None
    return type(part)(**{each.name: getattr(part, each.name)[rows] for each in fields(part)})
