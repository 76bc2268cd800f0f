"""Surfaces by signed distance: how far a point is from what it may touch, and which way is out."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import dot

Gap = Float[Array, "p *batch"]
Ways = Float[Array, "3 p *batch"]


class Surface(eqx.Module):
    """Something to touch."""

    def gap(self, place: Ways) -> tuple[Gap, Ways]:
        """Distance of points from it (m), below zero inside, and its outward normal there."""
        raise NotImplementedError


class Planes(Surface):
    """Ground below planes: a floor and slopes. A point is inside if it is below any of them."""

    normal: Float[Array, "3 s *batch"]
    """Upwards, of length one."""
    offset: Float[Array, "s *batch"]
    """Distance from the origin along the normal (m)."""

    def gap(self, place: Ways) -> tuple[Gap, Ways]:
        """See `Surface.gap`."""
        each = dot(self.normal[:, None], place[:, :, None]) - self.offset
        if each.shape[1] == 1:
            return each[:, 0], jnp.broadcast_to(self.normal[:, :1], place.shape)
        return _least(each, jnp.broadcast_to(self.normal[:, None], (3, *each.shape)))


class Boxes(Surface):
    """Solid boxes, turned as one likes."""

    centre: Float[Array, "3 s *batch"]
    half: Float[Array, "3 s *batch"]
    """Half of the size along each of its axes (m)."""
    turn: Float[Array, "3 3 s *batch"]
    """From its frame to the world."""

    def gap(self, place: Ways) -> tuple[Gap, Ways]:
        """See `Surface.gap`."""
        apart = place[:, :, None] - self.centre[:, None]
        own = (self.turn[:, :, None] * apart[:, None]).sum(0)
        gap, way = _cornered(jnp.abs(own) - self.half[:, None])
        out = jnp.where(own < 0, -way, way)
        return _least(gap, (self.turn[:, :, None] * out[None]).sum(1))


class Cylinders(Surface):
    """Solid upright cylinders."""

    centre: Float[Array, "3 s *batch"]
    radius: Float[Array, "s *batch"]
    half: Float[Array, "s *batch"]
    """Half of the height (m)."""

    def gap(self, place: Ways) -> tuple[Gap, Ways]:
        """See `Surface.gap`."""
        apart = place[:, :, None] - self.centre[:, None]
        across = _size(apart[:2])
        gap, way = _cornered(jnp.stack([across - self.radius, jnp.abs(apart[2]) - self.half]))
        side = way[0] * apart[:2] / jnp.maximum(across, 1e-12)
        up = jnp.where(apart[2] < 0, -way[1], way[1])
        return _least(gap, jnp.concatenate([side, up[None]]))


class Spheres(Surface):
    """Solid balls."""

    centre: Float[Array, "3 s *batch"]
    radius: Float[Array, "s *batch"]

    def gap(self, place: Ways) -> tuple[Gap, Ways]:
        """See `Surface.gap`."""
        apart = place[:, :, None] - self.centre[:, None]
        size = _size(apart)
        return _least(size - self.radius, apart / jnp.maximum(size, 1e-12))


class Union(Surface):
    """Several at once: the nearest counts."""

    parts: tuple[Surface, ...]

    def gap(self, place: Ways) -> tuple[Gap, Ways]:
        """See `Surface.gap`."""
        gap, way = self.parts[0].gap(place)
        for part in self.parts[1:]:
            other, out = part.gap(place)
            way = jnp.where(other < gap, out, way)
            gap = jnp.minimum(gap, other)
        return gap, way


def _least(gap: Float[Array, "p s *batch"], way: Float[Array, "3 p s *batch"]) -> tuple[Gap, Ways]:
    """The nearest of several, point by point."""
    best, out = gap[:, 0], way[:, :, 0]
    for k in range(1, gap.shape[1]):
        out = jnp.where(gap[:, k] < best, way[:, :, k], out)
        best = jnp.minimum(best, gap[:, k])
    return best, out


def _cornered(beyond: Float[Array, "a p s *batch"]) -> tuple[Array, Array]:
    """Distance from a box (or a cylinder's section) and the way out, from how far it is past its faces."""
    most = beyond.max(0)
    outer = jnp.maximum(beyond, 0.0)
    size = _size(outer)
    inside = most <= 0
    face = (beyond == most).astype(beyond.dtype)
    return jnp.where(inside, most, size), jnp.where(inside, face, outer / jnp.maximum(size, 1e-12))


def _size(vector: Array) -> Array:
    return jnp.sqrt(jnp.maximum(dot(vector, vector), 1e-24))
