"""What bodies look like and where they may be, for `skyrig.contacts`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from skyrig.arrays import namespace

Array = Any
"""A NumPy or a JAX array."""
TOUCH = 1e-3
"""How deep a body may be in the ground or beyond a wall (m): one that rests on it is no contact."""


class Outlines(NamedTuple):
    """What bodies look like and where they may be; last comes the batch, or 1 where all have the same."""

    radius: Array
    """(n, b) of the vehicles, with propellers (m)."""
    outline: Array
    """(k, 2, b) corners of the payload seen from above, counter-clockwise and convex, payload frame (m)."""
    faces: Array
    """(2, b) the payload's lower and upper end along its z axis (m)."""
    attachments: Array
    """(n, 3, b) payload frame (m); no rows where links hold the vehicles."""
    hooks: Array
    """(n, 3, b) vehicles' frames (m); no rows where links hold the vehicles."""
    outside: Array
    """(n, b) cables that are attached to the payload's surface, not within."""
    ground: Array
    """(b,) height of the ground (m); minus infinity for none."""
    arena: Array
    """(2, 3, b) lowest and highest corner of the box to stay in (m); infinite for none."""


def outlines(
    corners: np.ndarray,
    radius: np.ndarray,
    attachments: np.ndarray,
    hooks: np.ndarray,
    ground: float | None,
    arena: np.ndarray | None,
) -> Outlines:
    """The outlines of one rig, without the last axis.

    Args:
        corners: (c, 3) of the payload, in its frame (m).
        radius: (n,) of the vehicles, with propellers (m).
        attachments: (n, 3) of the cables, payload frame (m); none for rigid links.
        hooks: (n, 3) of the cables, vehicles' frames (m); none for rigid links.
        ground: Its height (m), if there is one.
        arena: (2, 3) its lowest and highest corner (m), if there is one.
    """
    outline, faces, outside = _payload(_bytes(corners), _bytes(attachments))
    return Outlines(
        radius=np.asarray(radius, dtype=np.float64),
        outline=outline,
        faces=faces,
        attachments=np.asarray(attachments, dtype=np.float64),
        hooks=np.asarray(hooks, dtype=np.float64),
        outside=outside,
        ground=np.asarray(-np.inf if ground is None else ground, dtype=np.float64),
        arena=np.array([[-np.inf] * 3, [np.inf] * 3] if arena is None else arena, dtype=np.float64),
    )


def hull_size(corners: np.ndarray) -> int:
    """How many corners a payload's outline has, seen from above."""
    return len(_payload(_bytes(corners), b"")[0])


@lru_cache(maxsize=256)
def _payload(corners: bytes, attachments: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A payload's outline and faces, and which attachments are on its surface; kept for flights alike."""
    points, held = (np.frombuffer(it).reshape(-1, 3) for it in (corners, attachments))
    outline = convex_hull(points[:, :2])
    faces = np.array([points[:, 2].min(), points[:, 2].max()])
    beside = plane_gap(outline[..., None], held.T[:2, :, None])[..., 0]
    above = np.maximum(faces[0] - held[:, 2], held[:, 2] - faces[1])
    return outline, faces, np.maximum(beside, above) > -TOUCH


def _bytes(array: np.ndarray) -> bytes:
    return np.ascontiguousarray(array, dtype=np.float64).tobytes()


def convex_hull(points: np.ndarray) -> np.ndarray:
    """The corners of the convex hull of points (m, 2) in the plane, counter-clockwise (k, 2)."""
    ordered = np.unique(np.asarray(points, dtype=np.float64), axis=0)  # sorted by x, then y
    if len(ordered) < 3:
        return ordered

    def half(given: np.ndarray) -> list[np.ndarray]:
        chain: list[np.ndarray] = []
        for point in given:
            while len(chain) > 1:
                along, on = chain[-1] - chain[-2], point - chain[-2]
                if along[0] * on[1] - along[1] * on[0] > 0:
                    break
                chain.pop()
            chain.append(point)
        return chain[:-1]

    return np.array([*half(ordered), *half(ordered[::-1])])


def edges(outline: Array) -> tuple[Array, Array]:
    """Where the sides of an outline (k, 2, b) begin and end, components first: (2, k, b) each."""
    begin = outline.swapaxes(0, 1)
    turns = np.r_[1 : outline.shape[0], 0]
    return begin, begin[:, turns]


def plane_gap(outline: Array, point: Array) -> Array:
    """How far points (2, m, b) are outside the sides of an outline, (m, b) (m); below zero inside."""
    xp = namespace(outline, point)
    begin, end = edges(outline)
    along = end - begin
    size = xp.maximum(xp.sqrt((along * along).sum(0)), 1e-30)
    normal = xp.stack([along[1], -along[0]]) / size
    gaps = ((point[:, None] - begin[:, :, None]) * normal[:, :, None]).sum(0)
    return gaps.max(0)
