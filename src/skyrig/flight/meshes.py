"""What vehicles, payloads and cables look like: triangles and lines made from their data, in plain NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skyrig.flight import colours
from skyrig.vehicles import Airframe
from skyrig.vehicles.shapes import Ball, Box, Polyhedron, Shape

Reals = npt.NDArray[np.float64]
Colour = tuple[int, int, int]

FRAME: Colour = (62, 66, 74)
DARK_FRAME: Colour = (168, 174, 186)
"""In place of FRAME on dark pages, where that could not be seen."""
MARK: Colour = (235, 64, 52)
CARGO: Colour = (196, 160, 110)
SKIN: Colour = (60, 190, 200)
"""Of soft bodies."""
SLACK: Colour = colours.rgb(colours.SLACK)
OVERLAY: Colour = (140, 90, 200)
"""Of everything in a second flight that is drawn over the first."""
OVERLAY_OPACITY = 0.4
"""How much a second flight's bodies hide."""
RAMP = ((0.0, (70, 120, 220)), (0.6, (40, 170, 120)), (1.2, (235, 180, 30)), (2.2, (215, 40, 35)))
"""Colours of tensions over a hovering cable's."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles of one colour."""

    vertices: Reals
    """(V, 3) m."""
    faces: npt.NDArray[np.int64]
    """(F, 3), counter-clockwise seen from outside."""
    colour: Colour


def strip(first: Reals, second: Reals, own: Colour) -> Mesh:
    """The skin of a solid whose four edges are two lines, each from its base to its tip and back.

    Args:
        first: (2k, 3) points along two neighbouring edges (m).
        second: (2k, 3) along the other two, going on around it.
        own: Its colour.
    """
    half = len(first) // 2
    edges = [first[:half], first[half:][::-1], second[:half], second[half:][::-1]]
    vertices = np.stack(edges, axis=1).reshape(-1, 3)
    side = np.arange(4)
    near = 4 * np.arange(half - 1)[:, None] + side
    beside = 4 * np.arange(half - 1)[:, None] + (side + 1) % 4
    walls = [np.stack([near, beside, near + 4], -1), np.stack([beside, beside + 4, near + 4], -1)]
    last = 4 * (half - 1)
    tip = last + np.array([[0, 1, 2], [0, 2, 3]])
    return Mesh(vertices, np.concatenate([*(it.reshape(-1, 3) for it in walls), tip]), own)


def colour(vehicle: int) -> Colour:
    """The colour that stands for a vehicle and its cable."""
    return colours.rgb(colours.of_vehicle(vehicle))


def airframe(frame: Airframe, own: Colour) -> tuple[Mesh, ...]:
    """A vehicle without its propellers: body, arms, motors and a mark that points forward."""
    height = frame.height or 0.25 * frame.arm
    wide = 0.34 * frame.arm
    thin = 0.05 * frame.arm
    body = cylinder(wide, 0.6 * height, 8)
    hubs = frame.rotor_positions
    arms = [beam(np.zeros(3), hub, thin, 0.7 * thin) for hub in hubs]
    motors = [moved(cylinder(1.8 * thin, 0.4 * height, 10), hub) for hub in hubs]
    top = 0.3 * height
    nose = wedge(0.75 * wide, 0.6 * wide, 0.2 * height)
    mark = moved(nose, np.array([0.95 * wide, 0.0, top]))
    return (
        merged([body], own),
        merged([*arms, *motors], FRAME),
        merged([mark], MARK),
    )


def propeller(frame: Airframe) -> Mesh:
    """Two blades around the origin, in its xy plane."""
    radius = frame.rotor_radius or 0.45 * frame.arm
    blades = []
    for side in (1.0, -1.0):
        chord, lift = 0.14 * radius, 0.05 * radius
        tip = np.array([side * radius, 0.0, 0.0])
        vertices, faces = beam(np.zeros(3), tip, chord, 0.012 * radius)
        twisted = vertices.copy()
        twisted[:, 2] += side * lift * np.sign(vertices[:, 1])
        blades.append((twisted, faces))
    return merged([*blades, cylinder(0.1 * radius, 0.12 * radius, 8)], (30, 30, 34))


def disc(radius: float, sides: int = 24) -> Mesh:
    """A flat disc in the xy plane, seen from both sides."""
    turn = 2 * np.pi * np.arange(sides) / sides
    rim = np.stack([radius * np.cos(turn), radius * np.sin(turn), np.zeros(sides)], axis=1)
    k = np.arange(sides)
    faces = np.stack([np.full(sides, sides), k, (k + 1) % sides], axis=1)
    return Mesh(np.concatenate([rim, np.zeros((1, 3))]), np.concatenate([faces, faces[:, ::-1]]), FRAME)


def payload(shape: Shape, own: Colour = CARGO) -> Mesh:
    """A payload as its data says."""
    if isinstance(shape, Ball):
        return merged([ball(shape.radius)], own)
    if isinstance(shape, Box):
        x, y, z = shape.size
        return merged([beam(np.array([-x / 2, 0, 0]), np.array([x / 2, 0, 0]), y, z)], own)
    if isinstance(shape, Polyhedron):
        # each face has corners of its own: none is smooth
        flat = shape.points[shape.triangles].reshape(-1, 3)
        return merged([(flat, np.arange(len(flat)).reshape(-1, 3))], own)
    return merged([extruded(shape.outline, shape.height)], own)


