"""A sequence of poses of the payload, flown by vehicles that each follow a way of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skyrig import checks
from skyrig.checks import Numbers
from skyrig.errors import InputError
from skyrig.planning import smoothstep
from skyrig.planning.registry import TeamMotion
from skyrig.planning.table import Table, from_samples
from skyrig.turns import euler_angles

SMOOTH = 4
"""Derivatives that vanish where the team rests."""
SPACING = 0.1
"""Time between the samples that splines go through (s)."""


def poses(
    parts: Any,
    *,
    poses: Sequence[Mapping[str, Any]],
    hold: float = 2.0,
    speed: float = 0.5,
    acceleration: float = 0.3,
    criterion: str = "effort",
    tension_max: float | None = None,
    separation: float | None = None,
    obstacles: Sequence[Sequence[float]] = (),
    seed: int = 0,
) -> TeamMotion:
    """Take the payload through poses, from rest to rest, by where its vehicles are.

    Every configuration on the way holds the payload in a stable equilibrium, cables taut and vehicles
    apart. Nobody looks at the payload while it flies: choose a controller that follows vehicles' references.

    Args:
        parts: The rig's parts.
        poses: Each a mapping with a `position` (m) and perhaps an `attitude` (roll, pitch, yaw, or a yaw
            alone; rad).
        hold: How long to rest at each pose (s).
        speed: Most speed of a vehicle (m/s).
        acceleration: Most acceleration of a vehicle (m/s^2).
        criterion: How to choose among configurations: effort, equal, margin or stiffness.
        tension_max: Most tension of a cable (N), besides what thrust allows.
        separation: Least distance between vehicles' centres (m); the sum of their radii if left out.
        obstacles: Balls to stay clear of: x, y, z and radius of each (m).
        seed: Of the search for a way.
    """
    from skyrig.statics.inverse import Limits
    from skyrig.statics.path import plan
    from skyrig.statics.team import Team

    hold = float(checks.nonnegative("hold", hold))
    speed = float(checks.positive("speed", speed))
    acceleration = float(checks.positive("acceleration", acceleration))
    balls = checks.numbers("obstacles", obstacles, (None, 4)).tolist() if len(obstacles) else []
    if not isinstance(poses, Sequence) or isinstance(poses, str) or not poses:
        raise InputError("poses must list at least one pose, such as {position: [0, 0, 1]}.")
    wanted = [_pose(pose, f"poses[{k}]") for k, pose in enumerate(poses)]
    limits = Limits(tension_max=tension_max, separation=separation)
    way = plan(Team.of_parts(parts), wanted, criterion, limits, balls, int(seed))
    times, places = _timed(way, hold, speed, acceleration)
    held = [way.configuration(place) for place in places]
    craft = np.stack([it.vehicles for it in held])
    level = np.zeros_like(craft[:, 0])
    first = held[0]
    load = np.stack([it.pose.position for it in held])
    angles = np.unwrap(euler_angles(np.stack([it.pose.attitude for it in held])), axis=0)
    return TeamMotion(
        tuple(_spline(times, craft[:, k], level) for k in range(craft.shape[1])),
        _spline(times, load, angles),
        {
            "payload": (first.pose.position[None], first.pose.attitude[None]),
            "vehicles": (first.vehicles, first.vehicle_attitude),
        },
    )


def _pose(given: object, field: str) -> Any:
    from skyrig.statics.team import Pose

    said = checks.mapping(field, given, ("position",), ("attitude",))
    turned = np.asarray(said.get("attitude", 0.0), dtype=float)
    if turned.shape not in ((), (3,)):
        raise InputError(f"{field}.attitude must be roll, pitch and yaw, or a yaw alone (rad).")
    angles = turned if turned.ndim else np.array([0.0, 0.0, float(turned)])
    roll, pitch, yaw = (float(angle) for angle in angles)
    return Pose.turned(roll, pitch, yaw, checks.numbers(f"{field}.position", said["position"], (3,)))


def _timed(way: Any, hold: float, speed: float, acceleration: float) -> tuple[Numbers, Numbers]:
    """Times (s), and places on the way: rests at poses, and one smooth step from each to the next."""
    times, places = [np.array([0.0])], [np.array([0.0])]
    for k, stop in enumerate(way.rests):
        if k:
            spent, on = _leg(way, way.rests[k - 1], stop, speed, acceleration)
            times.append(times[-1][-1] + spent)
            places.append(on)
        if hold > 0:
            s = np.linspace(0.0, 1.0, max(int(np.ceil(hold / SPACING)), 2) + 1)[1:]
            times.append(times[-1][-1] + hold * s)
            places.append(np.full(len(s), float(stop)))
    return np.concatenate(times), np.concatenate(places)


def _leg(way: Any, first: int, last: int, speed: float, acceleration: float) -> tuple[Numbers, Numbers]:
    """Times from leaving a stop (s), and places on the way from it to another, by how far vehicles go."""
    shape = smoothstep.step(SMOOTH, np.linspace(0.0, 1.0, 201), np.array(1.0))
    fast, hard = float(shape[1].max()), float(2 * np.abs(shape[2]).max())
    stops = np.arange(first, last + 1)
    far = np.zeros(len(stops))
    for j, k in enumerate(stops[:-1]):
        looks = np.stack([way.configuration(k + s).vehicles for s in np.linspace(0, 1, 21)])
        far[j + 1] = far[j] + float(np.linalg.norm(np.diff(looks, axis=0), axis=-1).sum(axis=0).max())
    whole = max(float(far[-1]), 1e-12)
    lasts = max(fast * whole / speed, float(np.sqrt(hard * whole / acceleration)), 8 * SPACING)
    spent, places = _stepped(lasts, far / whole, stops)
    if len(stops) > 2:  # in bends vehicles speed up sideways too
        craft = np.stack([way.configuration(place).vehicles for place in places])
        sideways = np.linalg.norm(craft[4:] - 2 * craft[2:-2] + craft[:-4], axis=-1) / (2 * spent[0]) ** 2
        slower = np.sqrt(max(float(sideways.max(initial=0.0)) / acceleration, 1.0))
        spent, places = _stepped(lasts * slower, far / whole, stops)
    return spent, places


def _stepped(lasts: float, shares: Numbers, stops: Any) -> tuple[Numbers, Numbers]:
    """A smooth step that lasts so long (s) over stops at shares of the way."""
    s = np.linspace(0.0, 1.0, int(np.ceil(lasts / SPACING)) + 1)[1:]
    return lasts * s, np.interp(smoothstep.step(SMOOTH, s, np.array(1.0))[0], shares, stops)


def _spline(times: Numbers, places: Numbers, angles: Numbers) -> Table:
    if len(times) < 2:
        raise InputError("hold must be above zero with a single pose.")
    return from_samples(times, np.concatenate([places, angles], axis=1), ends="rest")
