"""What a payload looks like: enough to draw it, to know its corners, and its inertia if it is uniform."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from skyrig import checks
from skyrig.checks import Numbers
from skyrig.errors import InputError


@dataclass(frozen=True, eq=False)
class Ball:
    """A ball around the payload's origin; how a point mass is drawn.

    Attributes:
        radius: Radius (m).
    """

    kind: ClassVar[str] = "point"
    radius: float

    @property
    def corners(self) -> Numbers:
        """Its centre, 1x3 (m)."""
        return np.zeros((1, 3))


@dataclass(frozen=True, eq=False)
class Box:
    """A cuboid centred on the payload's origin, its edges along the payload's axes.

    Attributes:
        size: Extent along x, y and z, 3 entries (m).
    """

    kind: ClassVar[str] = "box"
    size: Numbers

    @property
    def corners(self) -> Numbers:
        """Its eight corners in the payload frame, 8x3 (m)."""
        return np.array(list(product((-0.5, 0.5), repeat=3))) * self.size

    def inertia(self, mass: float) -> Numbers:
        """Of a uniform cuboid of `mass` (kg) about its middle, 3x3 (kg m^2)."""
        x, y, z = self.size**2
        return mass / 12 * np.diag([y + z, x + z, x + y])


@dataclass(frozen=True, eq=False)
class Prism:
    """A flat outline in the payload's xy plane, given thickness along z.

    Attributes:
        outline: Vertices in order around it, kx2 (m).
        height: Thickness, half above and half below the payload's origin (m).
    """

    kind: ClassVar[str] = "prism"
    outline: Numbers
    height: float

    @property
    def corners(self) -> Numbers:
        """The corners of its lower, then of its upper face in the payload frame, 2kx3 (m)."""
        faces = [np.c_[self.outline, np.full(len(self.outline), side * self.height)] for side in (-0.5, 0.5)]
        return np.concatenate(faces)

    def inertia(self, mass: float) -> Numbers:
        """Of a uniform prism of `mass` (kg) about its own centre of mass, 3x3 (kg m^2)."""
        (xx, xy), (_, yy) = _spread(self.outline)
        thick = self.height**2 / 12
        return mass * np.array([[yy + thick, -xy, 0.0], [-xy, xx + thick, 0.0], [0.0, 0.0, xx + yy]])


@dataclass(frozen=True, eq=False, kw_only=True)
class Cylinder(Prism):
    """An upright cylinder centred on the payload's origin, drawn as a prism of many sides.

    Attributes:
        radius: Radius (m).
        height: Height, half above and half below the payload's origin (m).
    """

    kind: ClassVar[str] = "cylinder"
    outline: Numbers = field(init=False, repr=False)
    radius: float

    def __post_init__(self) -> None:
        """Draw the outline."""
        turn = 2 * np.pi * np.arange(SIDES) / SIDES
        outline = self.radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
        object.__setattr__(self, "outline", checks.read_only(outline))

    def inertia(self, mass: float) -> Numbers:
        """Of a uniform cylinder of `mass` (kg) about its middle, 3x3 (kg m^2)."""
        across = self.radius**2 / 4 + self.height**2 / 12
        return mass * np.diag([across, across, self.radius**2 / 2])


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """The convex hull of points, moved so that the middle of its volume is the payload's origin.

    Attributes:
        points: Given in any order and from any origin; kept are the corners of their hull, cx3 (m).
        triangles: Rows of three corners, counter-clockwise seen from outside, fx3.
        edges: Pairs of corners between which two of its faces meet, ex2.
    """

    kind: ClassVar[str] = "hull"
    points: Numbers
    triangles: NDArray[np.int64] = field(init=False, repr=False)
    edges: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Find corners, faces and the middle."""
        from scipy.spatial import ConvexHull, QhullError

        try:
            hull = ConvexHull(self.points)
        except (QhullError, ValueError) as error:
            raise InputError("points must be four or more that do not lie in one plane.") from error
        place = np.full(len(self.points), -1)
        place[hull.vertices] = np.arange(len(hull.vertices))
        corners, triangles = np.asarray(self.points)[hull.vertices], place[hull.simplices]
        one, two, three = np.moveaxis(corners[triangles], 1, 0)
        inward = np.einsum("fi,fi->f", np.cross(two - one, three - one), hull.equations[:, :3]) < 0
        triangles[inward] = triangles[inward, ::-1]
        meet = [
            sorted(set(triangles[f]) & set(triangles[g]))
            for f, beside in enumerate(hull.neighbors)
            for g in beside
            if f < g and np.dot(hull.equations[f, :3], hull.equations[g, :3]) < 1 - 1e-9
        ]
        volume, middle, _ = _moments(corners[triangles])
        object.__setattr__(self, "points", checks.read_only(corners - middle / volume))
        object.__setattr__(self, "triangles", triangles)
        object.__setattr__(self, "edges", np.array(meet))

    @property
    def corners(self) -> Numbers:
        """Its corners in the payload frame, cx3 (m)."""
        return self.points

    @property
    def outline(self) -> Numbers:
        """What is seen from above, kx2 (m)."""
        from scipy.spatial import ConvexHull

        return self.points[ConvexHull(self.points[:, :2]).vertices, :2]

    def inertia(self, mass: float) -> Numbers:
        """Of a uniform body of `mass` (kg) about its middle, 3x3 (kg m^2)."""
        volume, _, square = _moments(self.points[self.triangles])
        return mass / volume * (np.trace(square) * np.eye(3) - square)


