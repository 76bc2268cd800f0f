"""What a payload looks like: enough to draw it and to know where its corners are."""

from __future__ import annotations

from dataclasses import dataclass
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


Shape = Ball | Box | Prism
"""What a payload may look like; `kind` tells which."""

_FIELDS = {"point": ("radius",), "box": ("size",), "prism": ("outline", "height")}


def shape_from_dict(values: object, where: str) -> Shape:
    """A shape from `{kind: point|box|prism, ...}`, errors beginning with `where`."""
    kind_of = checks.mapping(where, values, ("kind",), sum(_FIELDS.values(), ()))["kind"]
    kind = checks.choice(f"{where}: kind", kind_of, _FIELDS)
    given = checks.mapping(where, values, ("kind", *_FIELDS[kind]))
    if kind == "point":
        return Ball(float(checks.positive(f"{where}: radius", given["radius"])))
    if kind == "box":
        return Box(checks.read_only(checks.positive(f"{where}: size", given["size"], (3,))))
    outline = checks.numbers(f"{where}: outline", given["outline"], (None, 2))
    if len(outline) < 3:
        raise InputError(f"{where}: outline must have at least three vertices, not {len(outline)}.")
    return Prism(checks.read_only(outline), float(checks.positive(f"{where}: height", given["height"])))
