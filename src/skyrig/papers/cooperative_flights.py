"""Flights behind the page on cooperative manipulation: pokes, a loss of thrust, a sequence of poses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skyrig.runs import fly
from skyrig.scenario import Scenario, load
from skyrig.statics import Configuration
from skyrig.turns import between, euler_angles

TEAM, SEQUENCE = "three-hummingbirds-frame", "three-hummingbirds-poses"
PLAIN: dict[str, float] = {}
DAMPED = {"swing": 0.1}
"""Gains of the controller: as the paper has it, and with active damping."""
POKE = {"type": "poke", "time": 1.0, "impulse": [0.06, 0.05, 0.0], "point": [0.3, 0.0, 0.0]}
"""A blow of 0.08 N s to the payload, off its middle."""
LOSS = {"type": "thrust-loss", "vehicle": 0, "factor": 0.5, "time": 1.0, "until": 1.4}
"""A robot that has half its thrust for 0.4 s."""


class Track(NamedTuple):
    """How far a payload was from where it should be."""

    times: np.ndarray
    off: np.ndarray
    """m."""
    turned: np.ndarray
    """rad."""
    slack: int
    """How often a cable went slack."""
    word: str
    """The flight's verdict."""

    @property
    def rmse(self) -> tuple[float, float]:
        """Root mean squares: m, degrees."""
        return float(np.sqrt((self.off**2).mean())), float(np.degrees(np.sqrt((self.turned**2).mean())))

    def peak(self, since: float, until: float) -> float:
        """Largest distance in a window of time (m)."""
        return float(self.off[(self.times >= since) & (self.times < until)].max())

    def time_constant(self, since: float) -> float:
        """Time in which the envelope of the distance falls to 1/e (s): a line through logarithms of peaks."""
        windows = np.arange(since, self.times[-1] - 1.0, 1.0)
        peaks = np.array([self.peak(begin, begin + 1.0) for begin in windows])
        seen = peaks > 0.02 * peaks.max()
        return float(-1 / np.polyfit(windows[seen], np.log(peaks[seen]), 1)[0])


def held(found: Configuration, gains: dict[str, float], happening: dict[str, Any]) -> Track:
    """The team hovers in a configuration as point robots, and something happens."""

    def at(position: np.ndarray, attitude: np.ndarray) -> dict[str, Any]:
        return {"position": position.tolist(), "attitude": euler_angles(attitude[None])[0].tolist()}

    crafts = zip(found.vehicles, found.vehicle_attitude, strict=True)
    values = {
        **load(TEAM).values,
        "start": {"payload": at(*found.pose), "vehicles": [at(*each) for each in crafts]},
        "reference": {"vehicles": [{"type": "hover", "start": place.tolist()} for place in found.vehicles]},
        "controller": {"name": "point-robot", "gains": dict(gains)},
        "happenings": [happening],
        "duration": 12.0,
    }
    flight = fly(Scenario.from_dict(values))
    still = np.broadcast_to(found.pose.attitude, flight.payload.attitude.shape)
    return _track(flight, found.pose.position, still)


def sequence(gains: dict[str, float]) -> Track:
    """The poses of the bundled scenario, flown by point robots."""
    from skyrig.planning import build_team

    values = {**load(SEQUENCE).values, "controller": {"name": "point-robot", "gains": dict(gains)}}
    scenario = Scenario.from_dict(values)
    flight = fly(scenario)
    wanted = build_team(scenario.values["reference"], scenario.parts).payload.sample(flight.times)
    return _track(flight, wanted.position[:, 0], wanted.attitude)


def _track(flight: Any, place: np.ndarray, attitude: np.ndarray) -> Track:
    off = np.linalg.norm(flight.payload.position - place, axis=1)
    slack = sum(event.kind == "slack" for event in flight.events)
    return Track(flight.times, off, between(attitude, flight.payload.attitude), slack, flight.verdict.word)
