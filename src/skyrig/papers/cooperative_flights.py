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
DAMPED = {"swing": 0.5}
"""Gains of the controller: as the paper has it, and with active damping."""
POKE = {"type": "poke", "time": 1.0, "impulse": [0.06, 0.05, 0.0], "point": [0.3, 0.0, 0.0]}
"""A blow of 0.08 N s to the payload, off its middle."""
LOSS = {"type": "thrust-loss", "vehicle": 0, "factor": 0.5, "time": 1.0, "until": 1.4}
"""A robot that has half its thrust for 0.4 s."""

HARSH = {
    "noise": {"position": 0.01, "velocity": 0.05, "attitude": 0.0175, "rate": 0.05},
    "loop": {"rotor_lag": 0.02, "delay": 1},
}
"""What makes a flight less than ideal: noise (m, m/s, rad, rad/s), rotors that lag, late commands."""


class PoseError(NamedTuple):
    """How far a payload was from where it should be."""

    times: np.ndarray
    off: np.ndarray
    """m."""
    turned: np.ndarray
    """rad."""
    robots: np.ndarray
    """Of the robot that is farthest from its place (m)."""
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

    def left(self, since: float) -> float:
        """Root mean square of the distance from a time on (m)."""
        return float(np.sqrt((self.off[self.times >= since] ** 2).mean()))

    def time_constant(self, since: float, until: float = np.inf) -> float:
        """Time in which the payload's swing falls to 1/e (s)."""
        return time_constant(self.times, self.off, since, min(until, self.times[-1]))

    @property
    def robots_constant(self) -> float:
        """Time in which the robots' errors fall to 1/e, from their largest on (s)."""
        begin = float(self.times[self.robots.argmax()])
        return time_constant(self.times, self.robots, begin, self.times[-1], 0.5)


def time_constant(
    times: np.ndarray, off: np.ndarray, since: float, until: float, window: float = 1.0
) -> float:
    """Of an envelope that falls (s): a line through the logarithms of the largest value in each window.

    Windows with less than a fiftieth of the largest are left out.
    """
    windows = np.arange(since, until - window, window)
    peaks = np.array([off[(times >= it) & (times < it + window)].max() for it in windows])
    seen = peaks > 0.02 * peaks.max()
    return float(-1 / np.polyfit(windows[seen], np.log(peaks[seen]), 1)[0])


def held(
    found: Configuration,
    gains: dict[str, float],
    happening: dict[str, Any],
    harsh: dict[str, Any] | None = None,
) -> PoseError:
    """The team hovers in a configuration as point robots, and something happens; `harsh` as in `HARSH`."""

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
        **(harsh or {}),
    }
    flight = fly(Scenario.from_dict(values))
    still = np.broadcast_to(found.pose.attitude, flight.payload.attitude.shape)
    return _track(flight, found.pose.position, still, found.vehicles)


def sequence(
    gains: dict[str, float], hold: float | None = None
) -> tuple[PoseError, list[tuple[float, float]]]:
    """The poses of the bundled scenario, flown by point robots, and when the robots shall rest (s).

    Args:
        gains: Of the controller.
        hold: How long to rest at each pose (s); as the scenario has it if left out.
    """
    from skyrig.planning import build_team

    known = load(SEQUENCE).values
    reference = known["reference"] | ({} if hold is None else {"hold": hold})
    values = {**known, "reference": reference, "controller": {"name": "point-robot", "gains": dict(gains)}}
    scenario = Scenario.from_dict(values)
    flight = fly(scenario)
    motion = build_team(scenario.values["reference"], scenario.parts)
    wanted = motion.payload.sample(flight.times)
    robots = [each.sample(flight.times).position for each in motion.vehicles or ()]
    still = np.all([np.linalg.norm(it[:, 1], axis=1) < 1e-6 for it in robots], axis=0)
    places = np.stack([it[:, 0] for it in robots], axis=1)
    track = _track(flight, wanted.position[:, 0], wanted.attitude, places)
    return track, _stretches(flight.times, still)[1:]


def _stretches(times: np.ndarray, flags: np.ndarray) -> list[tuple[float, float]]:
    """From when to when flags hold, the last stretch included."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    pairs = edges.reshape(-1, 2)
    return [(float(times[a]), float(times[b - 1])) for a, b in pairs if b - a > 2]


def _track(flight: Any, place: np.ndarray, attitude: np.ndarray, robots: np.ndarray) -> PoseError:
    off = np.linalg.norm(flight.payload.position - place, axis=1)
    slack = sum(event.kind == "slack" for event in flight.events)
    strayed = np.linalg.norm(flight.vehicles.position - robots, axis=2).max(axis=1)
    turned = between(attitude, flight.payload.attitude)
    return PoseError(flight.times, off, turned, strayed, slack, flight.verdict.word)
