"""Where each vehicle shall be so that the payload follows the scenario's reference.

Each vehicle keeps the place above the payload that it has in the hover: p_k = p + R d_k. A rig that starts on
the ground with slack cables first rises to its hover above the payload, and comes down beside it in the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skyrig.errors import InputError
from skyrig.rigs import trim
from skyrig.sensing.sensor import Numbers
from skyrig.turns import conjugate, euler_angles, turn

if TYPE_CHECKING:
    from skyrig.scenario.build import Built

NEAR = 0.05
"""A start this close to the hover is one (m)."""
RISE = 5.0
"""From the ground to the hover above the payload, and back (s)."""


@dataclass(frozen=True)
class Setpoint:
    """Where vehicles shall be; east, north, up."""

    position: Numbers
    """(n, 3) m."""
    velocity: Numbers
    """(n, 3) m/s."""
    acceleration: Numbers
    """(n, 3) m/s^2."""
    yaw: float
    """rad, from east towards north."""


class Mission:
    """Set-points of all vehicles over time.

    Args:
        built: What is flown.
    """

    def __init__(self, built: Built) -> None:
        self._each, self._load = built.vehicle_references, built.reference
        vehicles = np.asarray(built.rig.bodies(built.state)["vehicles"].position).T
        self.start = vehicles.astype(np.float64)
        """(n, 3) where vehicles are at the start (m)."""
        self._offsets = np.zeros_like(self.start)
        if self._load is not None:
            self._offsets = self._hover(built)
        elif self._each is None:
            raise InputError(f"{built.scenario.where}: reference is missing: there is nothing to fly.")
        away = np.linalg.norm(self.along(0.0).position - self.start, axis=1).max()
        self.rise = 0.0 if away < NEAR else RISE
        references = self._each or (self._load,)
        self.reference_duration = float(max(float(it.duration) for it in references if it is not None))

    @property
    def duration(self) -> float:
        """Of all of it (s)."""
        return self.reference_duration + 2 * self.rise

    def __call__(self, t: float) -> Setpoint:
        """At `t` (s) after take-off."""
        if t < self.rise:
            return self._blend(self.along(0.0), t / self.rise, 1 / self.rise)
        after = t - self.rise - self.reference_duration
        if self.rise and after > 0:
            last = self.along(self.reference_duration)
            return self._blend(last, 1 - min(after / self.rise, 1.0), -1 / self.rise * (after < self.rise))
        return self.along(min(t - self.rise, self.reference_duration))

    def along(self, t: float) -> Setpoint:
        """Above the load's reference at `t` (s) of it, whatever comes before."""
        if self._load is None:
            assert self._each is not None
            samples = [it.sample(np.array([t])) for it in self._each]
            moves = np.stack([np.asarray(it.position)[0, :3] for it in samples], axis=1)
            return Setpoint(moves[0], moves[1], moves[2], _yaw(samples[0]))
        sample: Any = self._load.sample(np.array([t]))
        place, velocity, acceleration = np.asarray(sample.position)[0, :3]
        attitude, rate = np.asarray(sample.attitude)[0], np.asarray(sample.rate)[0, 0]
        arms = turn(attitude, self._offsets)
        spin = np.cross(turn(attitude, rate), arms)
        return Setpoint(place + arms, velocity + spin, acceleration + 0 * arms, _yaw(sample))

    def _blend(self, there: Setpoint, share: float, pace: float) -> Setpoint:
        """Between the start (0) and a set-point (1), at rest at both; `pace` is the share's rate (1/s)."""
        way = there.position - self.start
        smooth, speed = share**2 * (3 - 2 * share), 6 * share * (1 - share) * pace
        none = np.zeros_like(way)
        return Setpoint(self.start + smooth * way, speed * way, none, there.yaw)

    def _hover(self, built: Built) -> Numbers:
        """Places of the vehicles in the payload's frame (m)."""
        assert self._load is not None
        first = self._load.sample(np.zeros(1))
        place, attitude = np.asarray(first.position)[0, 0], np.asarray(first.attitude)[0]
        lean = built.scenario.spec.start.lean
        hover = trim(built.rig, place, attitude, lean)
        bodies = built.rig.bodies(hover.state)
        team = np.asarray(bodies["vehicles"].position).T
        load = np.asarray(bodies["payload"].position)[:, 0]
        turned = np.asarray(bodies["payload"].attitude)[:, 0]
        return turn(conjugate(turned), team - load)


def _yaw(sample: Any) -> float:
    return float(euler_angles(np.asarray(sample.attitude)[0])[2])
