"""From a scenario to a flight."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

import skyrig
from skyrig.constants import GRAVITY
from skyrig.control import HeldCommands
from skyrig.control.known import OPEN_LOOP
from skyrig.flight.flight import Flight
from skyrig.flight.metrics import metrics
from skyrig.flight.thinning import thinned
from skyrig.flight.trace import Own
from skyrig.runs import own
from skyrig.runs.closed import fly_closed_loop, make_controller
from skyrig.scenario import Scenario
from skyrig.scenario.uses import uses_of

if TYPE_CHECKING:
    from skyrig.scenario.build import Built


def fly(
    scenario: Scenario | str | Path,
    *,
    controller: Any = None,
    progress: Callable[[float], None] | None = None,
    trace: Own | None = None,
) -> Flight:
    """Fly a scenario; see `skyrig.fly`. `trace` says where the controller came from, if that is known."""
    known = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
    known = remembering(known, controller, trace)
    built = known.build()
    began = time.perf_counter()
    if controller is None and built.controller.sees == "estimate":
        from skyrig.runs.estimated import fly_estimated

        flight = fly_estimated(known, progress)
    else:
        flight = fly_closed_loop(built, who_flies(built, controller), progress)
    seconds = time.perf_counter() - began
    flight = replace(flight, metrics=metrics(flight, wall_seconds=seconds, limits=known.spec.verdict))
    record = known.spec.record
    return flight if record is None else thinned(flight, record.rate)


def remembering(known: Scenario, controller: Any = None, trace: Own | None = None) -> Scenario:
    """The scenario with what else it was flown with: a controller of somebody's own, files that were used."""
    if controller is None:
        own.need_none(known.controller.own, known.where, known.controller.name)
    else:
        remembered = msgspec.to_builtins(trace or own.trace(controller))
        known = known.with_overrides({"controller.own": remembered})
    if uses := uses_of(known.spec):
        known = known.with_overrides({"uses": uses})
    return known


def who_flies(built: Built, controller: Any = None) -> Any:
    """One's own controller, made for a scenario, or the scenario's own choice."""
    if controller is not None:
        return own.made(controller, built)
    return held_commands(built) if built.controller.name == OPEN_LOOP else make_controller(built)


def held_commands(built: Built) -> HeldCommands:
    """Thrusts and moments as an open-loop scenario holds them."""
    changes = [row.time for row in built.controller.held or ()]
    # drives are told anew at the control rate, as with any controller
    ticks = built.control_times if built.rig.layout.drives else ()
    times = np.unique([0.0, *changes, *ticks])
    times = times[times < built.duration]
    return HeldCommands(times, *held(built, times))


def held(built: Built, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Thrusts (K, n) and moments (K, n, 3) held from each of `times` on, before any loss."""
    rows = built.controller.held or ()
    n = built.scenario.parts.count
    thrust, moment = np.zeros((len(times), n)), np.zeros((len(times), n, 3))
    for since, words, turning in [(row.time, row.thrust, row.moment) for row in rows] or [
        (0.0, "trim", None)
    ]:
        later = times >= since
        if words == "weight":
            thrust[later] = [frame.mass * GRAVITY for frame in built.team.airframes]
            moment[later] = 0.0
        elif words == "trim":
            thrust[later], moment[later] = _hover(built)
        else:
            thrust[later], moment[later] = words, 0.0
        if turning is not None:
            moment[later] = turning
    return thrust, moment


def _hover(built: Built) -> tuple[np.ndarray, np.ndarray]:
    if built.hover is not None:
        return built.hover.thrust, built.hover.moment
    payload = built.rig.bodies(built.state)["payload"].only()
    hover = skyrig.trim(built.rig, np.asarray(payload.position), np.asarray(payload.attitude))
    return hover.thrust, hover.moment
