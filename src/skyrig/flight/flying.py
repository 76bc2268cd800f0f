"""From a scenario to a flight: open loop through `skyrig.rollout`, closed loop through `skyrig.sim.loop`."""

from __future__ import annotations

import inspect
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import skyrig
from skyrig.constants import GRAVITY
from skyrig.errors import InputError
from skyrig.flight.flight import Cables, Flight, FlightEvent, Impact, Inputs, RigData, Track, Wanted
from skyrig.flight.impacts import impacts
from skyrig.flight.metrics import metrics
from skyrig.planning import Reference
from skyrig.scenario import Scenario
from skyrig.scenario.controllers import OPEN_LOOP
from skyrig.scenario.parts import RigParts

if TYPE_CHECKING:
    from skyrig.scenario.build import Built


def fly(
    scenario: Scenario | str | Path,
    *,
    controller: Any = None,
    progress: Callable[[float], None] | None = None,
) -> Flight:
    """Fly a scenario.

    Args:
        scenario: A scenario, a bundled one's name, or a YAML file.
        controller: One of your own in place of the scenario's: a `skyrig.control.Controller`, compiled into
            the loop; any other callable `(t, target, measurement) -> (thrust, moment)`, stepped from Python;
            or a class of either kind, which is called with the `Built` scenario to make one.
        progress: Called now and then with the time flown so far (s).

    Returns:
        The flight, its metrics worked out.

    Raises:
        InputError: If the scenario cannot be flown.
        FlightDiverged: If the flight stops making sense.
    """
    known = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
    built = known.build()
    began = time.perf_counter()
    if known.controller.name == OPEN_LOOP and controller is None:
        flight = _open_loop(built)
    else:
        own = _made(controller, built) if inspect.isclass(controller) else controller
        flight = _closed_loop(built, own, progress)
    seconds = time.perf_counter() - began
    return replace(flight, metrics=metrics(flight, wall_seconds=seconds))


def _made(maker: Callable[[Built], Any], built: Built) -> Any:
    """The controller that a class of the caller's makes for this scenario."""
    return maker(built)


def _closed_loop(built: Built, own: Any, progress: Callable[[float], None] | None) -> Flight:
    """Fly with a controller in the loop."""
    from skyrig import control
    from skyrig.sim.loop import Outside, closed_loop
    from skyrig.sim.pilot import Noise

    chosen = built.controller
    controller = own
    rate = built.scenario.spec.loop.control_rate
    if own is None:
        team = built.believed
        try:
            controller = control.build(
                chosen.name, team.rig, team.airframes, chosen.gains, chosen.flavour, 1 / rate
            )
        except InputError as error:
            raise InputError(f"{built.scenario.where}: controller.{error}") from None
    acting = built.disturbances
    since = np.unique([0.0, *acting.edges, *(reel.time for reel in acting.reels)])
    load = acting.payload_wrench(since) or (None, None)
    craft = acting.vehicle_wrench(since) or (None, None)
    outside = Outside(
        times=since,
        thrust_share=acting.thrust_share(since),
        payload_force=load[0],
        payload_torque=load[1],
        vehicle_force=craft[0],
        vehicle_torque=craft[1],
        cable_length=acting.cable_target(since) if acting.reels else None,
    )
    noise = built.noise
    flown = closed_loop(
        built.rig,
        built.state,
        controller,
        built.team.airframes,
        built.reference,
        built.vehicle_references,
        duration=built.duration,
        control_rate=rate,
        step=built.step,
        outside=outside,
        happenings=built.happenings,
        noise=Noise(*(np.asarray(it) for it in (noise.position, noise.velocity, noise.attitude, noise.rate))),
        seed=built.seed,
        progress=progress,
    )
    produced = Inputs(
        times=flown.ticks,
        commanded_thrust=flown.commanded_thrust,
        commanded_moment=flown.commanded_moment,
        thrust=flown.thrust,
        moment=flown.moment,
        saturated=flown.saturated,
    )
    flight = assemble(built, flown, produced, track(flown.measured_payload), track(flown.measured_vehicles))
    return replace(flight, impacts=_impacts(built, flown, outside))


def _impacts(built: Built, flown: Any, outside: Any) -> tuple[Impact, ...]:
    """What a closed-loop flight's impacts did, from the same inputs flown again."""
    if not any(event.kind == "impact" for event in flown.events):
        return ()
    row = np.clip(np.searchsorted(outside.times, flown.ticks + 1e-9, side="right") - 1, 0, None)

    def rows(value: np.ndarray | None) -> np.ndarray | None:
        return None if value is None else value[row]

    def again(at: np.ndarray) -> Any:
        return skyrig.rollout(
            built.rig,
            built.state,
            np.append(flown.ticks, flown.times[-1]),
            flown.thrust,
            flown.moment,
            payload_force=rows(outside.payload_force),
            payload_torque=rows(outside.payload_torque),
            vehicle_force=rows(outside.vehicle_force),
            vehicle_torque=rows(outside.vehicle_torque),
            winch=flown.winch,
            happenings=built.happenings,
            at=at,
            step=built.step,
            max_events=4096,
        )

    return impacts(built.rig, flown.events, built.duration, again)


