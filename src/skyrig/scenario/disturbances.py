"""What befalls a rig over a while, as functions of time in plain NumPy: wrenches, lost thrust, reeling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skyrig.scenario.parts import RigParts
from skyrig.scenario.spec import Happening, Reel, ThrustLoss, Wrench

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Disturbances:
    """The lasting happenings of a scenario; what holds at a time goes on until the next of `edges`."""

    parts: RigParts
    duration: float
    """Of the flight (s)."""
    wrenches: tuple[Wrench, ...]
    losses: tuple[ThrustLoss, ...]
    reels: tuple[Reel, ...]

    @staticmethod
    def of(happenings: Sequence[Happening], parts: RigParts, duration: float) -> Disturbances:
        """Those among `happenings`."""
        return Disturbances(
            parts,
            duration,
            tuple(it for it in happenings if isinstance(it, Wrench)),
            tuple(it for it in happenings if isinstance(it, ThrustLoss)),
            tuple(sorted((it for it in happenings if isinstance(it, Reel)), key=lambda it: it.time)),
        )

    @property
    def edges(self) -> Array:
        """Times inside the flight at which a wrench or a loss of thrust begins or ends, in order (s)."""
        times: list[float] = []
        for wrench in self.wrenches:
            starts = _pulses(wrench, self.duration)
            width = wrench.width if wrench.width is not None else np.inf
            times += [*starts, *np.minimum(starts + width, wrench.until or self.duration)]
        for loss in self.losses:
            times += [loss.time, loss.until or self.duration]
        inside = np.unique(np.asarray(times, dtype=np.float64))
        return inside[(inside > 0) & (inside < self.duration)]

    def pushes(self, times: npt.ArrayLike) -> tuple[dict[str, Array], dict[str, Array]]:
        """Forces (N) and torques (N m) on groups of bodies, world frame, (T, k, 3), where there are any."""
        clock = np.asarray(times, dtype=np.float64)
        bodies = {"payload": [None], "vehicles": list(range(self.parts.count))}
        forces, torques = {}, {}
        for group, which in bodies.items():
            mine = [[it for it in self.wrenches if it.vehicle == body] for body in which]
            if not any(mine):
                continue
            sums = [self._sum(them, clock) for them in mine]
            forces[group] = np.stack([force for force, _ in sums], 1)
            torques[group] = np.stack([torque for _, torque in sums], 1)
        return forces, torques

    def thrust_share(self, times: npt.ArrayLike) -> Array:
        """Share of its thrust that each vehicle's rotors give, (T, n); 1 where nothing is lost."""
        clock = np.asarray(times, dtype=np.float64)
        share = np.ones((len(clock), self.parts.count))
        for loss in self.losses:
            during = (clock >= loss.time) & (clock < (loss.until or np.inf))
            share[during, loss.vehicle] *= loss.factor
        return share

    def cable_target(self, times: npt.ArrayLike) -> Array:
        """Free length that each cable shall have in the end, (T, n) (m); winches need a while for it."""
        clock = np.asarray(times, dtype=np.float64)
        lengths = [cable.length for cable in self.parts.cables]
        target = np.broadcast_to(lengths, (len(clock), len(lengths))).copy()
        for reel in self.reels:
            which = slice(None) if reel.cable is None else reel.cable
            target[clock >= reel.time, which] = reel.length
        return target

    def reel_rate(self, times: npt.ArrayLike) -> Array | None:
        """Reel-out rates to ask for over intervals that begin at evenly spaced `times`, (T, n) (m/s).

        They speed up and brake within the winches' limits and end at `cable_target`; None without reels.
        """
        if not self.reels:
            return None
        clock = np.asarray(times, dtype=np.float64)
        winches = [cable.winch for cable in self.parts.cables]
        most = np.array([winch.rate if winch else 0.0 for winch in winches])
        hard = np.array([winch.acceleration if winch else 1.0 for winch in winches])
        length = np.array([cable.length for cable in self.parts.cables])
        rate, dt = np.zeros_like(length), float(clock[1] - clock[0]) if len(clock) > 1 else 1.0
        rates = np.zeros((len(clock), len(length)))
        for row, target in enumerate(self.cable_target(clock)):
            rates[row] = wanted_rate(target - length, rate, most, hard, dt)
            length, rate = length + rates[row] * dt, rates[row]
        return rates

    def _sum(self, wrenches: Sequence[Wrench], times: Array) -> tuple[Array, Array]:
        force, torque = np.zeros((len(times), 3)), np.zeros((len(times), 3))
        for wrench in wrenches:
            during = (times >= wrench.time) & (times < (wrench.until or np.inf))
            if wrench.period is not None and wrench.width is not None:
                # the same starts as `edges`, so that no rounding moves a time to the other side of one
                starts = _pulses(wrench, self.duration)
                latest = np.searchsorted(starts, times, side="right") - 1
                during &= times < starts[np.maximum(latest, 0)] + wrench.width
            force[during] += wrench.force
            torque[during] += wrench.torque
        return force, torque


def wanted_rate(missing: Array, rate: Array, most: Array, hard: Array, dt: float) -> Array:
    """Rate to ask of a winch over the coming `dt` (m/s) so that it stops `missing` metres on.

    Args:
        missing: Length still to reel out, negative to reel in (m).
        rate: Present rate (m/s).
        most: Rate limit (m/s).
        hard: Acceleration limit (m/s^2).
        dt: How long the rate is held (s).
    """
    # v dt + v^2 / 2a of cable passes while v is held for dt and then braked at a
    brakable = np.sqrt((hard * dt) ** 2 + 2 * hard * np.abs(missing)) - hard * dt
    speed = np.minimum(np.minimum(brakable, most), np.abs(missing) / dt)
    return np.clip(np.sign(missing) * speed, rate - hard * dt, rate + hard * dt)


def _pulses(wrench: Wrench, duration: float) -> Array:
    """When the wrench sets in, once or pulse by pulse (s)."""
    end = wrench.until or duration
    if wrench.period is None:
        return np.array([wrench.time])
    count = int(np.ceil((end - wrench.time) / wrench.period))
    return wrench.time + wrench.period * np.arange(count, dtype=np.float64)
