"""What befalls a rig over a while, as functions of time in plain NumPy: wrenches, lost thrust, reeling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from skyrig.scenario.mechanisms import RigParts
from skyrig.scenario.spec import Happening, Reel, RotorFailure, ThrustLossSpec, WrenchSpec
from skyrig.vehicles.rotor_loss import RotorLoss

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Disturbances:
    """The lasting happenings of a scenario; what holds at a time goes on until the next of `edges`."""

    parts: RigParts
    duration: float
    """Of the flight (s)."""
    wrenches: tuple[WrenchSpec, ...]
    losses: tuple[ThrustLossSpec, ...]
    reels: tuple[Reel, ...]
    failures: tuple[RotorFailure, ...] = ()
    planned: Callable[[], Mapping[str, tuple[Array, Array]]] | None = None
    """What works out what a reference asks of the rig's own drives, if it asks for anything."""

    @staticmethod
    def of(
        happenings: Sequence[Happening],
        parts: RigParts,
        duration: float,
        drives: Callable[[], Mapping[str, tuple[Array, Array]]] | None = None,
    ) -> Disturbances:
        """Those among `happenings`, and what a reference asks of drives."""
        return Disturbances(
            parts,
            duration,
            tuple(it for it in happenings if isinstance(it, WrenchSpec)),
            tuple(it for it in happenings if isinstance(it, ThrustLossSpec)),
            tuple(sorted((it for it in happenings if isinstance(it, Reel)), key=lambda it: it.time)),
            tuple(it for it in happenings if isinstance(it, RotorFailure)),
            drives,
        )

    @cached_property
    def drives(self) -> Mapping[str, tuple[Array, Array]]:
        """What a reference asks of drives: times (T,) (s) and goals (T, k), each held until the next."""
        return {} if self.planned is None else self.planned()

    @property
    def rotor_losses(self) -> tuple[RotorLoss, ...]:
        """Rotors that stop, and when their mixers learn of it."""
        return tuple(
            RotorLoss(it.time, it.vehicle, it.rotor, np.inf if it.noticed is None else it.time + it.noticed)
            for it in self.failures
        )

    @property
    def edges(self) -> Array:
        """Times inside the flight at which anything that lasts begins, is noticed or ends, in order (s)."""
        times: list[float] = []
        for wrench in self.wrenches:
            starts = _pulses(wrench, self.duration)
            width = wrench.width if wrench.width is not None else np.inf
            times += [*starts, *np.minimum(starts + width, wrench.until or self.duration)]
        for loss in self.losses:
            times += [loss.time, loss.until or self.duration]
        times += [at for it in self.rotor_losses for at in (it.time, it.noticed)]
        times += [time for knots, _ in self.drives.values() for time in knots]
        inside = np.unique(np.asarray(times, dtype=np.float64))
        return inside[(inside > 0) & (inside < self.duration)]

    def pushes(self, times: npt.ArrayLike) -> tuple[dict[str, Array], dict[str, Array]]:
        """Forces (N) and torques (N m) on groups of bodies, world frame, (T, k, 3), where there are any."""
        clock = np.asarray(times, dtype=np.float64)
        bodies: dict[str, list[int | None]] = {"payload": [None], "vehicles": [*range(self.parts.count)]}
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

    def goals(self, times: npt.ArrayLike) -> dict[str, Array]:
        """Where the rig's own drives shall be in the end, (T, k) by drive; none that nothing happens to."""
        clock = np.asarray(times, dtype=np.float64)
        goals = self.parts.goals(self.reels, clock) if self.reels else {}
        for name, (knots, values) in self.drives.items():
            goals[name] = values[np.clip(np.searchsorted(knots, clock + 1e-9, side="right") - 1, 0, None)]
        return goals

    def _sum(self, wrenches: Sequence[WrenchSpec], times: Array) -> tuple[Array, Array]:
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


def _pulses(wrench: WrenchSpec, duration: float) -> Array:
    """When the wrench sets in, once or pulse by pulse (s)."""
    end = wrench.until or duration
    if wrench.period is None:
        return np.array([wrench.time])
    count = int(np.ceil((end - wrench.time) / wrench.period))
    return wrench.time + wrench.period * np.arange(count, dtype=np.float64)
