"""Arrows that are drawn on request: forces, velocities, and what the mouse pulls with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from skyrig.constants import GRAVITY
from skyrig.flight import meshes
from skyrig.flight.frames import Frames
from skyrig.flight.meshes import Colour
from skyrig.flight.records import TEAM
from skyrig.flight.rig import RigData
from skyrig.studio.hands import Pull
from skyrig.studio.look import Look
from skyrig.turns import turn

Reals = npt.NDArray[np.float64]
Strokes = dict[str, tuple[Reals, Reals]]
"""By name: where they begin, and what they reach over, (k, 3) each (m)."""

COLOURS: Mapping[str, Colour] = {
    "thrust": (220, 50, 47),
    "weight": (110, 110, 120),
    "pulls": (230, 150, 30),
    "push": (150, 60, 180),
    "velocity": (30, 150, 90),
    "pull": (255, 120, 40),
}
HOVER = 0.4
"""How long the arrow of a vehicle's share of all weight is (m)."""
WIND = 0.15
"""Of an arrow, a unit of what blows (m): a wind of 2 m/s is 0.3 m long."""
SPEED = 0.4
"""Of an arrow, a metre a second (m)."""


class Arrows:
    """The arrows of one rig.

    Args:
        rig: What flies.
        hover: A vehicle's share of the weight of what is carried (N).
        add: Makes a scene node for strokes, of that name and usual colour.
    """

    def __init__(self, rig: RigData, hover: float, add: Callable[[str, Colour], Any]) -> None:
        self._rig, self._hover, self._add = rig, hover, add
        self._nodes: dict[str, Any] = {}

    def draw(self, frame: Frames, look: Look, speeds: Mapping[str, Reals], pull: Pull | None) -> None:
        """Vectors at bodies: what blows, forces, velocities, and what the mouse pulls with."""
        shown: Strokes = {}
        if look.arrows:
            shown |= vectors(frame, "m/s", WIND)
        if look.forces:
            shown |= forces(frame, self._rig, self._hover)
        if look.velocities:
            shown |= velocities(frame, speeds)
        if pull is not None:
            start, way = spring(frame, pull)
            shown["pull"] = (start[None], way[None])
        shown = {name: it for name, it in shown.items() if np.isfinite(it[1]).all()}
        for name in {*self._nodes, *shown}:
            if name not in self._nodes:
                self._nodes[name] = self._add(f"arrows/{name}", COLOURS.get(name, (60, 160, 200)))
            node = self._nodes[name]
            if node.visible != (name in shown):
                node.visible = name in shown
            if name in shown:
                node.points = meshes.arrows(*shown[name]).astype(np.float32)


def forces(frame: Frames, rig: RigData, hover: float) -> Strokes:
    """Thrusts, weights at all bodies, what else pushes them, and how tethers pull at what they end at.

    `hover` is a vehicle's share of the weight of what is carried (N): it makes the scale.
    """
    scale = HOVER / (hover + float(np.mean(rig.vehicle_mass)) * GRAVITY)
    team = frame.bodies[TEAM]
    up = turn(team.attitude[0], np.array([0.0, 0.0, 1.0]))
    found = {"thrust": (team.position[0], scale * frame.thrust[0][:, None] * up)}
    places, weights = [], []
    for group, mass in rig.mass.items():
        if group in frame.bodies and len(mass) == frame.bodies[group].position.shape[1]:
            places.append(frame.bodies[group].position[0])
            weights.append(-scale * GRAVITY * mass[:, None] * np.array([0.0, 0.0, 1.0]))
    found["weight"] = (np.concatenate(places), np.concatenate(weights))
    pulls = [it for it in frame.tethers(rig) if it.taut and np.isfinite(it.tension) and it.tension > 0]
    found |= vectors(frame, "N", scale)
    if pulls:
        ends = np.stack([it.end for it in pulls])
        ways = np.stack([it.course[-2] - it.end for it in pulls])
        ways = ways / np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-9)
        found["pulls"] = (ends, scale * np.array([[it.tension] for it in pulls]) * ways)
    return found


def vectors(frame: Frames, unit: str, scale: float) -> Strokes:
    """Signals of a unit that are vectors at all bodies; `scale` is what one of it is drawn as (m)."""
    origins = np.concatenate([it.position[0] for it in frame.bodies.values()])
    told = {name: it for name, it in frame.vectors().items() if frame.units.get(f"{name}.x") == unit}
    return {name: (origins, scale * it[0]) for name, it in told.items()}


def velocities(frame: Frames, speeds: Mapping[str, Reals]) -> Strokes:
    """How fast all bodies go."""
    known = [group for group in frame.bodies if group in speeds]
    if not known:
        return {}
    places = np.concatenate([frame.bodies[group].position[0] for group in known])
    return {"velocity": (places, SPEED * np.concatenate([speeds[group] for group in known]))}


def spring(frame: Frames, pull: Pull) -> tuple[Reals, Reals]:
    """Where a pull holds the body in a frame, and from there to where it pulls (m)."""
    poses = frame.bodies.get(pull.group) or frame.bodies[TEAM]
    at = poses.position[0, pull.index] + turn(poses.attitude[0, pull.index], pull.point)
    return at, pull.goal - at
