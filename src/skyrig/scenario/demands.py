"""What a reference asks of the team that follows it, next to what the team has: thrust, tilt, speed, room.

A rig on cables is taken as masses that all follow the reference exactly, m |a + g e3| of thrust each; one on
rigid links as the body it is, rotor by rotor (`rotor_demand.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from skyrig.checks import Numbers
from skyrig.constants import GRAVITY
from skyrig.control.known import OPEN_LOOP
from skyrig.planning import Reference, Sample, Table
from skyrig.scenario.mechanisms.cables import CableParts
from skyrig.scenario.mechanisms.links import LinkParts
from skyrig.scenario.rotor_demand import hover_thrusts, rotor_thrusts, rotors_of, yaw_acceleration
from skyrig.scenario.sentences import figure
from skyrig.vehicles import Airframe

if TYPE_CHECKING:
    from skyrig.scenario.scenario import Scenario

MOST_TILT = np.pi / 3
"""Tilt of a payload on cables beyond which radians are unlikely to be meant (rad)."""
LEAST_TILT = 0.01
"""Tilt that is worth a word (rad)."""
MOST_RATE = 10.0
"""Body rate beyond which radians are unlikely to be meant (rad/s)."""
ADVANCE = 0.4
"""Speed of flight over that of propeller tips which rotors hardly exceed; helicopters fly at up to 0.4."""
HEAVY = "even hovering takes more, so the load is too heavy for where it is held"
MOVING = 0.1
"""Speed that is worth a word (m/s)."""


@dataclass(frozen=True)
class Follower:
    """Who follows a reference, and how it moves."""

    name: str
    """How a sentence begins."""
    reference: Reference
    times: Numbers
    motion: Sample
    bottom: float
    """How far the follower's body reaches below its origin (m)."""

    @property
    def lift(self) -> Numbers:
        """(T, 3) what its thrust has to make up for (m/s^2): acceleration, and gravity."""
        return self.motion.position[:, 2] + [0.0, 0.0, GRAVITY]

    def at(self, row: int) -> str:
        """When, in words."""
        return f"at {figure(self.times[row])} s"


def demands(scenario: Scenario) -> Iterator[str]:
    """Sentences on what each reference asks for."""
    followers = tuple(_followers(scenario))
    yield from _underground(scenario, followers)
    if scenario.controller.name in (OPEN_LOOP, "attitude"):
        return  # nobody follows these positions
    for k, follower in enumerate(followers):
        alone = scenario.motions.vehicles is not None
        yield from scenario.parts.demands(follower, k if alone else None)
        yield from _speed(follower, scenario.parts.airframes)
        yield from _ends(follower, scenario.spec.start.payload is None)


def _followers(scenario: Scenario) -> Iterator[Follower]:
    alone = scenario.motions.vehicles is not None
    for k, reference in enumerate(scenario.motions.all):
        times = instants(reference, scenario.duration)
        with np.errstate(all="ignore"):
            motion = reference.sample(times)
        if all(np.all(np.isfinite(leaf)) for leaf in motion):
            name = f"The reference of vehicle {k}" if alone else "The reference"
            load = None if alone else scenario.parts.payload
            bottom = 0.0 if load is None else -float(load.shape.corners[:, 2].min())
            yield Follower(name, reference, times, motion, bottom)


def instants(reference: Reference, duration: float) -> Numbers:
    """Times at which to look (s): evenly spread over the flight, and where pieces of the reference meet."""
    even = np.linspace(0.0, duration, int(np.clip(20 * duration, 200, 2000)))
    knots = np.asarray(reference.knots, dtype=np.float64)
    return np.unique(np.concatenate([even, knots[(knots >= 0) & (knots <= duration)][:5000]]))


def _underground(scenario: Scenario, followers: tuple[Follower, ...]) -> Iterator[str]:
    """What is below the ground by which the flight is judged."""
    ground = scenario.spec.verdict.ground
    if ground == "none":
        return
    for follower in followers:
        yield from _below(follower, ground)
    place, load = scenario.spec.start.payload, scenario.parts.payload
    bottom = 0.0 if load is None else float(load.shape.corners[:, 2].min())
    if place is not None and place.position is not None and place.position[2] + bottom < ground:
        at = "" if ground == 0 else f" at z = {figure(ground)} m"
        yield f"The payload starts at z = {figure(place.position[2])} m, in the ground{at}: z points up (m)."


