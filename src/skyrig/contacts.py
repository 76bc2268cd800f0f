"""What touches what: bodies, taut cables, the ground, the arena's walls; at many instants or in many flights.

One arithmetic for NumPy and JAX: a recorded flight's instants and a batch's flights both lie on the last axis
of every array. Vehicles are balls of their radius with propellers to each other, to cables and to the
payload, and flat discs of that radius to the ground and the arena. A payload is the prism around its
corners, a point mass a point. Vehicles on rigid links cannot move against each other: only ground and arena
are looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skyrig.arrays import namespace
from skyrig.hulls import TOUCH, Outlines, edges, plane_gap

Array = Any
"""A NumPy or a JAX array."""

DEPTH = 1e-2
"""How deep a cable may run inside the payload (m): thin plates may be held in the middle."""
NONE = -1
"""The contact of a flight without any."""
_MANY = 1 << 30
"""More than there are contacts."""


class Contact(NamedTuple):
    """Two things that touch."""

    kind: str
    """'ground', 'vehicles', 'payload-vehicle', 'cable-vehicle', 'cable-payload' or 'arena'."""
    first: int
    """Body (0 the payload, k + 1 vehicle k) or cable."""
    second: int
    """The other vehicle's body, or -1."""


def named(vehicles: int) -> list[Contact]:
    """The contacts that `touching` numbers, in order: of those at one instant the first counts."""
    listed = [Contact("ground", body, NONE) for body in range(vehicles + 1)]
    # also pairs of one with itself, and both orders, which never touch: all pairs are computed at once
    pairs = [(j, k) for j in range(vehicles) for k in range(vehicles)]
    listed += [Contact("vehicles", j + 1, k + 1) for j, k in pairs]
    listed += [Contact("payload-vehicle", 0, k + 1) for k in range(vehicles)]
    listed += [Contact("cable-vehicle", j, k + 1) for j, k in pairs]
    listed += [Contact("cable-payload", j, 0) for j in range(vehicles)]
    return listed + [Contact("arena", body, NONE) for body in range(vehicles + 1)]


def touching(
    it: Outlines,
    payload: tuple[Array, Array],
    vehicles: tuple[Array, Array],
    taut: Array,
    released: Array,
) -> Array:
    """Number of the first contact in `named`, (b,); -1 where nothing touches.

    Args:
        it: What things look like.
        payload: Position (3, b) (m) and attitude (4, b).
        vehicles: Position (3, n, b) (m) and attitude (4, n, b).
        taut: (n, b) cables that are taut; where a slack one hangs is not known. Without rows all are.
        released: (b,) flights whose payload was let go on purpose: it counts no more.
    """
    xp = namespace(*payload, *vehicles)
    n = vehicles[0].shape[1]
    low, high = _extents(xp, it, payload, vehicles)
    gone = xp.concatenate([released[None], xp.zeros_like(low[0, 1:], dtype=bool)])
    hits = [(low[2] < it.ground - TOUCH) & ~gone]
    if it.attachments.shape[0]:
        taut = taut if taut.shape[0] else xp.ones_like(vehicles[0][0], dtype=bool)
        hits += _collisions(xp, it, payload, vehicles, taut, released)
    beyond = (low < it.arena[0][:, None] - TOUCH) | (high > it.arena[1][:, None] + TOUCH)
    hits.append(beyond.any(0) & ~gone)
    # as `named` lists them, whether or not things can collide
    starts = np.cumsum([0, n + 1, n * n, n, n * n, n])
    first: Array = _MANY
    for hit, count in zip(hits, starts if len(hits) > 2 else starts[[0, -1]], strict=True):
        numbers = np.arange(count, count + hit.shape[0]).reshape(-1, *[1] * (hit.ndim - 1))
        least = xp.where(hit, numbers, _MANY).min(0)
        first = xp.minimum(first, least)
    return xp.where(first < _MANY, first, NONE)


