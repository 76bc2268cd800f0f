"""Nodes of cables on the ground and on obstacles: they stand on it, slide along it, and lift off.

A node at depth d is pressed out by a spring and a damper that only push, N = k d + c d', and rubbed by
mu N v / sqrt(v^2 + v_c^2) against its speed v along the surface: Coulomb's friction but for a creep below
v_c. Both are solved for with the rest of the step, so that neither bounds its length, however light the
node. The segments between nodes touch nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from skyrig.algebra import dot
from skyrig.rigs.elastic.parameters import ElasticState, Segments
from skyrig.rigs.protocol import Solid

STIFFNESS = 1e4
"""k of a node on a surface (N/m)."""
CREEP = 1e-3
"""v_c: about how fast a node creeps that is pulled nearly as hard as friction holds (m/s)."""

Solids = tuple[Solid, ...]


class Near(NamedTuple):
    """The surface next to each node."""

    gap: Float[Array, "nodes n *batch"]
    """Below zero inside (m)."""
    normal: Float[Array, "3 nodes n *batch"]
    friction: Any


class NodeTouch(NamedTuple):
    """What a surface does to nodes."""

    normal: Float[Array, "3 nodes n *batch"]
    press: Float[Array, "nodes n *batch"]
    """N (N)."""
    slope: Float[Array, "nodes n *batch"]
    """How it grows with the depth at a stage's end (N/m)."""
    rub: Float[Array, "nodes n *batch"]
    """Friction over the speed along the surface (N s/m)."""
    slip: Float[Array, "3 nodes n *batch"] | None
    """Along which friction no longer grows with the speed, up to one long; None to have it grow all around,
    which is too stiff for one turn but makes many turns converge."""

    def stiff(self, g: Any) -> Float[Array, "3 3 nodes n *batch"]:
        """What it adds to the nodes' masses over a stage of `g` (s) (kg)."""
        eye = jnp.eye(3, dtype=self.press.dtype).reshape((3, 3) + (1,) * self.press.ndim)
        across = self.normal[:, None] * self.normal[None]
        along = eye - across
        if self.slip is not None:
            along = along - self.slip[:, None] * self.slip[None]
        return g * (g * self.slope * across + self.rub * along)

    def force(self, velocity: Array) -> Float[Array, "3 nodes n *batch"]:
        """On nodes of this velocity (N)."""
        along = velocity - dot(velocity, self.normal) * self.normal
        return self.press * self.normal - self.rub * along


Floor = Callable[[Array, Array], NodeTouch]
"""From places and velocities of nodes to what they touch."""


def nearest(solids: Solids, place: Float[Array, "3 nodes n *batch"]) -> Near:
    """How far nodes are from the nearest of all solids."""
    flat = place.reshape((3, -1, *place.shape[3:]))
    found = None
    for solid in solids:
        gap, normal = solid.surface.gap(flat)
        rough = jnp.broadcast_to(solid.friction, gap.shape)
        if found is None:
            found = gap, normal, rough
            continue
        first = gap < found[0]
        found = tuple(jnp.where(first, a, b) for a, b in zip((gap, normal, rough), found, strict=True))
    assert found is not None
    return Near(*(leaf.reshape((*leaf.shape[: -len(flat.shape[1:])], *place.shape[1:])) for leaf in found))


def damping(segment: Segments) -> Float[Array, "n *batch"]:
    """Of a node on a surface, c (N s/m): critical for the node alone."""
    return 2 * jnp.sqrt(STIFFNESS * segment.node_mass)


def _touch(near: Near, velocity: Array, press: Array, slope: Any, exact: bool = False) -> NodeTouch:
    on = (press > 0).astype(press.dtype)
    press = press * on
    along = velocity - dot(velocity, near.normal) * near.normal
    speed = jnp.sqrt(dot(along, along) + CREEP**2)
    return NodeTouch(
        near.normal, press, slope * on, near.friction * press / speed, along / speed if exact else None
    )


def smooth_floor(solids: Solids, segment: Segments, on: Bool[Array, "nodes n *batch"], g: Any) -> Floor:
    """The nodes in `on` held by spring and damper over a stage of `g` (s), as long as they are pressed."""
    c = damping(segment)

    def floor(place: Array, velocity: Array) -> NodeTouch:
        near = nearest(solids, place)
        press = -STIFFNESS * near.gap - c * dot(velocity, near.normal)
        return _touch(near, velocity, jnp.where(on, press, 0.0), STIFFNESS + c / g, exact=True)

    return floor


def rough_floor(solids: Solids, segment: Segments, before: Float[Array, "3 nodes n *batch"], g: Any) -> Floor:
    """Nodes that were at `before`, the damper acting over depths: convex, as the segments are."""
    c = damping(segment)
    slope = STIFFNESS + c / g
    zero = c / g * jnp.maximum(-nearest(solids, before).gap, 0.0) / slope

    def floor(place: Array, velocity: Array) -> NodeTouch:
        near = nearest(solids, place)
        return _touch(near, velocity, slope * (-near.gap - zero), slope)

    return floor


def now(solids: Solids, segment: Segments, place: Array, velocity: Array) -> NodeTouch:
    """What surfaces do to nodes at an instant."""
    near = nearest(solids, place)
    inside = near.gap < 0
    press = -STIFFNESS * near.gap - damping(segment) * dot(velocity, near.normal)
    return _touch(near, velocity, jnp.where(inside, press, 0.0), STIFFNESS)


def pressed(solids: Solids, state: ElasticState) -> Float[Array, "*batch"]:
    """Energy in what nodes press into (J)."""
    depth = jnp.maximum(-nearest(solids, state.nodes.position).gap, 0.0)
    return (STIFFNESS / 2 * depth**2).sum((0, 1))
