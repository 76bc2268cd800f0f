"""From a scenario to a flight."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from skyrig import control
from skyrig.constants import GRAVITY
from skyrig.control import HeldCommands
from skyrig.control.known import OPEN_LOOP
from skyrig.errors import InputError
from skyrig.flight.flight import Flight, Inputs
from skyrig.flight.metrics import metrics
from skyrig.flight.thinning import thinned
from skyrig.flight.trace import Own
from skyrig.runs import own
from skyrig.runs.assembly import assemble
from skyrig.scenario import Scenario
from skyrig.sim.loop import ClosedLoop, closed_loop
from skyrig.sim.pilot import Noise
from skyrig.sim.preparation import Outside

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
        pilot = who_flies(built, controller)
        flight = as_flight(built, pilot, closed_loop(**loop_arguments(built, pilot), progress=progress))
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
    if uses := known.spec.brought_in:
        known = known.with_overrides({"uses": uses})
    return known


def who_flies(built: Built, controller: Any = None) -> Any:
    """One's own controller, made for a scenario, or the scenario's own choice."""
    if controller is not None:
        return own.made(controller, built)
    return held_commands(built) if built.controller.name == OPEN_LOOP else make_controller(built)


def make_controller(built: Built, estimates: bool = False) -> control.Controller:
    """The scenario's controller, told of the rig what the scenario says it is told.

    `estimates` says that it will be told what filters believe; only `skyrig.fly` does that.
    """
    chosen = built.controller
    own.need_none(chosen.own, built.scenario.where, chosen.name)
    return named_controller(built, estimates)


def named_controller(built: Built, estimates: bool = False) -> control.Controller:
    """The same, whoever the scenario says flew it."""
    return told(untold_controller(built, estimates), built)


def told(controller: control.Controller, built: Built) -> control.Controller:
    """The same controller, told of the noise that the scenario states, if any."""
    return controller.told_of_noise(stated_noise(built)) if noisy(built) else controller


def untold_controller(built: Built, estimates: bool = False) -> control.Controller:
    """The same, for measurements that nothing blurs."""
    chosen, team, loop = built.controller, built.believed, built.scenario.spec.loop
    if chosen.sees == "estimate" and not estimates:
        raise InputError(
            f"{built.scenario.where}: controller.sees must be 'noisy' or 'truth' here: "
            "skyrig.fly alone flies by estimates."
        )
    clock = {"period": 1 / loop.control_rate, "lag": loop.rotor_lag, "delay": loop.delay}
    gains = built.scenario.gains
    try:
        made = control.build(chosen.name, team.rig, team.airframes, gains, chosen.flavour, **clock)
        drags = [it.build(built.scenario.believed) for it in built.scenario.known_drag.values()]
        knowing = made.in_air(drags) if drags else made
        return knowing.planned(built.scenario.motions.plan)
    except InputError as error:
        raise InputError(f"{built.scenario.where}: controller.{error}") from None


def noisy(built: Built) -> bool:
    """Whether the controller's measurements are noisy."""
    noise = built.noise
    return any((noise.position, noise.velocity, noise.attitude, noise.rate))


def stated_noise(built: Built) -> Noise:
    """The noise that the scenario states, for the controller to know."""
    noise = built.noise
    return Noise.of(noise.position, noise.velocity, noise.attitude, noise.rate)


def loop_arguments(built: Built, controller: Any) -> dict[str, Any]:
    """What `skyrig.closed_loop` is given to fly a scenario with that controller."""
    loop = built.scenario.spec.loop
    return {
        "rig": built.rig,
        "state": built.state,
        "controller": controller,
        "airframes": built.team.airframes,
        "payload": built.reference,
        "vehicles": built.vehicle_references,
        "duration": built.duration,
        "control_rate": loop.control_rate,
        "step": built.step,
        "outside": outside_of(built),
        "elements": built.elements,
        "happenings": built.happenings,
        "noise": stated_noise(built),
        "seed": built.seed,
        "rotor_lag": loop.rotor_lag,
        "delay": 0 if isinstance(controller, HeldCommands) else loop.delay,
        "integrator": loop.integrator,
    }


def as_flight(built: Built, controller: Any, flown: ClosedLoop) -> Flight:
    """A flight, without metrics, of what flying with that controller gave."""
    produced = Inputs(
        times=flown.ticks,
        commanded_thrust=flown.commanded_thrust,
        commanded_moment=flown.commanded_moment,
        thrust=flown.thrust,
        moment=flown.moment,
        saturated=flown.saturated,
    )
    measured = None if isinstance(controller, HeldCommands) else flown.measured
    units = getattr(controller, "signal_units", None)
    return assemble(built, flown, produced, measured, flown.controller_signals, units)


def outside_of(built: Built) -> Outside:
    """What lasts for a while of a scenario's happenings."""
    acting = built.disturbances
    since = np.unique([0.0, *acting.edges, *(reel.time for reel in acting.reels)])
    forces, torques = acting.pushes(since)
    return Outside(
        times=since,
        thrust_share=acting.thrust_share(since),
        forces=forces,
        torques=torques,
        goals=acting.goals(since),
        rotor_losses=acting.rotor_losses,
    )


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
    hover = built.rig.trim(np.asarray(payload.position), np.asarray(payload.attitude), None)
    return hover.thrust, hover.moment
