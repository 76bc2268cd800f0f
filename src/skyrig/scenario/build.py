"""From a checked scenario to live objects: rigs, states, references. Here JAX comes in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skyrig.algebra import as_jax
from skyrig.brief import brief
from skyrig.control.known import OPEN_LOOP
from skyrig.elements import Element
from skyrig.elements.rotors import RotorSet, rotor_signals
from skyrig.elements.side_forces import SideForces
from skyrig.errors import InputError
from skyrig.planning import Reference
from skyrig.planning.reference import quaternion
from skyrig.rigs import Bodies, Rig, SignalKind, Trim
from skyrig.scenario import spec as said
from skyrig.scenario.disturbances import Disturbances
from skyrig.scenario.mechanisms import RigParts
from skyrig.scenario.scenario import Scenario
from skyrig.sensing.sensor import Sensors
from skyrig.sim import Cut, Poke
from skyrig.vehicles import Airframe, Payload


@dataclass(frozen=True)
class BuiltTeam:
    """A rig with the vehicles and the payload it is made of."""

    rig: Rig
    airframes: tuple[Airframe, ...]
    payload: Payload | None

    __repr__ = brief


@dataclass(frozen=True)
class Built:
    """Everything it takes to fly a scenario."""

    scenario: Scenario
    team: BuiltTeam
    """As it is."""
    believed: BuiltTeam
    """As the controller is told."""
    state: Any
    """Where the rig starts."""
    hover: Trim | None
    """The hover it starts from; None where the start is given body by body."""
    reference: Reference | None
    """Of the payload."""
    vehicle_references: tuple[Reference, ...] | None
    """Of each vehicle."""
    controller: said.ControllerSpec
    """Name, flavour and gains."""
    happenings: tuple[Poke | Cut, ...]
    """At an instant."""
    disturbances: Disturbances
    """Over a while."""
    elements: dict[str, Element]
    """What pushes all the time, by name."""
    noise: said.NoiseSpec
    """Standard deviations of what is measured."""
    control_times: npt.NDArray[np.float64]
    """(K + 1,) when the controller acts, and the flight's end (s)."""
    step: float
    """Longest physics step (s)."""
    duration: float
    """Of the flight (s)."""
    seed: int

    __repr__ = brief

    @property
    def rig(self) -> Rig:
        """The rig as it is."""
        return self.team.rig

    def sensors(self) -> Sensors:
        """New sensors, as they are before the flight."""
        spec, parts = self.scenario.spec, self.scenario.parts
        return Sensors(spec.instruments, parts.carrier(spec.loop.control_rate), self.seed)

    @property
    def signal_kinds(self) -> tuple[SignalKind, ...]:
        """What the rig, its rotors and the elements tell."""
        layout = self.rig.layout
        more = [kind for it in self.elements.values() for kind in it.signal_kinds(layout)]
        if self.scenario.spec.loop.rotor_lag:
            more += rotor_signals(sum(frame.rotor_count for frame in self.team.airframes))
        return tuple({kind.name: kind for kind in (*layout.signals, *more)}.values())


def build(scenario: Scenario) -> Built:
    """Live objects for `scenario`."""
    teams = make_teams(scenario)
    return assembled(scenario, teams, make_start(scenario, teams[0]))


def make_teams(scenario: Scenario) -> tuple[BuiltTeam, BuiltTeam]:
    """The rig as it is, and as the controller is told."""
    team = make_team(scenario.parts)
    return team, team if scenario.believed is scenario.parts else make_team(scenario.believed)


def assembled(
    scenario: Scenario,
    teams: tuple[BuiltTeam, BuiltTeam],
    start: tuple[Any, Trim | None],
    elements: dict[str, Element] | None = None,
) -> Built:
    """Live objects for `scenario` from what `make_teams` and `make_start` made of it, and its elements."""
    (team, believed), (state, hover) = teams, start
    happenings = scenario.spec.happenings
    return Built(
        scenario=scenario,
        team=team,
        believed=believed,
        state=state,
        hover=hover,
        reference=scenario.motions.payload,
        vehicle_references=scenario.motions.vehicles,
        controller=scenario.controller,
        happenings=tuple(_instant(it) for it in happenings if isinstance(it, said.PokeSpec | said.CutSpec)),
        disturbances=Disturbances.of(happenings, scenario.parts, scenario.duration, scenario.motions.drives),
        elements=build_elements(scenario.spec, scenario.parts) if elements is None else elements,
        noise=said.NoiseSpec() if scenario.controller.sees == "truth" else scenario.spec.noise,
        control_times=_control_times(scenario),
        step=scenario.spec.loop.step,
        duration=scenario.duration,
        seed=scenario.spec.seed,
    )


