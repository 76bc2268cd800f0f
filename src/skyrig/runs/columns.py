"""The metrics of many flights as columns, under the same definitions as `flight.metrics`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from skyrig.flight.flight import Flight
from skyrig.flight.limits import Limits
from skyrig.flight.verdict import DIVERGED, Verdict, judge, outcome_of_lane
from skyrig.sim.log import LOG_FULL, OK, TOO_FAST, TOO_MANY, UNSOLVED
from skyrig.sim.statistics import Statistics

Columns = dict[str, np.ndarray]

_KINDS = ("impact", "taut", "slack", "ground")
_REASONS = {
    -1: "The state turned non-finite at t = {time:.6g} s.",
    LOG_FULL: "Too many events happened in one step near t = {time:.6g} s.",
    TOO_MANY: "Cables chattered faster than could be resolved near t = {time:.6g} s.",
    TOO_FAST: "Bodies on taut cables turned too fast for the step near t = {time:.6g} s.",
    UNSOLVED: "No set of pulling cables could be found near t = {time:.6g} s.",
}


def of_statistics(
    statistics: Statistics, duration: float, limits: Sequence[Limits]
) -> tuple[Columns, list[Verdict]]:
    """The columns of a batch's flights of `duration` (s), and the verdict on each; as many as `limits`."""
    it: Any = jax.tree.map(lambda leaf: np.asarray(leaf)[..., : len(limits)], statistics)
    found: Columns = {"end": it.time}
    for name, track in (("position", it.position), ("attitude", it.attitude)):
        if track is not None:
            found[f"{name}_rmse"] = np.sqrt(track.area / duration)
            found[f"{name}_peak"] = track.peak
            found[f"{name}_peak_time"] = track.peak_time
            found[f"{name}_last"] = track.last
    if it.vehicles is not None:
        found |= _each("vehicle_position_rmse", np.sqrt(it.vehicles.area / duration))
        found |= _each("vehicle_position_peak", it.vehicles.peak)
    slack = it.slack + np.where(it.taut, 0.0, it.time - it.since)
    found |= _each("tension_min", np.where(slack > 0, 0.0, it.tension_least))
    found |= _each("tension_max", it.tension.peak)
    found |= _each("tension_mean", it.tension.area / duration)
    found |= _each("slack_time", slack)
    found |= _each("impacts", it.impacts.astype(float))
    found |= _each("impulse_max", it.impulse)
    for k, kind in enumerate(_KINDS):
        found[f"events.{kind}"] = it.counts[k].astype(float)
    found["saturation"] = it.any_time / duration
    found |= _each("saturation", it.busy_time / duration)
    if it.busy.shape[0] > 1:
        found["closest_vehicles"] = it.closest
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


def of_flight(flight: Flight) -> dict[str, float]:
    """The same columns of a single flight."""
    numbers = flight.metrics
    whole = numbers["tracking"]["whole"]
    found: dict[str, float] = {"end": float(flight.times[-1])}
    for name in ("position", "attitude"):
        for kind in ("rmse", "peak", "peak_time", "last"):
            if f"{name}_{kind}" in whole:
                found[f"{name}_{kind}"] = whole[f"{name}_{kind}"]
    for kind in ("rmse", "peak"):
        each = whole.get(f"vehicle_position_{kind}", [])
        found |= {f"vehicle_position_{kind}.{k}": value for k, value in enumerate(each)}
    for kind in ("tension_min", "tension_max", "tension_mean", "slack_time", "impacts", "impulse_max"):
        found |= {f"{kind}.{k}": float(cable[kind]) for k, cable in enumerate(numbers["cables"])}
    found |= {f"events.{kind}": float(numbers["events"].get(kind, 0)) for kind in _KINDS}
    found["saturation"] = numbers["saturation"]["share"]
    found |= {f"saturation.{k}": value for k, value in enumerate(numbers["saturation"]["vehicles"])}
    if numbers["closest_vehicles"] is not None:
        found["closest_vehicles"] = numbers["closest_vehicles"]["distance"]
    return found


def merged(parts: Sequence[tuple[np.ndarray, Mapping[str, np.ndarray]]], count: int) -> Columns:
    """Columns of `count` rows from parts with the rows they are of; what a row has not is not a number."""
    found: Columns = {}
    for rows, columns in parts:
        for name, column in columns.items():
            found.setdefault(name, np.full(count, np.nan))[rows] = column
    return found


def _each(name: str, values: np.ndarray) -> Columns:
    return {f"{name}.{k}": row for k, row in enumerate(values)}
