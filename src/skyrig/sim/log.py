"""What resets leave behind: when each happened, what it did, where bodies were on both sides of it."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from skyrig.algebra import as_jax
from skyrig.programs import Shapes

OK, LOG_FULL, TOO_MANY, UNSOLVED, TOO_FAST, NOT_FINITE = range(6)
"""Troubles a log can report, and one more that whoever flies may find."""


class Sides(eqx.Module):
    """Bodies by group just before a reset and just after it."""

    before: Any
    after: Any


class Log(eqx.Module):
    """Resets in the order they happened; rows beyond `count` are blank."""

    step: Int[Array, "rows *batch"]
    """Index of the step a reset happened in."""
    offset: Float[Array, "rows *batch"]
    """Time since the start of that step (s)."""
    located: Bool[Array, "rows *batch"]
    """Whether the time was found as a guard's crossing (else the reset was due at once)."""
    reset: Any
    """What the reset did, rig by rig, with rows in front; None for a rig that never jumps."""
    sides: Sides | None
    """With rows in front; None if nobody asked for them."""
    count: Int[Array, "*batch"]
    trouble: Int[Array, "*batch"]

    @staticmethod
    def empty(plant: Any, state: Any, rows: int, sides: bool = False) -> Log:
        """A log with room for `rows` resets, and for both sides of each if asked."""
        like = plant.like(state)
        batch = like.shape
        bodies = plant.bodies(state) if sides and plant.jumps else None
        blank = (
            plant.rig.blank(state.rig) if plant.jumps else None,
            None if bodies is None else Sides(bodies, bodies),
        )
        reset, both = jax.tree.map(lambda leaf: jnp.zeros((rows, *leaf.shape), leaf.dtype), blank)
        return Log(
            step=jnp.full((rows, *batch), -1, jnp.int32),
            offset=jnp.zeros((rows, *batch), like.dtype),
            located=jnp.zeros((rows, *batch), bool),
            reset=reset,
            sides=both,
            count=jnp.zeros(batch, jnp.int32),
            trouble=jnp.full(batch, OK, jnp.int32),
        )

    @staticmethod
    def ready(plant: Any, state: Any, rows: int, sides: bool = False) -> Log:
        """As `empty`, made without compiling anything."""
        shapes = _shapes(plant, state, rows, sides)
        blank: Log = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)
        return jax.tree.map(as_jax, eqx.tree_at(lambda log: log.step, blank, blank.step - 1))

    def written(
        self, lanes: Array, index: ArrayLike, offset: Array, located: Array, reset: Any, sides: Sides | None
    ) -> Log:
        """This log with one more row for the flights in `lanes`."""
        rows = self.step.shape[0]
        here = lanes & (jnp.arange(rows).reshape((rows,) + (1,) * lanes.ndim) == self.count)

        def put(column: Array, entry: Array) -> Array:
            extra = column.ndim - here.ndim
            spot = here.reshape((rows,) + (1,) * extra + here.shape[1:])
            return jnp.where(spot, entry, column)

        full = lanes & (self.count >= rows)
        trouble = jnp.where(full, LOG_FULL, self.trouble)
        trouble = jnp.where(lanes & ~reset.solved, UNSOLVED, trouble)
        return Log(
            step=put(self.step, jnp.asarray(index, jnp.int32)),
            offset=put(self.offset, offset),
            located=put(self.located, located),
            reset=jax.tree.map(put, self.reset, reset),
            sides=None if self.sides is None else jax.tree.map(put, self.sides, sides),
            count=self.count + (lanes & ~full),
            trouble=trouble,
        )

    def complaining(self, trouble: Int[Array, "*batch"]) -> Log:
        """This log with other troubles."""
        return eqx.tree_at(lambda log: log.trouble, self, trouble)


_shapes = Shapes(Log.empty)
