"""What a reference asks of the team that follows it, next to what the team has: thrust, tilt, speed, room.

The rig is taken as one mass that follows the reference exactly: m |a + g e3| of thrust, at an angle to the
vertical whose tangent is the sideways acceleration over what is left of gravity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from skyrig.checks import Numbers
from skyrig.constants import GRAVITY
from skyrig.planning import Reference, Sample, Table
from skyrig.scenario.controllers import OPEN_LOOP
from skyrig.scenario.parts import RigParts
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
HEAVY = "even hovering takes more, so the load is too heavy for where its cables hold it"
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

    def at(self, row: int) -> str:
        """When, in words."""
        return f"at {figure(self.times[row])} s"


def demands(scenario: Scenario) -> Iterator[str]:
    """Sentences on what each reference asks for."""
    followers = tuple(_followers(scenario))
    for follower in followers:
        yield from _ground(follower)
    place = scenario.spec.start.payload
    bottom = float(scenario.parts.payload.shape.corners[:, 2].min())
    if place is not None and place.position is not None and place.position[2] + bottom < 0:
        yield f"The payload starts at z = {figure(place.position[2])} m, in the ground: z points up (m)."
    if scenario.controller.name in (OPEN_LOOP, "attitude"):
        return  # nobody follows these positions
    for k, follower in enumerate(followers):
        alone = scenario.motions.vehicles is not None
        yield from _thrust(follower, scenario.parts, k if alone else None)
        yield from _speed(follower, scenario.parts.airframes)
        if not alone and not scenario.parts.payload.is_point:
            yield from _turns(follower, scenario.parts.mechanism)
        yield from _ends(follower, scenario.spec.start.payload is None)


def _followers(scenario: Scenario) -> Iterator[Follower]:
    alone = scenario.motions.vehicles is not None
    for k, reference in enumerate(scenario.motions.all):
        times = instants(reference, scenario.duration)
        with np.errstate(all="ignore"):
            motion = reference.sample(times)
        if all(np.all(np.isfinite(leaf)) for leaf in motion):
            name = f"The reference of vehicle {k}" if alone else "The reference"
            bottom = 0.0 if alone else -float(scenario.parts.payload.shape.corners[:, 2].min())
            yield Follower(name, reference, times, motion, bottom)


def instants(reference: Reference, duration: float) -> Numbers:
    """Times at which to look (s): evenly spread over the flight, and where pieces of the reference meet."""
    even = np.linspace(0.0, duration, int(np.clip(20 * duration, 200, 2000)))
    knots = np.asarray(reference.knots, dtype=np.float64)
    return np.unique(np.concatenate([even, knots[(knots >= 0) & (knots <= duration)][:5000]]))


def _ground(follower: Follower) -> Iterator[str]:
    heights = follower.motion.position[:, 0, 2]
    row = int(np.argmin(heights))
    if heights[row] < 0:
        yield (
            f"{follower.name} goes down to z = {figure(heights[row])} m {follower.at(row)}, below the ground "
            "at z = 0: z points up, and a start that is not given is the origin."
        )
    elif heights[row] < follower.bottom - 1e-9:
        yield (
            f"{follower.name} goes down to z = {figure(heights[row])} m {follower.at(row)}, where the "
            f"payload, which reaches {figure(follower.bottom)} m below its origin, is in the ground: a start "
            "that is not given is the origin."
        )


def _thrust(follower: Follower, parts: RigParts, vehicle: int | None) -> Iterator[str]:
    """More thrust than there is, for the team together or for one of it."""
    lift = follower.motion.position[:, 2] + [0.0, 0.0, GRAVITY]
    size = np.linalg.norm(lift, axis=1)
    own = np.array([frame.mass for frame in parts.airframes])
    most = np.array([frame.total_thrust_max for frame in parts.airframes])
    if vehicle is None and size.max() * parts.mass > most.sum():
        row = int(np.argmax(size))
        yield _too_much(follower, row, lift[row], parts.mass, float(most.sum()), parts.mechanism)
        return
    if parts.mechanism == "cables":
        held = own + (parts.payload.mass / parts.count if vehicle is not None else load_shares(parts))
        k = int(np.argmax(held / most)) if vehicle is None else vehicle
        row = int(np.argmax(size))
        if held[k] * size[row] > most[k]:
            yield (
                f"{follower.name} asks vehicle {k} for {held[k] * size[row]:.4g} N {follower.at(row)}, with "
                f"its share of the load, but a {parts.airframes[k].name} gives {most[k]:.4g} N at most: "
                f"{HEAVY if held[k] * GRAVITY > most[k] else _cause(follower, lift[row])}."
            )
            return
    low = int(np.argmin(lift[:, 2]))
    if lift[low, 2] <= 0:
        yield (
            f"{follower.name} falls with {figure(GRAVITY - lift[low, 2])} m/s^2 {follower.at(low)}, faster "
            "than anything falls by itself, and rotors cannot push down: give it more time (s)."
        )


def _too_much(follower: Follower, row: int, lift: Numbers, mass: float, most: float, mechanism: str) -> str:
    need = mass * float(np.linalg.norm(lift))
    tilt = float(np.degrees(np.arctan2(np.hypot(lift[0], lift[1]), lift[2])))
    able = float(np.degrees(np.arccos(min(mass * GRAVITY / most, 1.0))))
    cause = _cause(follower, lift)
    if mechanism == "links" and tilt > able:
        return (
            f"{follower.name} asks the rig to tilt by {figure(tilt)} degrees {follower.at(row)}, but beyond "
            f"{figure(able)} degrees its {most:.4g} N of thrust no longer carry it: {cause}."
        )
    return (
        f"{follower.name} asks for {need:.4g} N of thrust {follower.at(row)}, but the team gives "
        f"{most:.4g} N at most: {cause}."
    )


def _cause(follower: Follower, lift: Numbers) -> str:
    """Why a reference accelerates so much."""
    size = float(np.linalg.norm(lift - [0.0, 0.0, GRAVITY]))
    if any(table.rest and any(table.speeds) for table in tables(follower.reference)):
        return f"it accelerates by {figure(size)} m/s^2, as 'ends: rest' with samples that move makes it"
    if any(table.misfit == 0 for table in tables(follower.reference)):
        return f"it accelerates by {figure(size)} m/s^2, as a noisy table makes it: 'smooth' may help (s)"
    return f"it accelerates by {figure(size)} m/s^2, being too large (m) or too quick (s)"


def load_shares(parts: RigParts) -> Numbers:
    """What each vehicle carries of a level payload (kg): the shares of least squares that balance it."""
    x, y, _ = parts.attachments.T
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


def _turns(follower: Follower, mechanism: str) -> Iterator[str]:
    """Attitudes that the payload cannot have, or need not."""
    roll, pitch = follower.motion.euler[:, 0, 0], follower.motion.euler[:, 0, 1]
    tilts = np.arccos(np.clip(np.cos(roll) * np.cos(pitch), -1, 1))
    row = int(np.argmax(tilts))
    degrees = np.degrees(tilts[row])
    if mechanism == "links" and tilts[row] > LEAST_TILT:
        yield (
            f"{follower.name} tilts the payload by {figure(degrees)} degrees {follower.at(row)}, which is "
            "ignored: a rig on rigid links tilts as its acceleration needs."
        )
    elif tilts[row] > MOST_TILT:
        yield (
            f"{follower.name} tilts the payload by {figure(degrees)} degrees {follower.at(row)}, more than "
            "cables can well hold: were degrees typed for radians?"
        )
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
