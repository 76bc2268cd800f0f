"""A payload: what it weighs, how it turns, what it looks like and where vehicles take hold of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from functools import cache
from typing import Any

import numpy as np

from skyrig import checks, files
from skyrig.checks import Numbers
from skyrig.errors import InputError
from skyrig.vehicles.shapes import Ball, Box, Cylinder, Polyhedron, Shape, shape_from_dict

FOLDER = "payloads"

_REQUIRED = ("name", "mass", "shape")
_OPTIONAL = ("inertia", "attachments", "source", "notes", "ours")
_ESTIMABLE = ("mass", "inertia", "shape", "attachments")


@dataclass(frozen=True, eq=False, kw_only=True)
class Payload:
    """A load as plain numbers, checked when made; its frame sits at its centre of mass.

    Attributes:
        name: What it is called in files.
        mass: Mass (kg).
        inertia: Inertia about the centre of mass in the payload frame, 3x3 (kg m^2). Left out (None), a box,
            cylinder or hull gets that of a uniform one; a point mass has none, nor an attitude.
        shape: What it looks like.
        attachments: Named sets of attachment points in the payload frame, nx3 each (m). The set that a team
            of n takes by default is called `cable-n` or `rigid-n`.
        source: Where the numbers come from.
        notes: What a reader should know about them.
        ours: The fields that are estimates of this project rather than published values.
        where: What an error message begins with; a file's name, say.
    """

    name: str
    mass: float
    shape: Shape
    inertia: Numbers | None = None
    attachments: Mapping[str, Numbers] = field(default_factory=dict)
    source: str = ""
    notes: str = ""
    ours: tuple[str, ...] = ()
    where: InitVar[str | None] = None

    def __post_init__(self, where: str | None) -> None:
        """Check every field, and keep arrays from being written to."""
        at = where or f"payload '{self.name}'"
        for name, value in _checked(vars(self), at).items():
            object.__setattr__(self, name, value)
        if self.inertia is None and isinstance(self.shape, Box | Cylinder | Polyhedron):
            object.__setattr__(self, "inertia", checks.read_only(self.shape.inertia(self.mass)))
        if (self.inertia is None) != isinstance(self.shape, Ball):
            raise InputError(
                f"{at}: a payload of shape kind '{self.shape.kind}' "
                f"{'needs an' if self.inertia is None else 'is a point mass and has no'} inertia."
            )
        if self.is_point and any(np.any(points != 0) for points in self.attachments.values()):
            raise InputError(f"{at}: attachments of a point mass must all be at its origin.")

    @classmethod
    def from_dict(cls, values: object, where: str = "payload") -> Payload:
        """A payload from a mapping such as a YAML file holds; see the bundled files for an example.

        Args:
            values: The fields of a `Payload`, the shape being `{kind: point, radius: ...}`,
                `{kind: box, size: [x, y, z]}`, `{kind: cylinder, radius: ..., height: ...}`,
                `{kind: prism, outline: [[x, y], ...], height: ...}` or
                `{kind: hull, points: [[x, y, z], ...]}`.
            where: What an error message begins with; a file's name, say.

        Raises:
            InputError: If a field is missing, unknown or cannot be.
        """
        given = checks.mapping(where, values, _REQUIRED, _OPTIONAL)
        shape = shape_from_dict(given["shape"], f"{where}: shape")
        return cls(**{**_checked(given, where), "shape": shape}, where=where)

    @property
    def is_point(self) -> bool:
        """Whether this is a point mass: no attitude, every attachment at the origin."""
        return self.inertia is None

    def attachment_points(self, joint: str, vehicles: int) -> Numbers:
        """Where a team takes hold when nobody says otherwise, nx3 in the payload frame (m).

        Args:
            joint: 'cable' or 'rigid'.
            vehicles: How many vehicles there are.

        Raises:
            InputError: If the payload has no such set.
        """
        checks.choice("joint", joint, ("cable", "rigid"))
        if self.is_point:
            return np.zeros((vehicles, 3))
        wanted = f"{joint}-{vehicles}"
        if wanted not in self.attachments:
            raise InputError(
                f"payload '{self.name}' has no attachments '{wanted}' for {vehicles} vehicles; "
                f"it has: {', '.join(self.attachments) or 'none'}."
            )
        return self.attachments[wanted]


def payload_names() -> tuple[str, ...]:
    """The names of the payloads that come with skyrig."""
    return files.bundled_names(FOLDER)


@cache
def payload(name: str) -> Payload:
    """The payload that comes with skyrig under `name`; `payload_names()` lists them."""
    return Payload.from_dict(files.read_bundled(FOLDER, name), where=f"{FOLDER}/{name}.yaml")


def _checked(fields: Mapping[str, object], where: str) -> dict[str, Any]:
    """Those of a payload's `fields` that are there, each checked by itself and of its proper type."""
    checked: dict[str, Any] = {}
    for name, value in fields.items():
        at = f"{where}: {name}"
        if name == "mass":
            checked[name] = float(checks.positive(at, value))
        elif name == "inertia":
            checked[name] = None if value is None else checks.read_only(checks.inertia(at, value))
        elif name == "attachments":
            checked[name] = {
                checks.text(f"{at}: a name", each): checks.read_only(
                    checks.numbers(f"{at}: {each}", points, (None, 3))
                )
                for each, points in checks.mapping(at, value, optional=None).items()
            }
        elif name == "ours":
            checked[name] = checks.names(at, value, _ESTIMABLE)
        elif name == "name" or (name != "shape" and value):
            checked[name] = checks.text(at, value)
    return checked
