"""From everything standing on the floor to everything standing again: take-off, carry, land.

The load's way is an ordinary reference: it stands, rises, is carried, sinks and stands. What vehicles do
beside it, while cables are slack, is a timetable (`LiftPlan`) for a controller that can hand weight over.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from skyrig import checks
from skyrig.checks import Numbers
from skyrig.errors import InputError
from skyrig.planning import smoothstep
from skyrig.planning.reference import Sample
from skyrig.planning.registry import TeamMotion
from skyrig.planning.sequence import sequence
from skyrig.turns import turn

IDLE = 0.5
"""Rotors idle for so long before they lift and after they landed (s)."""
SLOWEST = 1.5
"""Shortest leg of a vehicle (s)."""
CLOSING = 4.0
"""Time in which cables come taut (s)."""
TAKING = 1.5
"""Time in which they then take the weight (s)."""
SETTLING = 0.5
"""Time to come to rest after that (s)."""
APPROACH, DEPTH = 0.08, 0.14
"""Height above the floor from which the load creeps, and depth below it down to which it would (m)."""
CREEP, TOUCH = 0.025, 0.08
"""Highest speeds at which the load and the vehicles meet the floor (m/s)."""
RAMP = 2.0
"""Time in which the load takes up that speed, and leaves it (s)."""
RELEASE = 2.5
"""Time in which cables let go, once the load must have touched (s)."""
ABOVE, BELOW = 0.08, 0.16
"""Heights above and below the floor between which vehicles look for it (m)."""
CLEAR = 0.05
"""Least gap between what stands on the floor, and by which slack cables are slack (m)."""


@dataclass(frozen=True)
class LiftPlan:
    """When what happens, and where vehicles stand; times in s from the flight's start."""

    rise: Numbers
    """When rotors stop idling and vehicles climb from beside the load."""
    gather: Numbers
    """When they move to where their cables are nearly taut."""
    close: Numbers
    """When cables come taut."""
    take: Numbers
    """When they begin to take the weight."""
    taut: Numbers
    """When they have it."""
    lift: Numbers
    """When the load leaves the floor."""
    creep: Numbers
    """When it begins to look for the floor."""
    down: Numbers
    """When it must have found it."""
    part: Numbers
    """When vehicles fly aside."""
    land: Numbers
    """When they sink towards the floor."""
    touch: Numbers
    """When they begin to look for it."""
    landed: Numbers
    """When they must have found it."""
    facing: Numbers
    """One if vehicles yaw with the load, else zero."""
    stand: Numbers
    """(n, 3) where vehicles stand, from the standing load's centre of mass, in its frame (m)."""
    begin: Numbers
    """(7,) position (m) and attitude of the load where it stands first."""
    end: Numbers
    """(7,) where it stands last, as far as is known."""

    @property
    def numbers(self) -> dict[str, Numbers]:
        """All of it by name."""
        return {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}


def lift(
    parts: Any,
    *,
    carry: object = None,
    height: object = 1.0,
    start: object = (0.0, 0.0),
    yaw: object = 0.0,
    floor: object = 0.0,
    landing_floor: object = None,
    speed: object = 0.4,
    facing: object = False,
) -> TeamMotion:
    """Take off with slack cables, carry the load, set it down and land beside it.

    Vehicles stand beside the load. They climb, draw their cables taut slowly, lift, carry, sink until the
    load meets the floor, let go and land where they stood around it.

    Args:
        parts: The rig's parts: a payload on cables.
        carry: The load's way from above where it stood, a reference or its description; it must end at rest.
            Two seconds of hovering if left out.
        height: z of the load's centre of mass when it is up (m).
        start: x and y of the load on the floor (m).
        yaw: Of the load on the floor (rad).
        floor: z of the floor (m); that of `world.ground` if left out.
        landing_floor: z of the floor where the load is set down, as far as is known (m); the same if left
            out. A few centimetres more or less are found by feeling.
        speed: Highest speed of vehicles beside the load, of its rise and of its fall (m/s).
        facing: Whether vehicles yaw with the load.
    """
    load, cables = parts.payload, getattr(parts, "cables", ())
    if load is None or not cables:
        raise InputError("type must be another than lift: this rig has no load on cables.")
    speed = float(checks.positive("speed", speed))
    height, yaw = float(checks.numbers("height", height)), float(checks.numbers("yaw", yaw))
    if not isinstance(facing, bool):
        raise InputError(f"facing must be true or false, not {facing!r}.")
    x, y = checks.numbers("start", start, (2,))
    low = float(checks.numbers("floor", floor))
    end_low = low if landing_floor is None else float(checks.numbers("landing_floor", landing_floor))
    foot = _standing_height(load)
    if not height > low + foot + 2 * APPROACH:
        least = low + foot + 2 * APPROACH
        raise InputError(f"height must be above {least:.4g} m, where the load can leave the floor.")
    stand = _places(parts, foot)
    legs = _legs(parts, stand, speed)
    first = np.array([x, y, low + foot])
    up = {"type": "takeoff", "height": height, "speed": speed}
    way = {"type": "hover", "duration": 2.0} if carry is None else carry
    waits = IDLE + legs[0] + legs[1] + CLOSING + TAKING + SETTLING
    creeping = (APPROACH + DEPTH) / CREEP + RAMP
    leaves = RELEASE + legs[1] + legs[0] + legs[2] + IDLE
    bottom = end_low + foot
    whole = sequence(
        parts=[
            {"type": "hover", "start": first, "attitude": yaw, "duration": waits},
            up,
            way,
            {"type": "land", "height": bottom + APPROACH, "speed": speed},
            {"type": "land", "height": bottom, "duration": creeping, "ramp": RAMP},
            {"type": "hover", "duration": leaves},
        ]
    )
    times = [float(it) for it in whole.starts]
    rise, gather = IDLE, IDLE + legs[0]
    close = gather + legs[1]
    creep, down = times[4], times[5]
    part, land = down + RELEASE, down + RELEASE + legs[1]
    touch = land + legs[0]
    take = close + CLOSING
    moments = {"rise": rise, "gather": gather, "close": close, "take": take, "taut": take + TAKING}
    moments |= {"lift": waits, "creep": creep, "down": down, "part": part, "land": land, "touch": touch}
    moments |= {"landed": touch + legs[2], "facing": float(facing)}
    plan = LiftPlan(
        **{name: np.asarray(value) for name, value in moments.items()},
        stand=stand,
        begin=_pose(whole.start),
        end=_pose(whole.end),
    )
    return TeamMotion(None, whole, _begin(plan), plan=plan)


