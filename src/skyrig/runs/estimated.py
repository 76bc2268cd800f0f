"""A scenario flown by what sensors and filters tell: `controller.sees: estimate`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import numpy as np

from skyrig.algebra import as_jax
from skyrig.control.interface import Measurement, row, targets
from skyrig.flight.flight import Flight
from skyrig.rigs.bodies import Bodies
from skyrig.runs.flying import make_controller
from skyrig.runs.session import Session
from skyrig.scenario import Scenario
from skyrig.sensing.estimator import Estimator
from skyrig.sim.preparation import of_arrays
from skyrig.tracks import Track


def fly_estimated(known: Scenario, progress: Callable[[float], None] | None = None) -> Flight:
    """The flight; what the controller was told (`measured`) are the estimates.

    The controller is compiled and asked tick by tick, as sensors and filters are not in the loop.
    """
    session = Session(known)
    built, told = session.built, progress or (lambda time: None)
    controller = of_arrays(make_controller(built, estimates=True))
    ticks = built.control_times[:-1]
    wanted = None if built.reference is None else built.reference.sample(ticks)
    each = None if built.vehicle_references is None else [it.sample(ticks) for it in built.vehicle_references]
    target = targets(controller, wanted, each)
    carrier = known.parts.carrier(known.spec.loop.control_rate)
    estimator = Estimator(known.spec.instruments, session.truth.bodies, carrier)
    memory: Any = None
    believed: list[dict[str, Track]] = []
    for k, tick in enumerate(ticks):
        estimator.take(float(tick), session.sensors)
        believed.append(estimator.bodies())
        seen = _measurement(believed[-1], session.sense().length, built.rig)
        memory = controller.start(seen) if k == 0 else memory
        memory, command = _decided(controller, memory, as_jax(tick), row(target, k), seen)
        session.step((np.asarray(command.thrust), np.asarray(command.moment).T))
        told(session.time)
    flight = session.flight
    rows = np.clip(np.searchsorted(ticks, flight.inputs.times + 1e-9, side="right") - 1, 0, None)
    return replace(flight, measured={group: _track(believed, group, rows) for group in flight.measured})


@eqx.filter_jit
def _decided(controller: Any, memory: Any, t: Any, target: Any, seen: Measurement) -> Any:
    """One tick of a controller, compiled by itself."""
    return controller(memory, t, target, seen)


def _measurement(bodies: dict[str, Track], length: Any, rig: Any) -> Measurement:
    """Estimates as a controller takes them; cables' lengths are what the rig tells."""
    groups = {
        group: Bodies(*(as_jax(np.asarray(leaf).T.copy()) for leaf in vars(track).values()))
        for group, track in bodies.items()
    }
    return Measurement(groups, {"cable.length": as_jax(length)} if rig.layout.signal("cable.length") else {})


def _track(believed: list[dict[str, Track]], group: str, rows: Any) -> Track:
    leaves = zip(*(vars(it[group]).values() for it in believed), strict=True)
    return Track(*(np.stack(list(leaf))[rows] for leaf in leaves))
