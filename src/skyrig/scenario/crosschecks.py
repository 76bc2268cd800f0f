"""What must agree between the parts of a scenario: start, controller, happenings, weight and thrust."""

from __future__ import annotations

from typing import Any

from skyrig.constants import GRAVITY
from skyrig.control.known import CONTROLLERS, OPEN_LOOP, able_to_fly, chosen
from skyrig.scenario.mechanisms import RigParts
from skyrig.scenario.motions import Motions
from skyrig.scenario.sentences import nearest, refuse, shown
from skyrig.scenario.spec import (
    ControllerSpec,
    CutSpec,
    Factors,
    Happening,
    PokeSpec,
    RotorFailure,
    Spec,
    ThrustLossSpec,
    WrenchSpec,
)
from skyrig.sensing.estimator import needs
from skyrig.sim.known import INTEGRATORS

SLACK = 1e-9
"""How much later than a flight's end something may end (s): rounding."""
MOST_STEPS = 5_000_000
MOST_PULSES = 10_000
WORDS = ("weight", "trim")
"""Thrusts that need no numbers."""


def check(spec: Spec, parts: RigParts, wanted: Motions, where: str) -> float:
    """Everything agrees with everything else; how long the scenario flies (s)."""
    _check_controller(spec, parts, wanted, where)
    duration = wanted.flown_for(spec.duration, where)
    _check_clock(spec, duration, where)
    _check_start(spec, parts, wanted, where)
    _check_happenings(spec.happenings, parts, duration, where)
    _check_arena(spec, where)
    for name, element in spec.elements.items():
        element.check(parts, where, f"world.{name}")
    _check_sensors(spec, parts, where)
    return duration


def _check_clock(spec: Spec, duration: float, where: str) -> None:
    """The numbers of steps stay within reason, and a control period is no shorter than a step."""
    if 1 / spec.loop.control_rate < spec.loop.step * (1 - 1e-9):
        raise refuse(
            where,
            "loop.step",
            f"must be at most a control period ({1 / spec.loop.control_rate:g} s), not {spec.loop.step:g}",
        )
    wanted = spec.loop.integrator
    if wanted is not None and wanted not in INTEGRATORS:
        listed = f"{', '.join(INTEGRATORS)}{nearest(wanted, INTEGRATORS)}"
        raise refuse(where, "loop.integrator", f"must be one of {listed}, not {shown(wanted)}")
    if wanted == "own" and not spec.rig.steps_itself:
        raise refuse(where, "loop.integrator", "must be another than own: this rig has no step of its own")
    if duration / spec.loop.step > MOST_STEPS:
        raise refuse(
            where,
            "loop.step",
            f"must be at least {duration / MOST_STEPS:.3g} s for this flight, not {spec.loop.step:g}",
        )


def _check_controller(spec: Spec, parts: RigParts, wanted: Motions, where: str) -> None:
    """The controller is known, has what it needs, and is told nothing it cannot use."""
    controller = spec.flier
    if controller.name not in CONTROLLERS:
        place = "controller" if isinstance(spec.controller, str) else "controller.name"
        listed = f"{', '.join(CONTROLLERS)}{nearest(controller.name, CONTROLLERS)}"
        raise refuse(where, place, f"must be one of {listed}, not {shown(controller.name)}")
    if controller.name == OPEN_LOOP:
        _check_held(controller, parts, where)
        return
    if controller.held is not None:
        raise refuse(where, "controller.held", f"is for {OPEN_LOOP}, not for {shown(controller.name)}")
    if not wanted.all:
        raise refuse(where, "reference", f"is missing: {shown(controller.name)} needs a motion to follow")
    _check_match(controller, parts, wanted, where)
    _check_gains(controller, parts, where)
    thrust, weight = sum(frame.total_thrust_max for frame in parts.airframes), parts.mass * GRAVITY
    if thrust <= weight:
        raise refuse(
            where,
            "rig.payload.mass",
            f"must be less: the team pushes {thrust:.4g} N at most, but everything weighs {weight:.4g} N",
        )