def _moments(triangles: Numbers) -> tuple[float, Numbers, Numbers]:
    """Volume inside triangles fx3x3 that face outwards, and the integrals of x and of x x^T over it.

    A sum over tetrahedra from the origin, of volume V and corners 0, a, b, c: V (a + b + c) / 4 and
    V (a a^T + b b^T + c c^T + s s^T) / 20 with s their sum.
    """
    sums = triangles.sum(1)
    each = np.linalg.det(triangles) / 6
    square = np.einsum("f,fci,fcj->ij", each, triangles, triangles) + np.einsum(
        "f,fi,fj->ij", each, sums, sums
    )
    return float(each.sum()), each @ sums / 4, square / 20


Shape = Ball | Box | Prism | Polyhedron
"""What a payload may look like; `kind` tells which. A cylinder is a prism."""

SIDES = 24
"""With which a cylinder is drawn."""

FIELDS = {
    "point": ("radius",),
    "box": ("size",),
    "prism": ("outline", "height"),
    "cylinder": ("radius", "height"),
    "hull": ("points",),
}
"""What each kind is made of, as files hold it."""


def shape_from_dict(values: object, where: str) -> Shape:
    """A shape from `{kind: point|box|prism|cylinder|hull, ...}`, errors beginning with `where`."""
    kind_of = checks.mapping(where, values, ("kind",), sum(FIELDS.values(), ()))["kind"]
    kind = checks.choice(f"{where}: kind", kind_of, FIELDS)
    given = checks.mapping(where, values, ("kind", *FIELDS[kind]))
    if kind == "point":
        return Ball(float(checks.positive(f"{where}: radius", given["radius"])))
    if kind == "box":
        return Box(checks.read_only(checks.positive(f"{where}: size", given["size"], (3,))))
    if kind == "cylinder":
        radius, height = (float(checks.positive(f"{where}: {name}", given[name])) for name in FIELDS[kind])
        return Cylinder(radius=radius, height=height)
    if kind == "hull":
        points = checks.numbers(f"{where}: points", given["points"], (None, 3))
        try:
            return Polyhedron(points)
        except InputError as error:
            raise InputError(f"{where}: {error}") from error
    outline = checks.numbers(f"{where}: outline", given["outline"], (None, 2))
    if len(outline) < 3:
        raise InputError(f"{where}: outline must have at least three vertices, not {len(outline)}.")
    return Prism(checks.read_only(outline), float(checks.positive(f"{where}: height", given["height"])))


def _spread(outline: Numbers) -> Numbers:
    """Mean of x x, x y, y y over the area inside an outline, about its centroid, 2x2 (m^2).

    A sum over the triangles from the first vertex to each side: a triangle's mean is that of its corners' and
    its centroid's products, weighted 1 : 1 : 1 : 9 over 12, and its area has a sign, so any outline will do.
    """
    corners = outline - outline[0]
    triangles = np.stack([np.zeros_like(corners), corners, np.roll(corners, -1, axis=0)], axis=1)
    (x, y), (u, v) = triangles[:, 1].T, triangles[:, 2].T
    area = x * v - y * u
    middles = triangles.mean(axis=1)
    products = np.einsum("tci,tcj->tij", triangles, triangles) + 9 * np.einsum("ti,tj->tij", middles, middles)
    mean = np.einsum("t,tij->ij", area, products) / (12 * area.sum())
    centre = area @ middles / area.sum()
    return mean - np.outer(centre, centre)
