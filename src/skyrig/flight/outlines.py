"""A rig at one moment as lines in a 3-D plot: loads in their true shapes, arms, rotors and tethers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from skyrig.flight import colours, meshes
from skyrig.flight.frames import Frames
from skyrig.flight.records import TEAM
from skyrig.flight.rig import RigData
from skyrig.turns import point_at
from skyrig.vehicles import Airframe
from skyrig.vehicles.shapes import Shape

Reals = npt.NDArray[np.float64]
RING = np.linspace(0, 2 * np.pi, 13)
CARGO = "#{:02X}{:02X}{:02X}".format(*meshes.CARGO)


def draw(axes: Any, rig: RigData, frame: Frames, cut: Collection[int] = (), strong: float = 1.0) -> None:
    """Draw one moment (the first of `frame`) into Matplotlib's 3-D `axes`.

    Args:
        axes: Where to.
        rig: What.
        frame: The moment.
        cut: Tethers that are cut by then, by their number; they hang from where they begin.
        strong: How much the lines hide, from 0 to 1.
    """
    for group, poses in frame.bodies.items():
        for k, (place, pose) in enumerate(zip(poses.position[0], poses.attitude[0], strict=True)):
            if group == TEAM:
                _vehicle(axes, rig.airframes[k], colours.of_vehicle(k), place, pose, strong)
            else:
                _load(axes, rig.shape(group, k), place, pose, strong)
    lines = frame.tethers(rig, cut)
    for tether, line, other in zip(rig.tethers, lines, lines[1:], strict=False):
        if tether.strip and len(line.nodes):
            _skin(axes, meshes.strip(line.course, other.course, meshes.SKIN), strong)
    for line, k in zip(lines, rig.columns, strict=True):
        dash = "-" if line.taut or len(line.nodes) else ":"
        for points in line.pieces:
            axes.plot(*points.T, color=colours.of_vehicle(k), linewidth=1.2, linestyle=dash, alpha=strong)


def _skin(axes: Any, mesh: meshes.Mesh, strong: float) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    colour = "#{:02X}{:02X}{:02X}".format(*mesh.colour)
    faces = mesh.vertices[mesh.faces]
    axes.add_collection3d(Poly3DCollection(faces, facecolors=colour, alpha=0.35 * strong, linewidths=0))


def _load(axes: Any, shape: Shape, place: Reals, pose: Reals, strong: float) -> None:
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    mesh = meshes.payload(shape)
    faces = point_at(place, pose, mesh.vertices[mesh.faces])
    axes.add_collection3d(Poly3DCollection(faces, facecolors=CARGO, alpha=0.15 * strong, linewidths=0))
    edges = point_at(place, pose, meshes.edges(shape))
    axes.add_collection3d(Line3DCollection(edges, colors=colours.PAYLOAD, linewidths=0.8, alpha=strong))


def _vehicle(axes: Any, frame: Airframe, own: str, place: Reals, pose: Reals, strong: float) -> None:
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    hubs = np.asarray(frame.rotor_positions, dtype=float)
    arms = point_at(place, pose, np.stack([0 * hubs, hubs], axis=1))
    disc = frame.rotor_radius or 0.45 * frame.arm
    circle = disc * np.stack([np.cos(RING), np.sin(RING), 0 * RING], axis=1)
    rings = point_at(place, pose, hubs[:, None] + circle)
    axes.add_collection3d(Line3DCollection([*arms, *rings], colors=own, linewidths=0.9, alpha=strong))