def _below(follower: Follower, ground: float) -> Iterator[str]:
    heights = follower.motion.position[:, 0, 2]
    row = int(np.argmin(heights))
    if heights[row] < ground:
        yield (
            f"{follower.name} goes down to z = {figure(heights[row])} m {follower.at(row)}, below the ground "
            f"at z = {ground:g}: z points up, and a start that is not given is the origin."
        )
    elif heights[row] - follower.bottom < ground - 1e-9:
        yield (
            f"{follower.name} goes down to z = {figure(heights[row])} m {follower.at(row)}, where the "
            f"payload, which reaches {figure(follower.bottom)} m below its origin, is in the ground: a start "
            "that is not given is the origin."
        )


def slung_thrust(follower: Follower, parts: CableParts, vehicle: int | None) -> Iterator[str]:
    """More thrust than there is, for the team together or for one of it."""
    lift = follower.lift
    size = np.linalg.norm(lift, axis=1)
    row = int(np.argmax(size))
    most = np.array([frame.total_thrust_max for frame in parts.airframes])
    share = load_shares(parts) if vehicle is None else np.full(parts.count, parts.payload.mass / parts.count)
    held = share + [frame.mass for frame in parts.airframes]
    k = int(np.argmax(held / most)) if vehicle is None else vehicle
    if vehicle is None and size[row] * parts.mass > most.sum():
        yield (
            f"{follower.name} asks for {parts.mass * size[row]:.4g} N of thrust {follower.at(row)}, but the "
            f"team gives {most.sum():.4g} N at most: {_cause(follower, row)}."
        )
    elif held[k] * size[row] > most[k]:
        yield (
            f"{follower.name} asks vehicle {k} for {held[k] * size[row]:.4g} N {follower.at(row)}, with its "
            f"share of the load, but a {parts.airframes[k].name} gives {most[k]:.4g} N at most: "
            f"{HEAVY if held[k] * GRAVITY > most[k] else _cause(follower, row)}."
        )
    elif lift[:, 2].min() <= 0:
        low = int(np.argmin(lift[:, 2]))
        yield (
            f"{follower.name} falls with {figure(GRAVITY - lift[low, 2])} m/s^2 {follower.at(low)}, faster "
            "than anything falls by itself, and rotors cannot push down: give it more time (s)."
        )


def linked_thrust(follower: Follower, parts: LinkParts) -> Iterator[str]:
    """A tilt, and the turning to it, for which a rotor has not enough thrust."""
    rotors = rotors_of(parts)
    with np.errstate(all="ignore"):
        thrusts = rotor_thrusts(rotors, parts.mass, follower.motion)
    used, hover = thrusts / rotors.most, hover_thrusts(rotors, parts.mass) / rotors.most
    if not np.all(np.isfinite(used)) or used.max() <= 1:
        return
    row, rotor = (int(each) for each in np.unravel_index(np.argmax(used), used.shape))
    across, up = np.hypot(*follower.lift[row, :2]), follower.lift[row, 2]
    tilt = figure(float(np.degrees(np.arctan2(across, up))))
    yield (
        f"{follower.name} asks the rig to tilt by {tilt} degrees {follower.at(row)}, for which a rotor of "
        f"vehicle {rotors.vehicle[rotor]} needs {figure(thrusts[row, rotor])} N but gives "
        f"{figure(rotors.most[rotor])} N at most: {HEAVY if hover.max() > 1 else _cause(follower, row)}."
    )


def linked_yaw(follower: Follower, parts: LinkParts) -> Iterator[str]:
    """A turn about z that is quicker than rotors can make it, which they do by their drag alone."""
    most, bend = yaw_acceleration(rotors_of(parts), parts), np.abs(follower.motion.euler[:, 2, 2])
    row = int(np.argmax(bend))
    if bend[row] > most:
        yield (
            f"{follower.name} asks for {figure(bend[row])} rad/s^2 of yaw {follower.at(row)}, but the drag "
            f"of the rotors turns this rig by {figure(most)} rad/s^2 at most: turn it less (rad) or in a "
            "longer time (s)."
        )


def _cause(follower: Follower, row: int) -> str:
    """Why a reference asks for so much."""
    size = float(np.linalg.norm(follower.motion.position[row, 2]))
    if any(table.rest and any(table.speeds) for table in tables(follower.reference)):
        return f"it accelerates by {figure(size)} m/s^2, as 'ends: rest' with samples that move makes it"
    if any(table.misfit == 0 for table in tables(follower.reference)):
        return f"it accelerates by {figure(size)} m/s^2, as a noisy table makes it: 'smooth' may help (s)"
    return f"it accelerates by {figure(size)} m/s^2, being too large (m) or too quick (s)"


