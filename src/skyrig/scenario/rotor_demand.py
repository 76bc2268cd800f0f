"""The thrust that each rotor of a rigidly linked rig needs to follow a reference, in plain NumPy.

A linked rig leans its z axis along a + g e3. How that direction turns (by the reference's third and fourth
derivatives) gives angular rates and accelerations, these a moment, and thrust and moment are shared among the
rotors as the controller shares them: so that the sum of f^2/f_max is least. Yaw moments are left out of that,
since the controller lets them go first; how large they can be in hover is looked at by itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skyrig.checks import Numbers
from skyrig.constants import GRAVITY
from skyrig.planning import Sample
from skyrig.scenario.mechanisms.links import LinkParts


class Rotors(NamedTuple):
    """All rotors of a linked rig, and the body they turn."""

    effect: Numbers
    """(4, r) thrust and moment about the common centre of mass of a newton from each (1, m)."""
    most: Numbers
    """(r,) thrust of each at most (N)."""
    vehicle: np.ndarray
    """(r,) whose it is."""
    inertia: Numbers
    """(3, 3) of the whole rig about its centre of mass (kg m^2)."""


def rotors_of(parts: LinkParts) -> Rotors:
    """The rotors of a linked rig."""
    masses = np.array([frame.mass for frame in parts.airframes])
    centre = masses @ parts.points / parts.mass
    inertia = np.zeros((3, 3)) if parts.payload.inertia is None else parts.payload.inertia.copy()
    inertia += _apart(parts.payload.mass, -centre)
    effects: list[Numbers] = []
    for frame, place, yaw in zip(parts.airframes, parts.points - centre, parts.yaw, strict=True):
        cos, sin = np.cos(yaw), np.sin(yaw)
        turn = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
        inertia += turn @ frame.inertia @ turn.T + _apart(frame.mass, place)
        moments = turn @ frame.mixing[1:] + np.cross(place, [0.0, 0.0, 1.0])[:, None]
        effects.append(np.concatenate([np.ones((1, frame.rotor_count)), moments]))
    counts = [frame.rotor_count for frame in parts.airframes]
    most = np.repeat([frame.thrust_max for frame in parts.airframes], counts)
    return Rotors(np.concatenate(effects, axis=1), most, np.repeat(np.arange(parts.count), counts), inertia)


def rotor_thrusts(rotors: Rotors, mass: float, motion: Sample) -> Numbers:
    """(T, r) thrust of each rotor (N) on the way of `motion`, for a rig of `mass` (kg)."""
    lift = motion.position[:, 2] + [0.0, 0.0, GRAVITY]
    size = np.linalg.norm(lift, axis=1)
    moment = _moments(rotors.inertia, lift, motion)
    wrench = np.concatenate([(mass * size)[:, None], moment[:, :2], np.zeros((len(size), 1))], axis=1)
    return _shared(rotors, wrench)


def hover_thrusts(rotors: Rotors, mass: float) -> Numbers:
    """(r,) thrust of each rotor (N) in hover, for a rig of `mass` (kg)."""
    return _shared(rotors, np.array([mass * GRAVITY, 0.0, 0.0, 0.0]))


def yaw_acceleration(rotors: Rotors, parts: LinkParts) -> float:
    """How quickly the rotors can turn the rig about z in hover, in which they go on holding it (rad/s^2)."""
    hover = hover_thrusts(rotors, parts.mass)
    each = _shared(rotors, np.array([0.0, 0.0, 0.0, 1.0]))  # thrust for a newton metre
    least = np.repeat(
        [frame.thrust_min for frame in parts.airframes], [it.rotor_count for it in parts.airframes]
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(each > 0, (rotors.most - hover) / each, (least - hover) / each)
    return max(float(np.nanmin(room)), 0.0) / float(rotors.inertia[2, 2])


def _shared(rotors: Rotors, wrench: Numbers) -> Numbers:
    """Thrust of each rotor (N), last, for thrust (N) and moments (N m)."""
    able = rotors.effect * rotors.most
    return wrench @ np.linalg.solve(able @ rotors.effect.T, able)


def _moments(inertia: Numbers, lift: Numbers, motion: Sample) -> Numbers:
    """(T, 3) moment in the rig's frame (N m) that turns its z axis along with `lift` (m/s^2)."""
    jerk, snap = motion.position[:, 3], motion.position[:, 4]
    size = np.maximum(np.linalg.norm(lift, axis=1, keepdims=True), 1e-9)
    up = lift / size
    growth = _dot(up, jerk)
    swing = (jerk - up * growth) / size  # the first derivative of up, and below the second
    bend = (snap - 2 * swing * growth - up * (_dot(swing, jerk) + _dot(up, snap))) / size
    yaw = motion.euler[:, 0, 2]
    left = np.cross(up, np.stack([np.cos(yaw), np.sin(yaw), 0 * yaw], axis=1))
    left /= np.maximum(np.linalg.norm(left, axis=1, keepdims=True), 1e-9)
    axes = np.stack([np.cross(left, up), left, up], axis=1)
    rate, turning = (np.einsum("tij,tj->ti", axes, np.cross(up, each)) for each in (swing, bend))
    return turning @ inertia + np.cross(rate, rate @ inertia)


def _dot(a: Numbers, b: Numbers) -> Numbers:
    return (a * b).sum(axis=1, keepdims=True)


def _apart(mass: float, place: Numbers) -> Numbers:
    """What a mass at `place` adds to the inertia about the origin (kg m^2)."""
    return mass * (place @ place * np.eye(3) - np.outer(place, place))