def _check_start(spec: Spec, parts: RigParts, wanted: Motions, where: str) -> None:
    """The start is given well enough, and no vehicle is beyond its cable or inside another."""
    start = spec.start
    if start.payload is not None and start.payload.position is None:
        raise refuse(where, "start.payload.position", "is missing: three numbers (m)")
    if start.vehicles is None:
        if start.payload is None and not wanted.all:
            raise refuse(where, "start.payload", "is missing: nothing else says where to begin")
        parts.check_start(start, where)
        return
    if start.payload is None and parts.payload is not None:
        raise refuse(where, "start.payload", "is missing: it goes with start.vehicles")
    if start.lean is not None:
        raise refuse(where, "start.lean", "is for hovering and must be left out with start.vehicles")
    if len(start.vehicles) != parts.count:
        raise refuse(
            where, "start.vehicles", f"must list each of {parts.count} vehicles, not {len(start.vehicles)}"
        )
    for k, body in enumerate(start.vehicles):
        if body.position is None:
            raise refuse(where, f"start.vehicles[{k}].position", "is missing: three numbers (m)")
    parts.check_start(start, where)


def _check_happenings(happenings: list[Happening], parts: RigParts, duration: float, where: str) -> None:
    """Everything happens during the flight, to vehicles and cables that are there."""
    severed: set[int] = set()
    poked: set[float] = set()
    for i, happening in enumerate(happenings):
        path = f"happenings[{i}]"
        if happening.time >= duration:
            raise refuse(
                where, f"{path}.time", f"must be before the end at {duration:g} s, not {happening.time:g}"
            )
        _check_window(happening, duration, where, path)
        if isinstance(happening, PokeSpec):
            if happening.time in poked:
                raise refuse(where, f"{path}.time", f"must differ from another poke's {happening.time:g} s")
            poked.add(happening.time)
            if parts.payload is None:
                raise refuse(where, path, "needs a payload, which this rig does not have")
            if parts.payload.is_point and any(happening.point):
                raise refuse(where, f"{path}.point", "must be [0, 0, 0] on a point mass")
        elif isinstance(happening, WrenchSpec):
            _check_wrench(happening, parts.count, duration, where, path)
        elif isinstance(happening, ThrustLossSpec):
            check_index(happening.vehicle, parts.count, "vehicle", where, f"{path}.vehicle")
        elif isinstance(happening, RotorFailure):
            check_index(happening.vehicle, parts.count, "vehicle", where, f"{path}.vehicle")
            rotors = parts.airframes[happening.vehicle].rotor_count
            check_index(happening.rotor, rotors, "rotor", where, f"{path}.rotor")
        else:
            parts.check_happening(happening, where, path)
            if isinstance(happening, CutSpec):
                if happening.cable in severed:
                    raise refuse(where, f"{path}.cable", f"must not be cut twice, but {happening.cable} is")
                severed.add(happening.cable)


def _check_arena(spec: Spec, where: str) -> None:
    """The arena's first corner is below its second along every axis."""
    arena = spec.verdict.arena
    for axis, low, high in zip("xyz", *arena, strict=True) if arena is not None else ():
        if not low < high:
            raise refuse(
                where,
                "verdict.arena",
                f"must give its lowest corner first, but along {axis} it goes from {low:g} to {high:g}",
            )


def _check_sensors(spec: Spec, parts: RigParts, where: str) -> None:
    """The rig can have these sensors, and they see enough for a controller that goes by them."""
    for name, sensor in spec.instruments.items():
        fault = sensor.fault(parts.carrier(spec.loop.control_rate))
        if fault is not None:
            field, sentence = fault
            raise refuse(where, f"sensors.{name}.{field}".rstrip("."), sentence)
    if spec.flier.sees == "estimate":
        missing = needs(spec.instruments, bool(parts.loads))
        if missing is not None:
            raise refuse(where, "controller.sees", f"must not be 'estimate' without {missing}")


def _check_match(controller: ControllerSpec, parts: RigParts, wanted: Motions, where: str) -> None:
    """The controller can fly this mechanism and follows what there is a reference for."""
    known = chosen(controller.name, parts.mechanism)
    if not known.flies(parts.mechanism):
        able = ", ".join(able_to_fly(parts.mechanism))
        raise refuse(
            where,
            "controller",
            f"must be one that flies {parts.mechanism} ({able}), not {shown(controller.name)}",
        )
    given = "payload" if wanted.payload is not None else "vehicles"
    if known.follows != given:
        able = able_to_fly(parts.mechanism, given)
        other = f"; the {given}' own motion" if given == "vehicles" else "; the payload's motion"
        raise refuse(
            where,
            "reference",
            f"must tell the motion of the {known.follows}, which {shown(controller.name)} follows{other} "
            f"is for {', '.join(able) or 'no controller of this mechanism'}",
        )


