"""A scenario's rig as an MJCF model for MuJoCo: free bodies, cables as spatial tendons with an upper limit.

The keyframe `hover` holds the hover that the scenario starts from, and the thrusts and moments that keep it.
Each vehicle has four actuators: thrust along its z axis (N) and three moments in its frame (N m).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from skyrig.bridges.scene import names
from skyrig.constants import GRAVITY
from skyrig.errors import InputError
from skyrig.flight.records import TEAM
from skyrig.flight.rig import RigData, rig_data
from skyrig.flight.storage import write_whole
from skyrig.scenario import Scenario
from skyrig.sensing.sensor import Numbers

STEP = 0.001
"""Of MuJoCo (s)."""
STIFF = {"solref": "0.004 1", "solimp": "0.9999 0.9999 0.001"}
"""How welds hold."""
POINT = 1e-8
"""Inertia of a body that has none (kg m^2): MuJoCo's bodies must have some."""


def write_mjcf(scenario: Scenario, path: Path) -> Path:
    """Write a scenario's rig as an MJCF file."""
    return write_whole(path, model(scenario))


def model(scenario: Scenario) -> str:
    """The MJCF text of a scenario's rig."""
    built = scenario.build()
    if built.hover is None:
        raise InputError(f"{scenario.where}: start must be a hover to be exported as MJCF.")
    rig, named = rig_data(scenario.parts), names(rig_data(scenario.parts))
    bodies = {group: _rows(it) for group, it in built.rig.bodies(built.hover.state).items()}
    root = ElementTree.Element("mujoco", model=scenario.name)
    _add(root, "compiler", angle="radian", autolimits="true")
    option = {"timestep": _text(STEP), "gravity": _text((0, 0, -GRAVITY)), "integrator": "implicitfast"}
    _add(root, "option", **option)
    world = _add(root, "worldbody")
    _add(world, "light", pos="0 0 4")
    places = []
    for group, them in named.items():
        for k, name in enumerate(them):
            position, attitude = bodies[group][0][k], bodies[group][1][k]
            places += [*position, *attitude]
            node = _add(world, "body", name=name, pos=_text(position), quat=_text(attitude))
            _add(node, "freejoint", name=f"{name}-free")
            _shaped(node, rig, group, k)
            _sites(node, rig, group, k)
    _cables(root, rig, scenario)
    if rig.rigid:
        welds = _add(root, "equality")
        for name in named[TEAM]:
            _add(welds, "weld", body1=named[str(rig.carried)][0], body2=name, **STIFF)
    controls = _actuators(root, named[TEAM], built.hover)
    keys = _add(root, "keyframe")
    _add(keys, "key", name="hover", qpos=_text(places), ctrl=_text(controls))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _rows(bodies: Any) -> tuple[Numbers, Numbers]:
    """Positions (k, 3) and attitudes (k, 4)."""
    return np.asarray(bodies.position, dtype=np.float64).T, np.asarray(bodies.attitude, dtype=np.float64).T


def _shaped(node: Any, rig: RigData, group: str, k: int) -> None:
    """Mass, inertia, and something to see."""
    if group == TEAM:
        frame = rig.airframes[k]
        mass, inertia = frame.mass, np.asarray(frame.inertia)
        size = {"type": "cylinder", "size": _text((frame.radius, 0.5 * (frame.height or 0.05)))}
        colour = "0.25 0.45 0.8 1"
    else:
        load = rig.loads[group][k]
        mass = load.mass
        inertia = np.eye(3) * POINT if load.inertia is None else np.asarray(load.inertia)
        corners = np.asarray(load.shape.corners)
        if load.is_point:
            size = {"type": "sphere", "size": _text([getattr(load.shape, "radius", 0.02)])}
        else:
            half, middle = np.ptp(corners, axis=0) / 2, (corners.max(0) + corners.min(0)) / 2
            size = {"type": "box", "size": _text(np.maximum(half, 1e-3)), "pos": _text(middle)}
        colour = "0.77 0.63 0.43 1"
    full = (inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2])
    _add(node, "inertial", pos="0 0 0", mass=_text([mass]), fullinertia=_text(full))
    # what is seen weighs nothing and touches nothing
    _add(node, "geom", **size, rgba=colour, contype="0", conaffinity="0", mass="0")


def _sites(node: Any, rig: RigData, group: str, k: int) -> None:
    """Where thrust acts, and where cables end."""
    if group == TEAM:
        _add(node, "site", name=f"vehicle{k}-thrust", pos="0 0 0", size="0.005")
    for j, tether in enumerate(rig.tethers):
        for word, end in (("start", tether.start), ("end", tether.end)):
            if (end.group, end.index) == (group, k):
                where = {"pos": _text(end.point), "size": "0.005"}
                _add(node, "site", name=f"{tether.name}{j}-{word}", **where)


def _cables(root: Any, rig: RigData, scenario: Scenario) -> None:
    """Tethers that cannot get longer than they are, and push never."""
    lengths = scenario.parts.lengths
    if not rig.tethers:
        return
    if len(lengths) != len(rig.tethers):
        raise InputError(f"{scenario.where}: this mechanism's tethers have no lengths that MJCF could hold.")
    tendons = _add(root, "tendon")
    for j, (tether, length) in enumerate(zip(rig.tethers, lengths, strict=True)):
        stiff = {"solreflimit": "0.004 1", "solimplimit": "0.9999 0.9999 0.001", "margin": "1e-9"}
        spatial = {"name": f"{tether.name}{j}", "range": _text((0.0, length)), "limited": "true"}
        node = _add(tendons, "spatial", **spatial, **stiff, width="0.003")
        for word in ("start", "end"):
            _add(node, "site", site=f"{tether.name}{j}-{word}")


def _actuators(root: Any, team: list[str], hover: Any) -> list[float]:
    """Thrust and moments of every vehicle, and what they are in the hover."""
    acting, controls = _add(root, "actuator"), []
    for k, name in enumerate(team):
        for axis, word in enumerate(("thrust", "roll", "pitch", "yaw")):
            gear = np.zeros(6)
            gear[2 if axis == 0 else 2 + axis] = 1.0
            where = {"name": f"{name}-{word}", "site": f"{name}-thrust", "gear": _text(gear)}
            _add(acting, "motor", **where)
        controls += [float(hover.thrust[k]), *(float(it) for it in hover.moment[k])]
    return controls


def _add(node: Any, tag: str, **attributes: str) -> Any:
    """A new element below `node`."""
    return ElementTree.SubElement(node, tag, attributes)


def _text(numbers: Any) -> str:
    return " ".join(f"{float(it):.17g}" for it in np.atleast_1d(np.asarray(numbers, dtype=np.float64)))
