"""Fewer samples of a flight: for files that stay small, and for flights that last long.

Metrics, events and impacts are worked out from every step before any of them is left out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skyrig.errors import InputError
from skyrig.flight.flight import Flight, Inputs
from skyrig.flight.impacts import AROUND

KEPT_STILL = ("cable.length",)
"""Signals whose extremes pictures may lose."""
MOST_BYTES = 5e6
"""Of a file for a minute of flight, where nobody says how many samples to keep."""
RATES = (100.0, 50.0, 25.0, 20.0, 10.0, 5.0, 2.0, 1.0)
"""From which the number of samples a second is then taken."""


def usual_rate(flight: Flight) -> float:
    """Samples a second with which a minute of such a flight stays below MOST_BYTES (Hz)."""
    tracks = (*flight.bodies.values(), *flight.references.values(), *flight.measured.values())
    arrays = [
        flight.times,
        *vars(flight.inputs).values(),
        *(it for each in tracks for it in vars(each).values()),
    ]
    arrays += [signal.values for signal in flight.signals.values()]
    most = 0.95 * MOST_BYTES / 60 / sum(it.nbytes / max(len(it), 1) for it in arrays)
    return next((rate for rate in RATES if rate <= most), RATES[-1])


def thinned(flight: Flight, rate: float | None = None) -> Flight:
    """A copy with at most `rate` samples a second (Hz), the usual rate if None.

    Besides these it keeps the first and the last sample, those at which an error or a signal is largest or
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
    return replace(
        flight,
        times=flight.times[rows],
        bodies={group: it.at(rows) for group, it in flight.bodies.items()},
        references={group: it.at(rows) for group, it in flight.references.items()},
        measured={group: it.at(ticks) for group, it in flight.measured.items()},
        inputs=Inputs(*(it[ticks] for it in vars(flight.inputs).values())),
        signals={
            name: replace(it, values=it.values[ticks if it.held else rows])
            for name, it in flight.signals.items()
        },
    )


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
    for name, signal in flight.signals.items():
        if signal.unit and not signal.held and signal.values.size and name not in KEPT_STILL:
            rows += [signal.values.argmax(0), signal.values.argmin(0)]
    for group, wanted in flight.references.items():
        if group == flight.rig.carried:
            apart = np.linalg.norm(flight.bodies[group].position - wanted.position, axis=2)
            rows.append(apart.argmax(0))
    hit = flight.hardest_impact
    if hit is not None:
        rows.append(np.flatnonzero(np.abs(flight.times - hit.time) <= AROUND + 1e-9))
    return np.concatenate(rows)
