"""The metrics of many flights as columns, under the same definitions as `flight.metrics`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from skyrig.flight.flight import Flight
from skyrig.flight.limits import FlightLimits
from skyrig.flight.metrics import cable_summary, summary
from skyrig.flight.verdict import DIVERGED, Verdict, judge, outcome_of_lane
from skyrig.sim.log import LOG_FULL, OK, TOO_FAST, TOO_MANY, UNSOLVED
from skyrig.sim.statistics import Statistics

Columns = dict[str, np.ndarray]

_KINDS = ("impact", "taut", "slack", "ground")
_ERRORS = tuple(summary("position", 0, 0, 0, 0) | summary("attitude", 0, 0, 0, 0))
_EACH = ("vehicle_position_rmse", "vehicle_position_peak")
_CABLE = tuple(cable_summary(0, 0, 0, 0, 0, 0))
_REASONS = {
    -1: "The state turned non-finite at t = {time:.6g} s.",
    LOG_FULL: "Too many events happened in one step near t = {time:.6g} s.",
    TOO_MANY: "Cables chattered faster than could be resolved near t = {time:.6g} s.",
    TOO_FAST: "Bodies on taut cables turned too fast for the step near t = {time:.6g} s.",
    UNSOLVED: "No set of pulling cables could be found near t = {time:.6g} s.",
}


def of_statistics(
    statistics: Statistics, duration: float, limits: Sequence[FlightLimits]
) -> tuple[Columns, list[Verdict]]:
    """The columns of a batch's flights of `duration` (s), and the verdict on each; as many as `limits`."""
    it: Any = jax.tree.map(lambda leaf: np.asarray(leaf)[..., : len(limits)], statistics)
    errors: dict[str, Any] = {}
    for name, track in (("position", it.position), ("attitude", it.attitude)):
        if track is not None:
            rmse = np.sqrt(track.area / duration)
            errors |= summary(name, rmse, track.peak, track.peak_time, track.last)
    if it.vehicles is not None:
        errors["vehicle_position_rmse"] = np.sqrt(it.vehicles.area / duration)
        errors["vehicle_position_peak"] = it.vehicles.peak
    slack = it.slack + np.where(it.taut, 0.0, it.time - it.since)
    tension = (it.tension_least, it.tension.peak, it.tension.area / duration)
    found = _columns(
        it.time,
        {
            "tracking": {"whole": errors},
            "cables": [
                cable_summary(*each) for each in zip(*tension, slack, it.impacts, it.impulse, strict=True)
            ],
            "events": dict(zip(_KINDS, it.counts, strict=True)),
            "saturation": {"share": it.any_time / duration, "vehicles": it.busy_time / duration},
            "closest_vehicles": {"distance": it.closest} if it.busy.shape[0] > 1 else None,
        },
    )
    trouble = it.trouble
    verdicts = [
        judge(outcome_of_lane(it, lane), asked)
        if trouble[lane] == OK
        else Verdict(DIVERGED, _REASONS[int(trouble[lane])].format(time=it.time[lane]), float(it.time[lane]))
        for lane, asked in enumerate(limits)
    ]
    failed = trouble != OK
    for name, column in found.items():
        if name != "end":
            found[name] = np.where(failed, np.nan, column)
    return found, verdicts


def crowded(statistics: Statistics, count: int) -> np.ndarray:
    """Flights that had more events in a step than a batch has room for; alone they may well fly."""
    return np.flatnonzero(np.asarray(statistics.trouble)[:count] == LOG_FULL)


def of_flight(flight: Flight) -> Columns:
    """The same columns of a single flight, of one row."""
    return {name: np.atleast_1d(value) for name, value in _columns(flight.times[-1], flight.metrics).items()}


def _columns(end: Any, numbers: Mapping[str, Any]) -> Columns:
    """What `flight.metrics` gives, of one flight or, as arrays, of many, without its nesting."""
    found: dict[str, Any] = {"end": end}
    for name, value in numbers["tracking"]["whole"].items():
        if name in _EACH:
            found |= {f"{name}.{k}": one for k, one in enumerate(value)}
        elif name in _ERRORS:
            found[name] = value
    for k, cable in enumerate(numbers["cables"]):
        found |= {f"{name}.{k}": cable[name] for name in _CABLE}
    found |= {f"events.{kind}": numbers["events"].get(kind, 0) for kind in _KINDS}
    found["saturation"] = numbers["saturation"]["share"]
    found |= {f"saturation.{k}": one for k, one in enumerate(numbers["saturation"]["vehicles"])}
    if numbers["closest_vehicles"] is not None:
        found["closest_vehicles"] = numbers["closest_vehicles"]["distance"]
    return {name: np.asarray(value, dtype=np.float64) for name, value in found.items()}


def merged(parts: Sequence[tuple[np.ndarray, Mapping[str, np.ndarray]]], count: int) -> Columns:
    """Columns of `count` rows from parts with the rows they are of; what a row has not is not a number."""
    found: Columns = {}
    for rows, columns in parts:
        for name, column in columns.items():
            found.setdefault(name, np.full(count, np.nan))[rows] = column
    return found