def _open_loop(built: Built) -> Flight:
    """Fly with thrusts and moments held as the scenario's table says."""
    changes = [row.time for row in built.controller.held or ()]
    ticks = built.control_times if built.disturbances.reels else ()
    times = np.unique([0.0, built.duration, *changes, *built.disturbances.edges, *ticks])
    times = times[times <= built.duration]
    since = times[:-1]
    thrust, moment = _held(built, since)
    share = built.disturbances.thrust_share(since)
    load = built.disturbances.payload_wrench(since) or (None, None)
    craft = built.disturbances.vehicle_wrench(since) or (None, None)

    def run(at: np.ndarray | None = None) -> Any:
        return skyrig.rollout(
            built.rig,
            built.state,
            times,
            thrust * share,
            moment * share[..., None],
            payload_force=load[0],
            payload_torque=load[1],
            vehicle_force=craft[0],
            vehicle_torque=craft[1],
            winch=_reel_rates(built, since),
            happenings=built.happenings,
            at=at,
            step=built.step,
            max_events=4096,
        )

    flown = run()
    produced = Inputs(
        times=since,
        commanded_thrust=thrust,
        commanded_moment=moment,
        thrust=thrust * share,
        moment=moment * share[..., None],
        saturated=rotor_saturation(built.scenario.parts, thrust, moment),
    )
    flight = assemble(built, flown, produced)
    if isinstance(built.rig, skyrig.Slung):
        flight = replace(flight, impacts=impacts(built.rig, flown.events, built.duration, run))
    return flight


def assemble(
    built: Built,
    flown: Any,
    inputs: Inputs,
    measured_payload: Track | None = None,
    measured_vehicles: Track | None = None,
) -> Flight:
    """A flight without metrics from what flying gave.

    Args:
        built: What was flown.
        flown: Anything with times (T,), payload and vehicles (position, velocity, attitude, rate; times
            first, xyz last), tension, cable_length and taut (T, n), and events: a `skyrig.sim.Rollout`, say.
        inputs: What was asked for and produced.
        measured_payload: What the controller was told, at the times of `inputs`.
        measured_vehicles: The same of the vehicles.
    """
    times = np.asarray(flown.times, dtype=np.float64)
    return Flight(
        name=built.scenario.name,
        times=times,
        payload=track(flown.payload),
        vehicles=track(flown.vehicles),
        cables=Cables(
            np.asarray(flown.tension), np.asarray(flown.cable_length), np.asarray(flown.taut, dtype=bool)
        ),
        inputs=inputs,
        rig=rig_data(built.scenario.parts),
        reference=None if built.reference is None else wanted([built.reference], times, one=True),
        vehicle_references=None
        if built.vehicle_references is None
        else wanted(built.vehicle_references, times, one=False),
        measured_payload=measured_payload,
        measured_vehicles=measured_vehicles,
        events=tuple(FlightEvent(it.time, it.kind, it.cable, it.impulse) for it in flown.events),
        scenario=built.scenario.to_yaml(),
        versions=versions(),
    )


def track(bodies: Any) -> Track:
    """A `Track` of anything with position, velocity, attitude and rate, times first and xyz last."""
    return Track(
        *(np.asarray(getattr(bodies, name)) for name in ("position", "velocity", "attitude", "rate"))
    )


def wanted(references: Sequence[Reference], times: np.ndarray, one: bool) -> Wanted:
    """References sampled at `times`: (T, 3) of a single one, else (T, n, 3)."""
    samples = [reference.sample(times) for reference in references]
    columns: list[Callable[[Any], Any]] = [
        lambda sample: sample.position[:, 0],
        lambda sample: sample.position[:, 1],
        lambda sample: sample.position[:, 2],
        lambda sample: sample.attitude,
        lambda sample: sample.rate[:, 0],
    ]
    return Wanted(
        *(
            np.asarray(column(samples[0])) if one else np.stack([column(each) for each in samples], axis=1)
            for column in columns
        )
    )


def rig_data(parts: RigParts) -> RigData:
    """What a flight remembers of its rig."""
    hooks = [cable.hook or (0.0, 0.0, 0.0) for cable in parts.cables] or [(0.0, 0.0, 0.0)] * parts.count
    return RigData(
        mechanism=parts.mechanism,
        payload_mass=parts.payload.mass,
        payload_is_point=parts.payload.is_point,
        payload_corners=np.asarray(parts.payload.shape.corners),
        vehicle_mass=np.array([frame.mass for frame in parts.airframes]),
        vehicle_radius=np.array([frame.radius for frame in parts.airframes]),
        vehicle_thrust_max=np.array([frame.total_thrust_max for frame in parts.airframes]),
        attachments=np.asarray(parts.attachments),
        hooks=np.asarray(hooks, dtype=np.float64),
    )


def rotor_saturation(parts: RigParts, thrust: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """Share of each vehicle's rotors (K, n) beyond a limit when asked for thrust (N) and moment (N m)."""
    share = np.zeros(thrust.shape)
    for k, frame in enumerate(parts.airframes):
        wrench = np.concatenate([thrust[:, k, None], moment[:, k]], axis=1)
        rotors = wrench @ np.linalg.pinv(frame.mixing).T
        beyond = (rotors > frame.thrust_max * (1 + 1e-9)) | (rotors < frame.thrust_min * (1 - 1e-9))
        share[:, k] = beyond.mean(axis=1)
    return share


def versions() -> dict[str, str]:
    """What computed a flight."""
    found = {"skyrig": skyrig.__version__, "python": platform.python_version()}
    for package in ("jax", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _held(built: Built, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
    payload = built.rig.bodies(built.state)[0]
    hover = skyrig.trim(built.rig, np.asarray(payload.position), np.asarray(payload.attitude))
    return hover.thrust, hover.moment


def _reel_rates(built: Built, times: np.ndarray) -> np.ndarray | None:
    """Reel-out rates for intervals that begin at `times`, planned on the control grid."""
    ticks = built.control_times[:-1]
    rates = built.disturbances.reel_rate(ticks)
    if rates is None:
        return None
    return rates[np.clip(np.searchsorted(ticks, times + 1e-9, side="right") - 1, 0, len(ticks) - 1)]
