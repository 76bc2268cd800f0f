"""Ground and obstacles to stand on, slide along and run into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from skyrig.fields import Point, Positive, SpecPart, Turn, unit
from skyrig.scenario.sentences import refuse
from skyrig.scenario.world import ElementSpec

if TYPE_CHECKING:
    from skyrig.elements import Element
    from skyrig.scenario.mechanisms import RigParts


class SlopeSpec(SpecPart, frozen=True, kw_only=True):
    """Ground below a plane."""

    point: Annotated[Point, unit("m", "Through which it goes")] = (0.0, 0.0, 0.0)
    normal: Annotated[Point, unit("", "Upwards from it, of any length")]


class GroundSpec(ElementSpec, frozen=True, kw_only=True):
    """A floor that bodies stand on, and slopes."""

    height: Annotated[float | None, unit("m", "Of the floor; null for slopes alone")] = 0.0
    friction: Annotated[float, unit("1", "Coefficient of friction", ge=0, le=10)] = 0.6
    slopes: Annotated[list[SlopeSpec], unit("", "Planes that rise from the floor")] = []

    def check(self, parts: RigParts, where: str, path: str) -> None:
        """There is ground, and slopes look up."""
        if self.height is None and not self.slopes:
            raise refuse(where, f"{path}.height", "must be given where there are no slopes (m)")
        for k, slope in enumerate(self.slopes):
            if not slope.normal[2] > 0.05 * np.linalg.norm(slope.normal):
                raise refuse(where, f"{path}.slopes[{k}].normal", f"must point upwards, not {slope.normal}")

    def build(self, parts: RigParts) -> Element:
        """Hulls on planes."""
        from skyrig.algebra import as_jax
        from skyrig.elements.contact import SurfaceContact
        from skyrig.elements.strands import Strands
        from skyrig.elements.surfaces import Planes
        from skyrig.scenario.elements.hulls import hulls_of

        normals = [np.asarray(it.normal) / np.linalg.norm(it.normal) for it in self.slopes]
        offsets = [float(n @ np.asarray(it.point)) for n, it in zip(normals, self.slopes, strict=True)]
        if self.height is not None:
            normals, offsets = [np.array([0.0, 0.0, 1.0]), *normals], [self.height, *offsets]
        planes = Planes(as_jax(np.stack(normals, axis=1)), as_jax(np.array(offsets)))
        # a straight line between bodies above a floor never passes through it
        strands = Strands.of(parts.tethers) if self.slopes else None
        return SurfaceContact(hulls_of(parts), planes, as_jax(np.asarray(self.friction)), "ground", strands)


class BoxSpec(SpecPart, frozen=True, kw_only=True):
    """A box, such as a step or a wall."""

    centre: Annotated[Point, unit("m", "Its middle")]
    size: Annotated[tuple[Positive, Positive, Positive], unit("m", "Along its own x, y, z")]
    attitude: Annotated[Turn, unit("rad", "Roll, pitch, yaw, or a yaw alone")] = 0.0


class CylinderSpec(SpecPart, frozen=True, kw_only=True):
    """An upright cylinder, such as a mast."""

    centre: Annotated[Point, unit("m", "Its middle")]
    radius: Annotated[float, unit("m", "Its radius", gt=0, le=1e4)]
    height: Annotated[float, unit("m", "Its height", gt=0, le=1e4)]


class SphereSpec(SpecPart, frozen=True, kw_only=True):
    """A ball."""

    centre: Annotated[Point, unit("m", "Its middle")]
    radius: Annotated[float, unit("m", "Its radius", gt=0, le=1e4)]


class ObstaclesSpec(ElementSpec, frozen=True, kw_only=True):
    """Solid things to stand on or run into: boxes (steps, walls), upright cylinders, spheres."""

    boxes: Annotated[list[BoxSpec], unit("", "Boxes")] = []
    cylinders: Annotated[list[CylinderSpec], unit("", "Upright cylinders")] = []
    spheres: Annotated[list[SphereSpec], unit("", "Balls")] = []
    friction: Annotated[float, unit("1", "Coefficient of friction", ge=0, le=10)] = 0.6

    def check(self, parts: RigParts, where: str, path: str) -> None:
        """There are some."""
        if not (self.boxes or self.cylinders or self.spheres):
            raise refuse(where, path, "must hold boxes, cylinders or spheres")

    def build(self, parts: RigParts) -> Element:
        """Hulls on solids."""
        from skyrig.algebra import as_jax
        from skyrig.elements import surfaces
        from skyrig.elements.contact import SurfaceContact
        from skyrig.elements.strands import Strands
        from skyrig.scenario.elements.hulls import hulls_of

        def columns(rows: list[Any]) -> Any:
            return as_jax(np.moveaxis(np.asarray(rows, dtype=float), 0, -1).copy())

        kinds: list[surfaces.Surface] = []
        if self.boxes:
            turns = columns([_rotation(it.attitude) for it in self.boxes])
            halves = columns([np.asarray(it.size) / 2 for it in self.boxes])
            kinds.append(surfaces.Boxes(columns([it.centre for it in self.boxes]), halves, turns))
        if self.cylinders:
            size = (
                columns([it.radius for it in self.cylinders]),
                columns([it.height / 2 for it in self.cylinders]),
            )
            kinds.append(surfaces.Cylinders(columns([it.centre for it in self.cylinders]), *size))
        if self.spheres:
            radius = columns([it.radius for it in self.spheres])
            kinds.append(surfaces.Spheres(columns([it.centre for it in self.spheres]), radius))
        whole = kinds[0] if len(kinds) == 1 else surfaces.Union(tuple(kinds))
        strands = Strands.of(parts.tethers)
        return SurfaceContact(hulls_of(parts), whole, as_jax(np.asarray(self.friction)), "obstacles", strands)


def _rotation(attitude: Turn) -> np.ndarray:
    """The matrix of roll, pitch, yaw (rad), or of a yaw alone."""
    from skyrig.planning.reference import quaternion
    from skyrig.turns import turn

    angles = attitude if isinstance(attitude, tuple) else (0.0, 0.0, attitude)
    return turn(quaternion(np.asarray(angles, dtype=float))[None], np.eye(3)).T
