"""From a checked scenario to live objects: rigs, states, references. Here JAX comes in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skyrig.brief import brief
from skyrig.errors import InputError
from skyrig.planning import Reference
from skyrig.planning.reference import quaternion
from skyrig.rigs import Cable, Linked, Slung, Trim, Winch, trim
from skyrig.scenario import spec as said
from skyrig.scenario.controllers import OPEN_LOOP
from skyrig.scenario.disturbances import Disturbances
from skyrig.scenario.parts import RigParts
from skyrig.scenario.scenario import Scenario
from skyrig.sim import Cut, Poke
from skyrig.vehicles import Airframe, Payload


@dataclass(frozen=True)
class Team:
    """A rig with the vehicles and the payload it is made of."""

    rig: Slung | Linked
    airframes: tuple[Airframe, ...]
    payload: Payload

    __repr__ = brief


@dataclass(frozen=True)
class Built:
    """Everything it takes to fly a scenario."""

    scenario: Scenario
    team: Team
    """As it is."""
    believed: Team
    """As the controller is told."""
    state: Any
    """Where the rig starts."""
    hover: Trim | None
    """The hover it starts from; None where the start is given body by body."""
    reference: Reference | None
    """Of the payload."""
    vehicle_references: tuple[Reference, ...] | None
    """Of each vehicle."""
    controller: said.Controller
    """Name, flavour and gains."""
    happenings: tuple[Poke | Cut, ...]
    """At an instant."""
    disturbances: Disturbances
    """Over a while."""
    noise: said.Noise
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
    def rig(self) -> Slung | Linked:
        """The rig as it is."""
        return self.team.rig


def build(scenario: Scenario) -> Built:
    """Live objects for `scenario`."""
    teams = make_teams(scenario)
    return assembled(scenario, teams, make_start(scenario, teams[0]))


def make_teams(scenario: Scenario) -> tuple[Team, Team]:
    """The rig as it is, and as the controller is told."""
    team = make_team(scenario.parts)
    return team, team if scenario.believed is scenario.parts else make_team(scenario.believed)


def assembled(scenario: Scenario, teams: tuple[Team, Team], start: tuple[Any, Trim | None]) -> Built:
    """Live objects for `scenario` from what `make_teams` and `make_start` made of it."""
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
        happenings=tuple(_instant(it) for it in happenings if isinstance(it, said.Poke | said.Cut)),
        disturbances=Disturbances.of(happenings, scenario.parts, scenario.duration),
        noise=scenario.spec.noise,
        control_times=_control_times(scenario),
        step=scenario.spec.loop.step,
        duration=scenario.duration,
        seed=scenario.spec.seed,
    )


def make_team(parts: RigParts) -> Team:
    """The rig made of `parts`."""
    if parts.mechanism == "links":
        linked = Linked.build(parts.airframes, parts.payload, parts.attachments, parts.yaw)
        return Team(linked, parts.airframes, parts.payload)
    cables = [
        Cable(
            cable.length,
            tuple(point),
            cable.hook,
            None
            if cable.winch is None
            else Winch(cable.winch.rate, cable.winch.acceleration, cable.winch.shortest, cable.winch.longest),
        )
        for cable, point in zip(parts.cables, parts.attachments.tolist(), strict=True)
    ]
    slung = Slung.build(parts.airframes, parts.payload, cables, parts.restitution)
    return Team(slung, parts.airframes, parts.payload)


def _control_times(scenario: Scenario) -> npt.NDArray[np.float64]:
    period = 1 / scenario.spec.loop.control_rate
    count = int(np.ceil(scenario.duration / period - 1e-6))
    times = np.arange(count + 1) / scenario.spec.loop.control_rate
    times[-1] = scenario.duration
    return times


def _instant(happening: said.Poke | said.Cut) -> Poke | Cut:
    if isinstance(happening, said.Cut):
        return Cut(happening.time, happening.cable)
    return Poke(happening.time, np.asarray(happening.impulse), np.asarray(happening.point))


def make_start(scenario: Scenario, team: Team) -> tuple[Any, Trim | None]:
    """Where the rig starts, and the hover it starts from; None where the start is given body by body."""
    start, rig = scenario.spec.start, team.rig
    body = start.payload
    if body is not None and (start.vehicles is not None or (isinstance(rig, Linked) and _moving(body))):
        own = {
            "payload_velocity": np.asarray(body.velocity),
            "payload_attitude": _attitude(body),
            "payload_rate": np.asarray(body.rate),
        }
        if start.vehicles is None or isinstance(rig, Linked):
            return rig.state(np.asarray(body.position), **own), None
        others = start.vehicles
        state = rig.state(
            np.asarray(body.position),
            np.asarray([other.position for other in others]),
            **own,
            vehicle_velocity=np.asarray([other.velocity for other in others]),
            vehicle_attitude=np.stack([_attitude(other) for other in others]),
            vehicle_rate=np.asarray([other.rate for other in others]),
        )
        return state, None
    position, attitude = _hover_pose(scenario, team)
    hover = trim(rig, position, attitude, start.lean)
    if scenario.controller.name != OPEN_LOOP and isinstance(rig, Slung):
        _check_thrust(scenario, hover)
    return hover.state, hover


def _hover_pose(scenario: Scenario, team: Team) -> tuple[np.ndarray, np.ndarray]:
    """Where the payload hovers at the start."""
    body, wanted = scenario.spec.start.payload, scenario.motions
    level = np.array([1.0, 0.0, 0.0, 0.0])
    if body is not None:
        return np.asarray(body.position), level if team.payload.is_point else _attitude(body)
    first = wanted.start
    if first is not None:
        return first.position[0], level if team.payload.is_point else first.attitude
    assert wanted.vehicles is not None
    places = np.stack([motion.start.position[0] for motion in wanted.vehicles])
    hover = trim(team.rig, np.zeros(3), level, scenario.spec.start.lean)
    vehicles = np.asarray(team.rig.bodies(hover.state)["vehicles"].position).T
    return (places - vehicles).mean(axis=0), level


def _check_thrust(scenario: Scenario, hover: Trim) -> None:
    for k, (thrust, frame) in enumerate(zip(hover.thrust, scenario.parts.airframes, strict=True)):
        if thrust > frame.total_thrust_max:
            raise InputError(
                f"{scenario.where}: rig.vehicles[{k}] must push {thrust:.4g} N to hover with its load, "
                f"but a {frame.name} gives {frame.total_thrust_max:.4g} N at most."
            )


def _moving(body: said.Body) -> bool:
    return any(body.velocity) or any(body.rate)


def _attitude(body: said.Body) -> np.ndarray:
    angles = body.attitude if isinstance(body.attitude, tuple) else (0.0, 0.0, body.attitude)
    return quaternion(np.asarray(angles, dtype=np.float64))