def load_shares(parts: CableParts) -> Numbers:
    """What each vehicle carries of a level payload (kg): the shares of least squares that balance it."""
    x, y, _ = parts.points.T
    balance = np.stack([np.ones(parts.count), x, y])
    shares = np.linalg.lstsq(balance, np.array([parts.payload.mass, 0.0, 0.0]), rcond=None)[0]
    return np.maximum(shares, 0.0)


def _speed(follower: Follower, airframes: tuple[Airframe, ...]) -> Iterator[str]:
    speeds = np.linalg.norm(follower.motion.position[:, 1], axis=1)
    row = int(np.argmax(speeds))
    slowest = min(airframes, key=_top_speed)
    if speeds[row] > _top_speed(slowest):
        yield (
            f"{follower.name} moves at {figure(speeds[row])} m/s {follower.at(row)}, more than the "
            f"{figure(_top_speed(slowest))} m/s that a {slowest.name}'s propellers allow ({ADVANCE:g} of the "
            "speed of their tips): is it too large (m) or too quick (s)?"
        )


def _top_speed(frame: Airframe) -> float:
    """Speed at which rotors lose their lift on the side that goes backwards (m/s)."""
    return ADVANCE * frame.speed_max * (frame.rotor_radius or frame.arm / 2)


def _steepest(follower: Follower) -> tuple[int, float]:
    """When the payload is tilted most, and by how much (rad)."""
    roll, pitch = follower.motion.euler[:, 0, 0], follower.motion.euler[:, 0, 1]
    tilts = np.arccos(np.clip(np.cos(roll) * np.cos(pitch), -1, 1))
    row = int(np.argmax(tilts))
    return row, float(tilts[row])


def tilted_in_vain(follower: Follower) -> Iterator[str]:
    """Tilts of a payload on rigid links, which nobody makes."""
    row, tilt = _steepest(follower)
    if tilt > LEAST_TILT:
        yield (
            f"{follower.name} tilts the payload by {figure(np.degrees(tilt))} degrees {follower.at(row)}, "
            "which is ignored: a rig on rigid links tilts as its acceleration needs."
        )


def steep(follower: Follower) -> Iterator[str]:
    """Tilts that cables cannot well hold."""
    row, tilt = _steepest(follower)
    if tilt > MOST_TILT:
        yield (
            f"{follower.name} tilts the payload by {figure(np.degrees(tilt))} degrees {follower.at(row)}, "
            "more than cables can well hold: were degrees typed for radians?"
        )


def too_fast(follower: Follower) -> Iterator[str]:
    """A payload that is turned faster than people mean."""
    rates = np.linalg.norm(follower.motion.rate[:, 0], axis=1)
    fast = int(np.argmax(rates))
    if rates[fast] > MOST_RATE:
        yield (
            f"{follower.name} turns the payload at {figure(rates[fast])} rad/s {follower.at(fast)}: were "
            "degrees typed for radians?"
        )


def _ends(follower: Follower, hovering: bool) -> Iterator[str]:
    """References that do not begin as the rig does, or not as their samples do."""
    for table in tables(follower.reference):
        for verb, speed in zip(("begin", "end"), table.speeds, strict=True):
            if table.rest and speed > 0:
                yield (
                    f"{follower.name} has a table with 'ends: rest' whose samples {verb} at {figure(speed)} "
                    f"m/s, which it has to reach or lose within a sample: let them {verb} at rest, or say "
                    "'ends: free'."
                )
    speed = float(np.linalg.norm(follower.motion.position[0, 1]))
    if hovering and speed > MOVING:
        yield (
            f"{follower.name} begins at {figure(speed)} m/s, but the rig hovers then and has to catch up: "
            "let it begin at rest."
        )


def tables(reference: Reference) -> Iterator[Table]:
    """The tables in a reference, inside others too."""
    if isinstance(reference, Table):
        yield reference
    for each in fields(reference):  # pyright: ignore[reportArgumentType] - every reference is a dataclass
        inner = getattr(reference, each.name)
        for part in inner if isinstance(inner, tuple) else (inner,):
            if isinstance(part, Reference):
                yield from tables(part)