def may_touch(
    it: Outlines, payload: tuple[Array, Array], vehicles: tuple[Array, Array], apart: Array
) -> Array:
    """Where `touching` is worth asking, (b,): False only where nothing touches, and cheap.

    Args:
        it: What things look like.
        payload: As for `touching`.
        vehicles: As for `touching`.
        apart: Their `vehicles_apart`.
    """
    xp = namespace(*payload, *vehicles)
    place, craft = payload[0], vehicles[0]
    flat = (it.outline * it.outline).sum(1).max(0)
    size = xp.sqrt(flat + (it.faces * it.faces).max(0))
    low, high = it.arena[0], it.arena[1]
    near = (place[2] - size < it.ground) | ((place - size < low) | (place + size > high)).any(0)
    out = (craft - it.radius < low[:, None]) | (craft + it.radius > high[:, None])
    near = near | ((craft[2] - it.radius < it.ground) | out.any(0)).any(0)
    if not it.attachments.shape[0]:
        return near
    n = craft.shape[1]
    others = ~np.eye(n, dtype=bool)[..., None]
    w, x, y, z = payload[1]
    axis = xp.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    away = craft - place[:, None]
    height = (axis[:, None] * away).sum(0)
    near = near | (xp.maximum(it.faces[0] - height, height - it.faces[1]) < it.radius).any(0)
    # cable j cannot reach vehicle k if neither of its ends comes that far along the line from vehicle j to k
    hook = xp.sqrt((it.hooks * it.hooks).sum(1))
    ends = _turned(xp, payload[1][:, None], xp.moveaxis(it.attachments, 1, 0)) - away
    line = craft[:, None] - craft[:, :, None]
    span = apart + it.radius[:, None] + it.radius[None]
    along = xp.maximum((ends[:, :, None] * line).sum(0), hook[:, None] * span)
    crossing = ((span - it.radius) * span <= along) & others
    sunk = (xp.minimum(height - hook, it.attachments[:, 2]) - it.faces[1] + DEPTH < 0) & it.outside
    return near | ((apart < 0) & others).any((0, 1)) | crossing.any((0, 1)) | sunk.any(0)


def _extents(xp: Any, it: Outlines, payload: Any, vehicles: Any) -> tuple[Array, Array]:
    """Lowest and highest coordinates (3, 1 + n, b) of the payload and of each vehicle, world (m)."""
    corners = xp.concatenate(
        [
            xp.stack([it.outline[:, 0], it.outline[:, 1], xp.broadcast_to(face, it.outline[:, 0].shape)])
            for face in it.faces
        ],
        axis=1,
    )
    places = payload[0][:, None] + _turned(xp, payload[1][:, None], corners)
    w, x, y, z = vehicles[1]
    axis = xp.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    reach = it.radius * xp.sqrt(xp.maximum(1 - axis * axis, 0.0))
    return (
        xp.concatenate([places.min(1)[:, None], vehicles[0] - reach], axis=1),
        xp.concatenate([places.max(1)[:, None], vehicles[0] + reach], axis=1),
    )


def _collisions(
    xp: Any, it: Outlines, payload: Any, vehicles: Any, taut: Array, released: Array
) -> list[Array]:
    """Contacts of vehicles, payload and cables with each other, in the order of `named`."""
    place, n = vehicles[0], vehicles[0].shape[1]
    back = payload[1] * np.array([1.0, -1.0, -1.0, -1.0]).reshape(4, *[1] * (payload[1].ndim - 1))
    # all pairs by broadcasting: picking them by index takes compiled loops longer
    apart = vehicles_apart(place, it.radius)
    local = _turned(xp, back[:, None], place - payload[0][:, None])
    near = _prism_gap(xp, it, local) - it.radius
    hooks = place + _turned(xp, vehicles[1], xp.moveaxis(it.hooks, 1, 0))
    points = xp.moveaxis(it.attachments, 1, 0)
    ends = payload[0][:, None] + _turned(xp, payload[1][:, None], points)
    side = _to_segment(xp, place[:, None], hooks[:, :, None], ends[:, :, None]) - it.radius
    ordered = np.triu(np.ones((n, n), dtype=bool), 1)[..., None]
    others = ~np.eye(n, dtype=bool)[..., None]
    local_hooks = _turned(xp, back[:, None], hooks - payload[0][:, None])
    inside = _runs_inside(xp, it, points, local_hooks) & it.outside
    kept = ~released
    return [
        ((apart < 0) & ordered).reshape(n * n, *apart.shape[2:]),
        (near < 0) & kept,
        ((side < 0) & others & taut[:, None]).reshape(n * n, *side.shape[2:]),
        inside & taut & kept,
    ]


