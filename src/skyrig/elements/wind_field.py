"""Wind that differs from place to place, by a table on a grid."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.elements.air import Air


class WindField(Air):
    """Wind between the points of a grid, straight along each axis; beyond it as at its edge."""

    origin: Float[Array, "3 1 *batch"]
    """The first grid point (m)."""
    spacing: Float[Array, "3 1 *batch"]
    """Between two (m)."""
    table: Float[Array, "x y z 3 *batch"]
    """Wind at the grid points (m/s)."""

    def wind(
        self, t: ArrayLike, place: Float[Array, "3 k *batch"], memory: Any
    ) -> Float[Array, "3 k *batch"]:
        """Trilinear in the cell around each place."""
        shape = self.table.shape[:3]
        flat = self.table.reshape((-1, *self.table.shape[3:]))
        lane = flat.shape[2] if flat.ndim > 2 else 0
        spot = (place - self.origin) / self.spacing
        cells, shares = [], []
        for axis, count in enumerate(shape):
            inside = jnp.clip(spot[axis], 0.0, count - 1.0)
            cell = jnp.clip(jnp.floor(inside), 0, max(count - 2, 0)).astype(jnp.int32)
            cells.append(cell)
            shares.append(inside - cell)
        total = jnp.zeros_like(place)
        for corner in range(8):
            step = [min(corner >> axis & 1, count - 1) for axis, count in enumerate(shape)]
            on = [corner >> axis & 1 for axis in range(3)]
            weight = jnp.ones_like(place[0])
            for share, far in zip(shares, on, strict=True):
                weight = weight * (share if far else 1 - share)
            x, y, z = (cell + extra for cell, extra in zip(cells, step, strict=True))
            row = (x * shape[1] + y) * shape[2] + z
            if lane > 1:  # a table for every flight
                found = flat[row, :, jnp.broadcast_to(jnp.arange(lane), row.shape)]
            else:
                found = (flat if lane == 0 else flat[..., 0])[row]
            total = total + weight * jnp.moveaxis(found, -1, 0)
        return total
