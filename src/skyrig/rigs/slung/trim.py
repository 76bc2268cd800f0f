"""The hover of a slung rig."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skyrig.errors import InputError
from skyrig.rigs.equilibrium import Trim, checked_pose
from skyrig.turns import cross, multiply, tilted, turn

LEVEL = np.array([1.0, 0.0, 0.0, 0.0])


class Hanging(NamedTuple):
    """A payload at rest on cables that only pull."""

    place: np.ndarray
    """(3,) of its centre of mass (m)."""
    attitude: np.ndarray
    """(4,) as near as can be to the one asked for."""
    points: np.ndarray
    """(n, 3) of the attachments from the centre of mass, world frame (m)."""
    up: np.ndarray
    """(n, 3) unit vectors along the cables, away from the payload."""
    tension: np.ndarray
    """(n,) N."""
    exact: bool
    """Whether the attitude is the one asked for."""
    note: str
    """One sentence on what was found."""


def hang(rig: Any, position: Any, attitude: Any, lean: float | None) -> Hanging:
    """The payload of a rig of cables at a pose, and what holds it there."""
    place, pose = checked_pose(position, attitude)
    points = np.asarray(rig.attachment).T
    load = float(rig.payload_mass) * float(rig.gravity)
    crowded = len(points) > 1 and np.abs(points - points[0]).max() < 1e-9
    slope = (0.35 if crowded else 0.0) if lean is None else float(lean)
    if not 0 <= slope < 1.4:
        raise InputError(f"lean must be at least 0 and below 1.4 rad, not {slope:g}.")
    places = turn(pose, points)
    up = _cable_directions(places, slope)
    tension, miss = _pulls(places, up, load)
    if miss < 1e-9 * max(load, 1e-12):
        return Hanging(place, pose, places, up, tension, True, "The payload hovers at the pose asked for.")
    least = _nearest_turn(places)
    pose = multiply(least, pose)
    places = turn(pose, points)
    up = _cable_directions(places, 0.0)
    tension, miss = _pulls(places, up, load)
    angle = np.degrees(2 * np.arctan2(np.linalg.norm(least[1:]), abs(least[0])))
    if miss > 1e-9 * max(load, 1e-12):
        raise InputError(
            "position and attitude have no equilibrium nearby: the cables cannot hold the payload."
        )
    note = f"Cables cannot hold the attitude asked for; the payload hangs {angle:.3g} degrees from it."
    return Hanging(place, pose, places, up, tension, False, note)


def trim(rig: Any, position: Any, attitude: Any, lean: float | None) -> Trim:
    """The hover on cables that lean outwards by `lean` (rad); see `skyrig.trim`."""
    held = hang(rig, position, attitude, lean)
    up, tension = held.up, held.tension
    weights = np.asarray(rig.mass) * float(rig.gravity)
    thrusts = weights[:, None] * [0.0, 0.0, 1.0] + tension[:, None] * up
    thrust = np.linalg.norm(thrusts, axis=1)
    attitudes = tilted(LEVEL, thrusts)
    hooks = np.zeros((rig.count, 3)) if rig.hook is None else np.asarray(rig.hook).T
    ends = held.place + held.points
    vehicles = ends + np.asarray(rig.length)[:, None] * up - turn(attitudes, hooks)
    # the cable pulls its vehicle along -up at the hook; the rotors hold against the turning this makes
    pulls = turn(attitudes * [1.0, -1.0, -1.0, -1.0], -tension[:, None] * up)
    moment = -cross(hooks, pulls)
    state = rig.state(held.place, vehicles, payload_attitude=held.attitude, vehicle_attitude=attitudes)
    return Trim(state, thrust, moment, held.exact, held.note, {"cable.tension": tension})


def _cable_directions(points: np.ndarray, lean: float) -> np.ndarray:
    """Unit vectors from attachment to vehicle, leaning outwards from the payload's middle."""
    flat = points[:, :2] - points[:, :2].mean(axis=0)
    size = np.linalg.norm(flat, axis=1)
    turn = 2 * np.pi * np.arange(len(points)) / len(points)
    around = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    outward = np.where(size[:, None] > 1e-9, flat / np.maximum(size, 1e-9)[:, None], around)
    if len(points) == 1:
        outward = np.zeros((1, 2))
        lean = 0.0
    return np.concatenate([np.sin(lean) * outward, np.full((len(points), 1), np.cos(lean))], axis=1)


def _pulls(points: np.ndarray, up: np.ndarray, load: float) -> tuple[np.ndarray, float]:
    """Tensions (least effort, none below zero) that carry `load` without turning it, and what misses (N)."""
    scale = max(np.linalg.norm(points, axis=1).max(), 1e-3)
    balance = np.concatenate([up, cross(points, up) / scale], axis=1).T
    wanted = np.array([0, 0, load, 0, 0, 0.0])
    tension = np.linalg.lstsq(balance, wanted, rcond=1e-12)[0]
    if tension.min() < -1e-12 * load:
        from scipy.optimize import nnls  # takes a while to import, and few rigs ask for it

        # a slight price on effort picks one of many answers; the active cables are then solved exactly
        heavy = np.concatenate([1e5 * balance, np.eye(len(points))])
        rough, _ = nnls(heavy, np.concatenate([1e5 * wanted, np.zeros(len(points))]))
        active = rough > 1e-7 * load
        tension = np.zeros(len(points))
        if active.any():
            tension[active] = np.linalg.lstsq(balance[:, active], wanted, rcond=1e-12)[0]
    tension = np.where(np.abs(tension) < 1e-13 * load, 0.0, tension)
    miss = float(np.abs(balance @ tension - wanted).max()) if tension.min() >= 0 else np.inf
    return np.maximum(tension, 0.0), miss


def _nearest_turn(points: np.ndarray) -> np.ndarray:
    """Quaternion of the least turn that puts the payload's weight under the cables.

    Vertical cables balance when some mixture of the attachments lies straight above the centre of mass, so
    the vertical is projected onto the cone of the attachments.
    """
    from scipy.optimize import nnls  # as above

    vertical = np.array([0.0, 0.0, 1.0])
    share, _ = nnls(points.T, vertical)
    above = points.T @ share
    if np.linalg.norm(above) < 1e-9:
        lengths = np.linalg.norm(points, axis=1)
        above = points[np.argmax(points[:, 2] / np.maximum(lengths, 1e-9))]
    above = above / np.linalg.norm(above)
    least = np.append(1 + above[2], np.cross(above, vertical))
    size = np.linalg.norm(least)
    return least / size if size > 1e-9 else np.array([0.0, 1.0, 0.0, 0.0])