def vehicles_apart(place: Array, radius: Array) -> Array:
    """Distance (n, n, b) between the surfaces of vehicles at `place` (3, n, b) (m); not on the diagonal."""
    xp = namespace(place, radius)
    return _size(xp, place[:, :, None] - place[:, None]) - radius[:, None] - radius[None]


def _turned(xp: Any, attitude: Array, vector: Array) -> Array:
    """Body vectors (3, ...) in the world frame of a quaternion (4, ...)."""
    w, axis = attitude[0], attitude[1:]
    twice = 2 * _cross(xp, axis, vector)
    return vector + w * twice + _cross(xp, axis, twice)


def _cross(xp: Any, a: Array, b: Array) -> Array:
    return xp.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _size(xp: Any, vector: Array) -> Array:
    return xp.sqrt((vector * vector).sum(0))


def _to_segment(xp: Any, point: Array, start: Array, end: Array) -> Array:
    """Distance from points to segments, components first (m)."""
    along = end - start
    share = ((point - start) * along).sum(0) / xp.maximum((along * along).sum(0), 1e-30)
    return _size(xp, start + xp.clip(share, 0.0, 1.0) * along - point)


def _prism_gap(xp: Any, it: Outlines, point: Array) -> Array:
    """Distance of points (3, m, b) of the payload frame from its surface, (m, b) (m); below zero inside."""
    begin, end = edges(it.outline)
    beside = _to_segment(xp, point[:2, None], begin[:, :, None], end[:, :, None]).min(0)
    if it.outline.shape[0] > 2:
        inner = plane_gap(it.outline, point[:2])
        beside = xp.where(inner > 0, beside, inner)
    above = xp.maximum(it.faces[0] - point[2], point[2] - it.faces[1])
    out = xp.sqrt(xp.maximum(beside, 0.0) ** 2 + xp.maximum(above, 0.0) ** 2)
    return out + xp.minimum(xp.maximum(beside, above), 0.0)


def _runs_inside(xp: Any, it: Outlines, start: Array, end: Array) -> Array:
    """Segments (3, n, b) of the payload frame that run deeper than `DEPTH` inside it, (n, b)."""
    if it.outline.shape[0] < 3:
        return xp.zeros_like(end[0], dtype=bool)
    begin, after = edges(it.outline)
    along = after - begin
    normal = xp.stack([along[1], -along[0]]) / xp.maximum(xp.sqrt((along * along).sum(0)), 1e-30)

    def gaps(point: Array) -> Array:
        sides = ((point[:2, None] - begin[:, :, None]) * normal[:, :, None]).sum(0)
        return xp.concatenate([sides, (it.faces[0] - point[2])[None], (point[2] - it.faces[1])[None]]) + DEPTH

    # of each side the part of the segment that lies behind it; inside is where all of these overlap
    first, last = xp.broadcast_arrays(gaps(start), gaps(end))
    slope = last - first
    root = -first / xp.where(slope == 0, 1.0, slope)
    since = xp.where(slope < 0, root, xp.where((slope == 0) & (first > 0), 2.0, 0.0))
    until = xp.where(slope > 0, root, 1.0)
    return xp.clip(since.max(0), 0.0, None) < xp.clip(until.min(0), None, 1.0)