def _check_gains(controller: ControllerSpec, parts: RigParts, where: str) -> None:
    names = chosen(controller.name, parts.mechanism).gains.get(controller.flavour, ())
    for name, value in controller.gains.items():
        if name not in names:
            listed = f"{', '.join(names)}{nearest(name, names)}"
            raise refuse(
                where,
                f"controller.gains.{name}",
                f"is no gain of {controller.name} ({controller.flavour}): its gains are {listed}",
            )
        if not _numeric(value):
            raise refuse(
                where, f"controller.gains.{name}", f"must be numbers, one or a list, not {shown(value)}"
            )


def _numeric(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_numeric(entry) for entry in value)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_held(controller: ControllerSpec, parts: RigParts, where: str) -> None:
    count = parts.count
    for field, none in (("gains", {}), ("model", {}), ("factors", Factors())):
        if getattr(controller, field) != none:
            raise refuse(where, f"controller.{field}", f"must be left out: {OPEN_LOOP} cannot use it")
    before = -1.0
    for i, held in enumerate(controller.held or ()):
        path = f"controller.held[{i}]"
        if i == 0 and held.time != 0:
            raise refuse(where, f"{path}.time", f"must be 0 in the first entry, not {held.time:g}")
        if held.time <= before:
            raise refuse(where, f"{path}.time", f"must be later than {before:g} s, not {held.time:g}")
        before = held.time
        if isinstance(held.thrust, str) and held.thrust not in WORDS:
            near = nearest(held.thrust, WORDS)
            raise refuse(
                where,
                f"{path}.thrust",
                f"must be numbers (N), 'weight' or 'trim'{near}, not {shown(held.thrust)}",
            )
        for name in ("thrust", "moment"):
            rows = getattr(held, name)
            if isinstance(rows, list) and len(rows) != count:
                raise refuse(
                    where, f"{path}.{name}", f"must hold {count} entries, one a vehicle, not {len(rows)}"
                )
        for k, thrust in enumerate(held.thrust if isinstance(held.thrust, list) else ()):
            most = parts.airframes[k].total_thrust_max
            if not 0 <= thrust <= most:
                raise refuse(
                    where,
                    f"{path}.thrust[{k}]",
                    f"must be from 0 to {most:.4g} N, all its rotors give, not {thrust:g}",
                )
    if controller.held is not None and not controller.held:
        raise refuse(where, "controller.held", "must hold at least one entry, but it is empty")


def _check_window(happening: Any, duration: float, where: str, path: str) -> None:
    until = getattr(happening, "until", None)
    if until is None:
        return
    if not happening.time < until <= duration + SLACK:
        raise refuse(
            where,
            f"{path}.until",
            f"must be after {happening.time:g} s and not after the end at {duration:g} s, not {until:g}",
        )


def _check_wrench(wrench: WrenchSpec, count: int, duration: float, where: str, path: str) -> None:
    if wrench.vehicle is not None:
        check_index(wrench.vehicle, count, "vehicle", where, f"{path}.vehicle")
    if not any(wrench.force) and not any(wrench.torque):
        raise refuse(where, path, "must have a force (N) or a torque (N m), but both are zero")
    if (wrench.period is None) != (wrench.width is None):
        there, missing = ("period", "width") if wrench.width is None else ("width", "period")
        raise refuse(where, f"{path}.{missing}", f"is missing: pulses have it besides {there} (s)")
    if wrench.period is not None and wrench.width is not None and wrench.width >= wrench.period:
        raise refuse(
            where, f"{path}.width", f"must be below the period of {wrench.period:g} s, not {wrench.width:g}"
        )
    if wrench.period is not None and duration / wrench.period > MOST_PULSES:
        least = duration / MOST_PULSES
        raise refuse(where, f"{path}.period", f"must be at least {least:.3g} s, not {wrench.period:g}")


def check_index(value: int, count: int, noun: str, where: str, path: str) -> None:
    """Refuse a number that is none of `count` things, counted from 0."""
    if value >= count:
        last = f"from 0 to {count - 1}" if count > 1 else "0"
        raise refuse(where, path, f"must be {last}, counting each {noun}, not {value}")