def _begin(plan: LiftPlan) -> dict[str, tuple[Numbers, Numbers]]:
    """Everything standing."""
    place, attitude = plan.begin[:3], plan.begin[3:]
    level = np.tile(attitude if plan.facing else [1.0, 0.0, 0.0, 0.0], (len(plan.stand), 1))
    return {
        "payload": (place[None], attitude[None]),
        "vehicles": (place + turn(attitude, plan.stand), level),
    }


def _pose(sample: Sample) -> Numbers:
    return np.concatenate([sample.position[0], sample.attitude])


def _standing_height(load: Any) -> float:
    """Of a payload's centre of mass above the floor it stands on (m)."""
    if load.is_point:
        return float(getattr(load.shape, "radius", 0.0))
    return -float(np.asarray(load.shape.corners)[:, 2].min())


def _places(parts: Any, foot: float) -> Numbers:
    """(n, 3) where vehicles stand, from the load's centre of mass: outwards of their attachments (m)."""
    points, radii = np.asarray(parts.points), np.array([it.radius for it in parts.airframes])
    corners = np.zeros((1, 3)) if parts.payload.is_point else np.asarray(parts.payload.shape.corners)
    wide = float(getattr(parts.payload.shape, "radius", 0.0)) if parts.payload.is_point else 0.0
    flat = points[:, :2] - points[:, :2].mean(axis=0)
    far = np.linalg.norm(flat, axis=1)
    around = 2 * np.pi * np.arange(len(points)) / len(points)
    circle = np.stack([np.cos(around), np.sin(around)], axis=1)
    outward = np.where(far[:, None] > 1e-9, flat / np.maximum(far, 1e-9)[:, None], circle)
    feet = np.array([(it.height or 0.05) / 2 for it in parts.airframes])
    places = np.empty((len(points), 3))
    for k, (point, out) in enumerate(zip(points, outward, strict=True)):
        edge = float((corners[:, :2] @ out).max()) + wide - float(point[:2] @ out)
        hooks = np.asarray(parts.cables[k].hook or (0.0, 0.0, 0.0))
        drop = point[2] - (feet[k] - foot + hooks[2])
        reach = float(parts.lengths[k]) - CLEAR
        least = edge + radii[k] + CLEAR
        most = np.sqrt(max(reach**2 - drop**2, 0.0))
        if most < least:
            need = float(np.hypot(least, drop) + CLEAR)
            raise InputError(
                f"type lift needs a cable {k} of {need:.3g} m at least: "
                f"with {parts.lengths[k]:g} m its vehicle cannot stand beside the load."
            )
        places[k, :2] = point[:2] + min(least + 2 * CLEAR, (least + most) / 2) * out
        places[k, 2] = feet[k] - foot
    for j in range(len(places)):
        for k in range(j):
            if np.linalg.norm(places[j] - places[k]) < radii[j] + radii[k] + CLEAR:
                raise InputError(f"type lift finds no room for vehicles {k} and {j} to stand side by side.")
    return places


def _legs(parts: Any, stand: Numbers, speed: float) -> tuple[float, float, float]:
    """How long vehicles need to climb (or sink), to gather above the load, and to find the floor (s)."""
    fast = smoothstep.peak_rate(4)
    tall = float(np.max(parts.lengths)) + 0.5
    aside = float(np.linalg.norm(stand[:, :2] - np.asarray(parts.points)[:, :2], axis=1).max()) + 0.2
    climb, gather = (max(SLOWEST, fast * it / speed) for it in (tall, aside))
    return climb, gather, fast * (ABOVE + BELOW) / TOUCH
