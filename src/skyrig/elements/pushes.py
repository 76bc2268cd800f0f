"""Forces and torques given as a table: each row holds from its time until the next."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.elements.around import Around
from skyrig.elements.element import Element
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.protocol import Wrench

NEAR = 1e-9
"""A row holds from this much before its time on (s): rounding of a step's start must not miss it."""


class Pushes(Element):
    """Wrenches by table. Steps are to be split at its times, since a row is looked up once a step."""

    since: Float[Array, "rows *batch"]
    """When each row begins to hold, in order (s)."""
    wrenches: dict[str, Wrench]
    """By group, (rows, 3, k, *batch); the batch may be 1 where all flights have the same."""

    def start(self, bodies: dict[str, Bodies]) -> dict[str, Wrench]:
        """The first row."""
        return self.advance(None, self.since[0], bodies, 0.0)

    def advance(
        self, memory: Any, t: ArrayLike, bodies: dict[str, Bodies], dt: ArrayLike
    ) -> dict[str, Wrench]:
        """The row that holds at `t` (s)."""
        shape = next(iter(bodies.values())).position.shape[2:]
        row = jnp.maximum((self.since <= jnp.asarray(t) + NEAR).sum(0) - 1, 0)

        def held(table: Array) -> Array:
            own = picked(table, row)
            return jnp.broadcast_to(own, own.shape[:2] + shape)

        return jax.tree.map(held, self.wrenches)

    def loads(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: Any, around: Around
    ) -> dict[str, Wrench]:
        """The row at hand."""
        return memory


def picked(table: Array, row: Array) -> Array:
    """Row `row`, one for all or one for each flight, of a table (rows, ..., batch or 1)."""
    if table.shape[0] == 1:
        return table[0]
    if row.ndim == 0 or row.shape == (1,):
        return jax.lax.dynamic_index_in_dim(table, row.reshape(()), keepdims=False)
    wide = jnp.broadcast_to(table, (*table.shape[:-1], row.shape[0]))
    spot = row.reshape((1,) * (table.ndim - 1) + row.shape)
    return jnp.take_along_axis(wide, spot, axis=0)[0]
