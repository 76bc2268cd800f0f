"""A soft finger: a prism of rubber with tendons along it, as data and as arrays."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from skyrig.algebra import as_jax
from skyrig.checks import Numbers
from skyrig.soft.design import FingerDesign
from skyrig.soft.shapes import Slice, slice_of

TENDONS = ((1.0, 0.5), (1.0, -0.5), (-1.0, 0.5), (-1.0, -0.5))
"""Where a finger's tendons pass through its cross-section, in half widths: inner pair, then outer pair."""


class Finger(eqx.Module):
    """A finger as arrays: what energies, equilibria and motions are computed from.

    Nodes carry their coordinates last, (slices, nodes of a slice, 3) for whole slices, in which the upper
    face of one is the lower face of the next, and (slices, between + face, 3) for what belongs to each
    slice alone: linear algebra over many slices and fingers at once wants its axes so.
    """

    shear: Float[Array, ""]
    """Lame's mu (N/m^2)."""
    bulk: Float[Array, ""]
    """Lame's lambda (N/m^2), kappa in eq. 11."""
    density: Float[Array, ""]
    damping: Float[Array, ""]
    tendon_stiffness: Float[Array, ""]
    gradient: Float[Array, "points nodes 3"]
    """Of the nodes' functions (1/m)."""
    weight: Float[Array, " points"]
    """m^3."""
    overlap: Float[Array, "nodes nodes"]
    """Mass of density one (m^3)."""
    eyelet: Float[Array, "tendons face"]
    """How the nodes of a face move the eyelets in it."""
    rest: Float[Array, "slices nodes 3"]
    """m."""
    tip: Float[Array, " face"]
    """Weights of the last face's nodes in the fingertip, the middle of that face."""
    pins: Float[Array, " face"]
    """Stiffness of the springs that hold the base's nodes (N/m); not used by a clamp."""
    face: int = eqx.field(static=True)
    clamped: bool = eqx.field(static=True)
    corners: tuple[int, ...] = eqx.field(static=True)
    """Which nodes of a face are its corners, in order around it: inner and aside first."""

    @property
    def slices(self) -> int:
        """How many."""
        return self.rest.shape[0]

    @property
    def between(self) -> int:
        """Nodes of a slice between its faces."""
        return self.rest.shape[1] - 2 * self.face

    @property
    def tendons(self) -> int:
        """How many."""
        return self.eyelet.shape[0]

    @property
    def mass(self) -> Float[Array, ""]:
        """Kg."""
        return self.density * self.slices * self.overlap.sum()

    @property
    def length(self) -> Float[Array, ""]:
        """At rest (m)."""
        return self.rest[-1, -1, 2]

    @property
    def resting(self) -> Float[Array, "slices own 3"]:
        """The nodes that belong to each slice alone, at rest: all but those of the base."""
        return self.rest[:, self.face :]

    @property
    def base(self) -> Float[Array, "face 3"]:
        """Nodes of the base, at rest."""
        return self.rest[0, : self.face]


def finger(design: FingerDesign | None = None) -> Finger:
    """The arrays of a finger."""
    design = FingerDesign() if design is None else design
    part = slice_of(design.elements, design.cells)
    half = np.array([design.width / 2, design.width / 2, design.length / design.slices / 2])
    middle = (np.arange(design.slices) + 0.5) * 2 * half[2]
    rest = part.nodes * half + np.stack([0 * middle, 0 * middle, middle], 1)[:, None]
    overlap = part.overlap * half.prod()
    if design.mass == "lumped":
        overlap = _lumped(overlap)
    pins = np.zeros(part.face)
    pins[_three(part)] = 2 * design.pin_stiffness
    numbers: dict[str, Any] = {
        "shear": design.young / 2 / (1 + design.poisson),
        "bulk": design.poisson * design.young / (1 + design.poisson) / (1 - 2 * design.poisson),
        "density": design.density,
        "damping": design.damping,
        "tendon_stiffness": design.tendon_stiffness,
        "gradient": part.gradient / half,
        "weight": part.weight * half.prod(),
        "overlap": overlap,
        "eyelet": np.stack([_eyelet(part, *where) for where in TENDONS]),
        "rest": rest,
        "tip": _eyelet(part, 0.0, 0.0),
        "pins": pins,
    }
    arrays = {name: as_jax(np.asarray(value, dtype=np.float64)) for name, value in numbers.items()}
    return Finger(**arrays, face=part.face, clamped=design.mount == "clamp", corners=_corners(part))


def _eyelet(part: Slice, x: float, y: float) -> Numbers:
    """Weights of a face's nodes in an eyelet at (x, y), in half widths.

    A tendon's pull goes into the cross-section as a stress that is linear in x and y, with the eyelet's
    force and moments. Tied to the nearest node instead, it would pull an ever sharper dent into finer
    meshes. The square's area is 4 and its second moments are 4/3.
    """
    return np.array([1 / 4, 3 * x / 4, 3 * y / 4]) @ part.moments


def _lumped(overlap: Numbers) -> Numbers:
    """The diagonal of a mass matrix, scaled to the whole mass: positive for quadratic elements too."""
    diagonal = np.diag(overlap)
    return np.diag(diagonal * overlap.sum() / diagonal.sum())


def _corners(part: Slice) -> tuple[int, ...]:
    face = part.nodes[: part.face, :2]
    around = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    return tuple(int(np.abs(face - corner).sum(1).argmin()) for corner in around)


def _three(part: Slice) -> list[int]:
    """Three nodes of the base, at corners of an isosceles triangle."""
    face = part.nodes[: part.face, :2]
    return [int(np.abs(face - corner).sum(1).argmin()) for corner in ([-1, -1], [-1, 1], [1, 0])]