def build_elements(spec: said.Spec, parts: RigParts) -> dict[str, Element]:
    """All elements of a scenario: those it names, and what its vehicles bring along."""
    made = {name: element.build(parts) for name, element in spec.elements.items()}
    if any(frame.tilted for frame in parts.airframes):
        made["side_forces"] = SideForces(RotorSet.of(parts.airframes))
    return made


def make_team(parts: RigParts) -> BuiltTeam:
    """The rig made of `parts`."""
    return BuiltTeam(parts.build(), parts.airframes, parts.payload)


def _control_times(scenario: Scenario) -> npt.NDArray[np.float64]:
    period = 1 / scenario.spec.loop.control_rate
    count = int(np.ceil(scenario.duration / period - 1e-6))
    times = np.arange(count + 1) / scenario.spec.loop.control_rate
    times[-1] = scenario.duration
    return times


def _instant(happening: said.PokeSpec | said.CutSpec) -> Poke | Cut:
    if isinstance(happening, said.CutSpec):
        return Cut(happening.time, happening.cable, happening.at)
    return Poke(happening.time, np.asarray(happening.impulse), np.asarray(happening.point))


def make_start(scenario: Scenario, team: BuiltTeam) -> tuple[Any, Trim | None]:
    """Where the rig starts, and the hover it starts from; None where the start is given body by body."""
    start, rig = scenario.spec.start, team.rig
    body = start.payload
    if start.vehicles is not None or (body is not None and _moving(body)):
        given = {} if body is None else {"payload": _bodies([body])}
        if start.vehicles is not None:
            given["vehicles"] = _bodies(start.vehicles)
        return _placed(scenario, rig, given), None
    if body is None and scenario.motions.begin is not None:
        begin = {
            group: Bodies(*(as_jax(each.T) for each in (place, 0 * place, turned, 0 * place)))
            for group, (place, turned) in scenario.motions.begin.items()
        }
        return _placed(scenario, rig, begin), None
    position, attitude = _hover_pose(scenario, team)
    try:
        hover = rig.trim(position, attitude, scenario.lean if start.lean is None else start.lean)
    except InputError as error:
        raise InputError(f"{scenario.where}: start: {error}") from None
    if scenario.controller.name != OPEN_LOOP:
        scenario.parts.check_hover(hover.thrust, scenario.where)
    return hover.state, hover


def _placed(scenario: Scenario, rig: Rig, given: dict[str, Bodies]) -> Any:
    """The rig with its bodies where the scenario says."""
    try:
        return rig.placed(given)
    except InputError as error:
        raise InputError(f"{scenario.where}: start: {error}") from None


def _bodies(said_of: Sequence[said.BodySpec]) -> Bodies:
    """Bodies of a group, (3, k)."""
    columns = zip(*((it.position, it.velocity, _attitude(it), it.rate) for it in said_of), strict=True)
    return Bodies(*(as_jax(np.asarray(column, dtype=np.float64).T) for column in columns))


def _hover_pose(scenario: Scenario, team: BuiltTeam) -> tuple[np.ndarray, np.ndarray]:
    """Where the payload hovers at the start."""
    body, wanted = scenario.spec.start.payload, scenario.motions
    level = np.array([1.0, 0.0, 0.0, 0.0])
    pointed = team.payload is not None and team.payload.is_point
    if body is not None:
        return np.asarray(body.position), level if pointed else _attitude(body)
    first = wanted.start
    if first is not None:
        return first.position[0], level if pointed else first.attitude
    assert wanted.vehicles is not None
    places = np.stack([motion.start.position[0] for motion in wanted.vehicles])
    hover = team.rig.trim(np.zeros(3), level, scenario.spec.start.lean)
    vehicles = np.asarray(team.rig.bodies(hover.state)["vehicles"].position).T
    return (places - vehicles).mean(axis=0), level


def _moving(body: said.BodySpec) -> bool:
    return any(body.velocity) or any(body.rate)


def _attitude(body: said.BodySpec) -> np.ndarray:
    angles = body.attitude if isinstance(body.attitude, tuple) else (0.0, 0.0, body.attitude)
    return quaternion(np.asarray(angles, dtype=np.float64))
