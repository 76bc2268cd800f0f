"""A scenario flown with a controller in the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from skyrig import control
from skyrig.errors import InputError
from skyrig.flight.flight import Flight, Inputs
from skyrig.runs.assembly import assemble
from skyrig.runs.own import need_none
from skyrig.sim.loop import ClosedLoop, closed_loop
from skyrig.sim.pilot import Noise
from skyrig.sim.preparation import Outside

if TYPE_CHECKING:
    from skyrig.scenario.build import Built


def make_controller(built: Built, estimates: bool = False) -> control.Controller:
    """The scenario's controller, told of the rig what the scenario says it is told.

    `estimates` says that it will be told what filters believe; only `skyrig.fly` does that.
    """
    chosen = built.controller
    need_none(chosen.own, built.scenario.where, chosen.name)
    return named_controller(built, estimates)


def named_controller(built: Built, estimates: bool = False) -> control.Controller:
    """The same, whoever the scenario says flew it."""
    chosen, team, loop = built.controller, built.believed, built.scenario.spec.loop
    if chosen.sees == "estimate" and not estimates:
        raise InputError(
            f"{built.scenario.where}: controller.sees must be 'noisy' or 'truth' here: "
            "skyrig.fly alone flies by estimates."
        )
    clock = {"period": 1 / loop.control_rate, "lag": loop.rotor_lag, "delay": loop.delay}
    noise, gains = stated_noise(built), built.scenario.told_gains
    try:
        made = control.build(
            chosen.name, team.rig, team.airframes, gains, chosen.flavour, **clock, noise=noise
        )
        drags = [it.build(built.scenario.believed) for it in built.scenario.known_drag.values()]
        told = made.in_air(drags) if drags else made
        return told.planned(built.scenario.motions.plan)
    except InputError as error:
        raise InputError(f"{built.scenario.where}: controller.{error}") from None


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
        "delay": 0 if isinstance(controller, control.HeldCommands) else loop.delay,
        "integrator": loop.integrator,
    }


def fly_closed_loop(built: Built, controller: Any, progress: Callable[[float], None] | None) -> Flight:
    """Fly with a controller, or commands that are held, in the loop."""
    return as_flight(built, controller, closed_loop(**loop_arguments(built, controller), progress=progress))


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
    measured = None if isinstance(controller, control.HeldCommands) else flown.measured
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
