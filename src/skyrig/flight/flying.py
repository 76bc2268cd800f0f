"""From a scenario to a flight: open loop through `skyrig.rollout`, closed loop through `skyrig.sim.loop`."""

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
from skyrig.control.known import OPEN_LOOP
from skyrig.flight import own
from skyrig.flight.assembly import assemble
from skyrig.flight.flight import Flight, Inputs
from skyrig.flight.metrics import metrics
from skyrig.flight.thinning import thinned
from skyrig.scenario import Scenario
from skyrig.scenario.mechanisms import RigParts
from skyrig.scenario.spec import Own

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
    if controller is None:
        own.need_none(known.controller.own, known.where, known.controller.name)
    else:
        remembered = msgspec.to_builtins(trace or own.trace(controller))
        known = known.with_overrides({"controller.own": remembered})
    built = known.build()
    began = time.perf_counter()
    if known.controller.name == OPEN_LOOP and controller is None:
        flight = _open_loop(built)
    else:
        from skyrig.flight.closed import fly_closed_loop

        flight = fly_closed_loop(built, None if controller is None else own.made(controller, built), progress)
    seconds = time.perf_counter() - began
    flight = replace(flight, metrics=metrics(flight, wall_seconds=seconds, limits=known.spec.verdict))
    record = known.spec.record
    return flight if record is None else thinned(flight, record.rate)


def _open_loop(built: Built) -> Flight:
    """Fly with thrusts and moments held as the scenario's table says."""
    changes = [row.time for row in built.controller.held or ()]
    ticks = built.control_times if built.disturbances.reels else ()
    times = np.unique([0.0, built.duration, *changes, *built.disturbances.edges, *ticks])
    times = times[times <= built.duration]
    since = times[:-1]
    thrust, moment = held(built, since)
    share = built.disturbances.thrust_share(since)
    forces, torques = built.disturbances.pushes(since)

    def of(table: dict[str, np.ndarray], group: str) -> np.ndarray | None:
        rows = table.get(group)
        return rows if rows is None or group != "payload" else rows[:, 0]

    flown = skyrig.rollout(
        built.rig,
        built.state,
        times,
        thrust * share,
        moment * share[..., None],
        payload_force=of(forces, "payload"),
        payload_torque=of(torques, "payload"),
        vehicle_force=of(forces, "vehicles"),
        vehicle_torque=of(torques, "vehicles"),
        winch=_reel_rates(built, since),
        happenings=built.happenings,
        step=built.step,
        max_events=4096,
    )
    produced = Inputs(
        times=since,
        commanded_thrust=thrust,
        commanded_moment=moment,
        thrust=thrust * share,
        moment=moment * share[..., None],
        saturated=rotor_saturation(built.scenario.parts, thrust, moment),
    )
    return assemble(built, flown, produced)


def rotor_saturation(parts: RigParts, thrust: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """Share of each vehicle's rotors (K, n) beyond a limit when asked for thrust (N) and moment (N m)."""
    share = np.zeros(thrust.shape)
    for k, frame in enumerate(parts.airframes):
        wrench = np.concatenate([thrust[:, k, None], moment[:, k]], axis=1)
        rotors = wrench @ np.linalg.pinv(frame.mixing).T
        beyond = (rotors > frame.thrust_max * (1 + 1e-9)) | (rotors < frame.thrust_min * (1 - 1e-9))
        share[:, k] = beyond.mean(axis=1)
    return share


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


def _reel_rates(built: Built, times: np.ndarray) -> np.ndarray | None:
    """Reel-out rates for intervals that begin at `times`, planned on the control grid."""
    ticks = built.control_times[:-1]
    rates = built.disturbances.reel_rate(ticks)
    if rates is None:
        return None
    return rates[np.clip(np.searchsorted(ticks, times + 1e-9, side="right") - 1, 0, len(ticks) - 1)]
