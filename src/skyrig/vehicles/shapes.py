"""What a payload looks like: enough to draw it, to know its corners, and its inertia if it is uniform."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import ClassVar

import numpy as np

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


Shape = Ball | Box | Prism
"""What a payload may look like; `kind` tells which. A cylinder is a prism."""

SIDES = 24
"""With which a cylinder is drawn."""

_FIELDS = {
    "point": ("radius",),
    "box": ("size",),
    "prism": ("outline", "height"),
    "cylinder": ("radius", "height"),
}


def shape_from_dict(values: object, where: str) -> Shape:
    """A shape from `{kind: point|box|prism|cylinder, ...}`, errors beginning with `where`."""
    kind_of = checks.mapping(where, values, ("kind",), sum(_FIELDS.values(), ()))["kind"]
    kind = checks.choice(f"{where}: kind", kind_of, _FIELDS)
    given = checks.mapping(where, values, ("kind", *_FIELDS[kind]))
    if kind == "point":
        return Ball(float(checks.positive(f"{where}: radius", given["radius"])))
    if kind == "box":
        return Box(checks.read_only(checks.positive(f"{where}: size", given["size"], (3,))))
    if kind == "cylinder":
        radius, height = (float(checks.positive(f"{where}: {name}", given[name])) for name in _FIELDS[kind])
        return Cylinder(radius=radius, height=height)
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
