"""A scenario's own controller, asked tick by tick for commands that others carry out, or do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import numpy as np
import numpy.typing as npt

from skyrig.algebra import as_jax
from skyrig.control.interface import Controller, Measurement, Target, row, targets
from skyrig.control.stepped import SeenBodies
from skyrig.rigs.bodies import Bodies
from skyrig.runs.flying import make_controller
from skyrig.runs.session import Session
from skyrig.sensing.estimator import Estimator
from skyrig.sensing.sensor import TEAM
from skyrig.sim.preparation import of_arrays
from skyrig.tracks import Track

Numbers = npt.NDArray[np.float64]


class AskedController:
    """The controller of a session's scenario, told what `controller.sees` says.

    It is compiled by itself: what it asks for need not be what the session flies.

    Args:
        session: What is flown; its scenario has sensors.
        controller: Another one, which is told its target at every tick.
    """

    def __init__(self, session: Session, controller: Controller | None = None) -> None:
        self.session = session
        self._ticks = session.built.control_times[:-1]
        self._targets: Any = None
        if controller is None:
            controller = make_controller(session.built, estimates=True)
            self._targets = _targets(session, controller, self._ticks)
        self._controller = of_arrays(controller)
        self._memory: Any = None
        self._look = _eyes(session)
        self.seen: dict[str, Track] = {}
        """What it was told of all bodies last, by group, (k, 3)."""

    def __call__(self, target: Target | None = None) -> tuple[Numbers, Numbers]:
        """Thrusts (n,) in N and moments (n, 3) in N m for the period that begins now."""
        tick, built = self.session.tick, self.session.built
        self.seen = self._look()
        seen = _measurement(self.seen, self.session.sense().length, built.rig)
        if self._memory is None:
            self._memory = self._controller.start(seen)
        now, wanted = as_jax(self._ticks[tick]), row(self._targets, tick) if target is None else target
        self._memory, command = _decided(self._controller, self._memory, now, wanted, seen)
        return np.asarray(command.thrust), np.asarray(command.moment).T


def _targets(session: Session, controller: Controller, ticks: Numbers) -> Target:
    """What the scenario's references want at all ticks."""
    built = session.built
    wanted = None if built.reference is None else built.reference.sample(ticks)
    each = built.vehicle_references
    team = None if each is None else [it.sample(ticks) for it in each]
    return targets(of_arrays(controller), wanted, team)


def _eyes(session: Session) -> Callable[[], dict[str, Track]]:
    """Whatever tells a controller where bodies are."""
    if session.built.controller.sees != "estimate":
        return lambda: _sensed(session)
    known = session.scenario
    carrier = known.parts.carrier(known.spec.loop.control_rate)
    estimator = Estimator(known.spec.instruments, session.truth.bodies, carrier)

    def look() -> dict[str, Track]:
        estimator.take(float(session.time), session.sensors)
        return estimator.bodies()

    return look


@eqx.filter_jit
def _decided(controller: Any, memory: Any, t: Any, target: Any, seen: Measurement) -> Any:
    """One tick of a controller, compiled by itself."""
    return controller(memory, t, target, seen)


def _measurement(bodies: Mapping[str, Track], length: Any, rig: Any) -> Measurement:
    """Bodies as a controller takes them; cables' lengths are what the rig tells."""
    groups = {
        group: Bodies(*(as_jax(np.asarray(leaf).T.copy()) for leaf in vars(track).values()))
        for group, track in bodies.items()
    }
    return Measurement(groups, {"cable.length": as_jax(length)} if rig.layout.signal("cable.length") else {})


def _sensed(session: Session) -> dict[str, Track]:
    """What is measured, with the scenario's noise; of other bodies than payload and vehicles the truth."""
    seen, found = session.sense(), dict(session.truth.bodies)
    found[TEAM] = _track(seen.vehicles)
    if seen.payload is not None:
        found["payload"] = _track(seen.payload)
    return found


def _track(seen: SeenBodies) -> Track:
    leaves = vars(seen).values()
    return Track(*(np.atleast_2d(leaf) for leaf in leaves))
