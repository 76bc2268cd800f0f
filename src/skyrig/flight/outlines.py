"""A rig at one moment as lines in a 3-D plot: the payload in its true shape, arms, rotors and cables."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skyrig.errors import InputError
from skyrig.flight import colours, meshes
from skyrig.flight.flight import Flight, RigData
from skyrig.flight.frames import Frames
from skyrig.scenario import Scenario
from skyrig.scenario.mechanisms import RigParts
from skyrig.turns import turn
from skyrig.vehicles.shapes import Box, Prism, Shape

Reals = npt.NDArray[np.float64]
RING = np.linspace(0, 2 * np.pi, 13)
CARGO = "#{:02X}{:02X}{:02X}".format(*meshes.CARGO)


@dataclass(frozen=True, eq=False)
class Outline:
    """What of a rig is drawn, in the bodies' own frames (m)."""

    payload: Reals
    """(E, 2, 3) edges; none of a payload of which only the place is known."""
    faces: Reals
    """(F, 3, 3) triangles."""
    hubs: tuple[Reals, ...]
    """(r, 3) rotor hubs of each vehicle."""
    discs: tuple[float, ...]
    """Radius of each vehicle's propellers."""
    attachments: Reals
    """(n, 3)."""
    hooks: Reals
    """(n, 3)."""
    cables: bool
    """Whether cables join vehicles and payload."""


def parts_of(flight: Flight) -> RigParts | None:
    """What a flight's rig is made of; None where the flight carries no scenario that says it."""
    try:
        parts = Scenario.from_text(flight.scenario, "scenario").parts if flight.scenario else None
    except InputError:
        return None
    return parts if parts is not None and parts.count == flight.rig.count else None


def of_parts(parts: RigParts) -> Outline:
    """The outline of a rig made of these parts."""
    assert parts.payload is not None
    shape = parts.payload.shape
    mesh = meshes.payload(shape)
    hooks = [it.start.point for it in parts.tethers] or [(0.0, 0.0, 0.0)] * parts.count
    return Outline(
        payload=meshes.edges(shape),
        faces=mesh.vertices[mesh.faces],
        hubs=tuple(np.asarray(frame.rotor_positions, dtype=float) for frame in parts.airframes),
        discs=tuple(frame.rotor_radius or 0.45 * frame.arm for frame in parts.airframes),
        attachments=np.asarray(parts.points, dtype=float),
        hooks=np.asarray(hooks, dtype=float),
        cables=bool(parts.tethers),
    )


def of_flight(flight: Flight) -> Outline:
    """The outline of a flight's rig, by its scenario or, without one, by its corners and radii."""
    parts = parts_of(flight)
    if parts is not None:
        return of_parts(parts)
    rig = flight.rig
    shape = _shape(rig)
    mesh = None if shape is None else meshes.payload(shape)
    reach = [0.6 * float(radius) for radius in rig.vehicle_radius]
    corners = np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]]) / np.sqrt(2)
    return Outline(
        payload=np.zeros((0, 2, 3)) if shape is None else meshes.edges(shape),
        faces=np.zeros((0, 3, 3)) if mesh is None else mesh.vertices[mesh.faces],
        hubs=tuple(far * corners for far in reach),
        discs=tuple(float(radius) - far for radius, far in zip(rig.vehicle_radius, reach, strict=True)),
        attachments=np.asarray(rig.attachments, dtype=float),
        hooks=np.asarray(rig.hooks, dtype=float),
        cables=rig.mechanism == "cables",
    )


def _shape(rig: RigData) -> Shape | None:
    """The shape with these corners; None where they are too few to tell."""
    corners = rig.payload_corners
    if len(corners) < 6:
        return None
    box = Box(np.ptp(corners, axis=0))
    if len(corners) == 8 and np.allclose(box.corners, corners):
        return box
    return Prism(corners[: len(corners) // 2, :2], float(np.ptp(corners[:, 2])))


def draw(axes: Any, outline: Outline, frame: Frames, cut: Collection[int] = (), strong: float = 1.0) -> None:
    """Draw one moment (the first of `frame`) into Matplotlib's 3-D `axes`.

    Args:
        axes: Where to.
        outline: Of what.
        frame: The moment.
        cut: Cables that are cut by then; they hang from their vehicles.
        strong: How much the lines hide, from 0 to 1.
    """
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    place, pose = frame.payload_position[0], frame.payload_attitude[0]
    if len(outline.payload):
        faces = place + turn(pose, outline.faces)
        axes.add_collection3d(Poly3DCollection(faces, facecolors=CARGO, alpha=0.15 * strong, linewidths=0))
        edges = place + turn(pose, outline.payload)
        axes.add_collection3d(Line3DCollection(edges, colors=colours.PAYLOAD, linewidths=0.8, alpha=strong))
    else:
        axes.plot(*place[:, None], marker="o", markersize=4, color=colours.PAYLOAD, alpha=strong)
    for k, hubs in enumerate(outline.hubs):
        where, how = frame.vehicle_position[0, k], frame.vehicle_attitude[0, k]
        arms = where + turn(how, np.stack([0 * hubs, hubs], axis=1))
        circle = outline.discs[k] * np.stack([np.cos(RING), np.sin(RING), 0 * RING], axis=1)
        rings = where + turn(how, hubs[:, None] + circle)
        segments = [*arms, *rings]
        own = colours.of_vehicle(k)
        axes.add_collection3d(Line3DCollection(segments, colors=own, linewidths=0.9, alpha=strong))
        if outline.cables:
            points, taut = _cable(outline, frame, k, k in cut)
            dash = "-" if taut else ":"
            axes.plot(*points.T, color=own, linewidth=1.2, linestyle=dash, alpha=strong)


def _cable(outline: Outline, frame: Frames, k: int, cut: bool) -> tuple[Reals, bool]:
    """Where cable `k` runs, and whether it pulls."""
    top = frame.vehicle_position[0, k] + turn(frame.vehicle_attitude[0, k], outline.hooks[k])
    length = float(frame.length[0, k])
    if cut:
        return np.stack([top, top - [0.0, 0.0, length]]), False
    end = frame.payload_position[0] + turn(frame.payload_attitude[0], outline.attachments[k])
    taut = bool(frame.taut[0, k])
    return (np.stack([top, end]) if taut else meshes.hanging(top, end, length)), taut
