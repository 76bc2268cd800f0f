"""Solid objects that fingers touch: how far points are from their surface, and what they stand on."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig.algebra import as_jax

ROUNDING = 0.15
"""Radius at which edges of boxes and cylinders are rounded, as a share of their least half extent."""


class GraspedSolid(eqx.Module):
    """A solid in its own frame."""

    size: Float[Array, "3"]
    """Ball: radius; cylinder: radius, -, half height; box: half extents (m)."""
    rounding: Float[Array, ""]
    """Radius of the edges (m)."""
    planes: Float[Array, "faces 4"]
    """Of a convex body: outward normals and distances from the origin (m)."""
    corners: Float[Array, "corners 3"]
    """What it stands on (m); a ball stands on whatever of it is lowest."""
    kind: str = eqx.field(static=True)
    """'ball', 'cylinder', 'box' or 'convex'."""

    @staticmethod
    def of(shape: Any) -> GraspedSolid:
        """From a payload's shape: ball, box, cylinder, or anything else by the convex hull of its corners."""
        kind = {"point": "ball", "box": "box", "cylinder": "cylinder"}.get(shape.kind, "convex")
        planes, corners = np.zeros((0, 4)), np.asarray(shape.corners, dtype=np.float64)
        if kind == "ball":
            size = np.array([shape.radius] * 3)
        elif kind == "box":
            size = np.asarray(shape.size) / 2
        elif kind == "cylinder":
            size = np.array([shape.radius, shape.radius, shape.height / 2])
            corners = corners[::3]
        else:
            from scipy.spatial import ConvexHull

            hull = ConvexHull(corners)
            planes = np.unique(np.c_[hull.equations[:, :3], -hull.equations[:, 3]].round(9), axis=0)
            size = np.abs(corners).max(0)
        rounding = ROUNDING * size.min() if kind in ("box", "cylinder") else 0.0
        if kind in ("box", "cylinder"):
            corners = corners * np.where(np.abs(corners) > 0, 1 - 0.3 * rounding / size, 1.0)
            corners[:, 2] = np.sign(corners[:, 2]) * size[2]
        return GraspedSolid(as_jax(size), as_jax(rounding), as_jax(planes), as_jax(corners), kind)


def distance(
    solid: GraspedSolid, place: Float[Array, "*points 3"]
) -> tuple[Float[Array, "*points"], Float[Array, "*points 3"]]:
    """Of points in the solid's frame from its surface (m), below zero inside, and the way out."""
    if solid.kind == "ball":
        far = jnp.sqrt((place * place).sum(-1) + 1e-16)
        return far - solid.size[0], place / far[..., None]
    if solid.kind == "convex":
        each = place @ solid.planes[:, :3].T - solid.planes[:, 3]
        which = each.argmax(-1)
        return each.max(-1), solid.planes[which, :3]
    if solid.kind == "box":
        beyond = jnp.abs(place) - (solid.size - solid.rounding)
        gap, way = _rounded(beyond, solid.rounding)
        return gap, way * jnp.where(place < 0, -1.0, 1.0)
    out = jnp.sqrt(place[..., 0] ** 2 + place[..., 1] ** 2 + 1e-16)
    flat = jnp.stack([out, jnp.abs(place[..., 2])], -1)
    gap, way = _rounded(flat - (solid.size[jnp.array([0, 2])] - solid.rounding), solid.rounding)
    up = way[..., 1] * jnp.where(place[..., 2] < 0, -1.0, 1.0)
    return gap, jnp.stack([way[..., 0] * place[..., 0] / out, way[..., 0] * place[..., 1] / out, up], -1)


def _rounded(beyond: Array, rounding: Array) -> tuple[Array, Array]:
    """Distance and direction from how far points are beyond the flat faces, edge by edge."""
    most = beyond.max(-1)
    part = jnp.maximum(beyond, 0.0)
    far = jnp.sqrt((part * part).sum(-1) + 1e-24)
    outside = most > 0
    face = (beyond == most[..., None]) * 1.0
    face = face / face.sum(-1, keepdims=True)
    return jnp.where(outside, far, most) - rounding, jnp.where(
        outside[..., None], part / far[..., None], face
    )