def edges(shape: Shape) -> Reals:
    """The outline of a payload as line segments, (E, 2, 3) m."""
    if isinstance(shape, Ball):
        turn = np.linspace(0, 2 * np.pi, 25)
        ring = shape.radius * np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
        rings = [ring, ring[:, [0, 2, 1]], ring[:, [2, 0, 1]]]
        return np.concatenate([np.stack([each[:-1], each[1:]], axis=1) for each in rings])
    if isinstance(shape, Polyhedron):
        return shape.points[shape.edges]
    if isinstance(shape, Box):
        x, y, z = shape.size / 2
        outline, height = np.array([[x, -y], [x, y], [-x, y], [-x, -y]]), 2 * z
    else:
        outline, height = shape.outline, shape.height
    low, high = (np.c_[outline, np.full(len(outline), side * height / 2)] for side in (-1, 1))
    pairs = [(low, np.roll(low, -1, axis=0)), (high, np.roll(high, -1, axis=0)), (low, high)]
    return np.concatenate([np.stack(pair, axis=1) for pair in pairs])


Part = tuple[Reals, npt.NDArray[np.int64]]


def merged(parts: Sequence[Part], own: Colour) -> Mesh:
    """Several parts as one mesh."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    faces = [each + start for (_, each), start in zip(parts, starts, strict=False)]
    return Mesh(np.concatenate([vertices for vertices, _ in parts]), np.concatenate(faces), own)


def moved(part: Part, by: Reals) -> Part:
    """A part somewhere else."""
    return part[0] + by, part[1]


def extruded(outline: Reals, height: float) -> Part:
    """An outline (k, 2), counter-clockwise or not, given thickness along z (m)."""
    x, y = outline.T
    ring = outline if np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) > 0 else outline[::-1]
    sides = len(ring)
    faces_z = [np.c_[ring, np.full(sides, side * height / 2)] for side in (-1, 1)]
    middle = np.array([[*ring.mean(0), -height / 2], [*ring.mean(0), height / 2]])
    vertices = np.concatenate([*faces_z, middle])
    k = np.arange(sides)
    after = (k + 1) % sides
    faces = np.concatenate(
        [
            np.stack([np.full(sides, 2 * sides), after, k], axis=1),
            np.stack([np.full(sides, 2 * sides + 1), sides + k, sides + after], axis=1),
            np.stack([k, after, sides + after], axis=1),
            np.stack([k, sides + after, sides + k], axis=1),
        ]
    )
    return vertices, faces


def cylinder(radius: float, height: float, sides: int) -> Part:
    """An upright one around the origin."""
    turn = 2 * np.pi * (np.arange(sides) + 0.5) / sides
    return extruded(radius * np.stack([np.cos(turn), np.sin(turn)], axis=1), height)


def beam(start: Reals, end: Reals, wide: float, high: float) -> Part:
    """A bar from one point to another, lying flat."""
    way = np.asarray(end, float) - np.asarray(start, float)
    length = float(np.linalg.norm(way))
    ahead = way / length
    side = np.cross([0.0, 0.0, 1.0], ahead)
    side = side / np.linalg.norm(side) if np.linalg.norm(side) > 1e-9 else np.array([0.0, 1.0, 0.0])
    up = np.cross(ahead, side)
    outline = np.array([[0, -wide / 2], [length, -wide / 2], [length, wide / 2], [0, wide / 2]])
    vertices, faces = extruded(outline, high)
    return np.asarray(start) + vertices @ np.stack([ahead, side, up]), faces


def wedge(long: float, wide: float, high: float) -> Part:
    """An arrow head that points along +x, its base at the origin."""
    return extruded(np.array([[0.0, -wide / 2], [long, 0.0], [0.0, wide / 2]]), high)


def ball(radius: float, rings: int = 10, sides: int = 18) -> Part:
    """A sphere around the origin."""
    polar = np.pi * np.arange(1, rings) / rings
    turn = 2 * np.pi * np.arange(sides) / sides
    p, t = (grid.ravel() for grid in np.meshgrid(polar, turn, indexing="ij"))
    shell = np.stack([np.sin(p) * np.cos(t), np.sin(p) * np.sin(t), np.cos(p)], axis=1)
    vertices = radius * np.concatenate([shell, [[0, 0, 1], [0, 0, -1]]])
    k = np.arange(sides)
    after = (k + 1) % sides
    faces = [np.stack([np.full(sides, len(shell)), k, after], axis=1)]
    for ring in range(rings - 2):
        a, b = ring * sides, (ring + 1) * sides
        faces.append(np.stack([a + k, b + k, b + after], axis=1))
        faces.append(np.stack([a + k, b + after, a + after], axis=1))
    last = (rings - 2) * sides
    faces.append(np.stack([last + k, np.full(sides, len(shell) + 1), last + after], axis=1))
    return vertices, np.concatenate(faces)


def tension_colour(ratio: float) -> Colour:
    """From blue (none) through green and yellow to red, of a tension over a hovering cable's."""
    places = [place for place, _ in RAMP]
    red, green, blue = (float(np.interp(ratio, places, [own[k] for _, own in RAMP])) for k in range(3))
    return int(red), int(green), int(blue)


def arrows(origins: Reals, vectors: Reals) -> Reals:
    """Strokes of arrows, (3 k, 2, 3): from `origins` (k, 3) along `vectors` (k, 3), two barbs each (m)."""
    tips = origins + vectors
    size = np.linalg.norm(vectors, axis=1, keepdims=True)
    upright = np.linalg.norm(vectors[:, :2], axis=1, keepdims=True) < 0.1 * size
    side = np.cross(vectors, np.where(upright, [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]))
    side = side / np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-12)
    barbs = [tips - 0.25 * vectors + sign * 0.12 * size * side for sign in (1, -1)]
    return np.concatenate([np.stack([start, tips], axis=1) for start in (origins, *barbs)])
