"""Trees of small arrays as rows of one array.

Inside a compiled loop every array that is read or written by index costs a dispatch of its own; a flight's
targets, records and a pilot's memory are dozens of arrays of a few numbers. As one row they cost one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from skyrig.arrays import namespace


@dataclass(frozen=True)
class Packing:
    """How the leaves of a tree lie in a row; booleans and whole numbers become reals, exactly."""

    structure: Any
    shapes: tuple[tuple[int, ...] | None, ...]
    """Of the leaves; None for what is no array, which is kept as it is and does not lie in the row."""
    dtypes: tuple[Any, ...]
    """Of the leaves, or what is no array itself."""
    real: Any

    @staticmethod
    def of(tree: Any, real: Any, lead: int = 0) -> Packing:
        """The layout of `tree` in rows of dtype `real`, `lead` axes in front of its leaves left out."""
        leaves, structure = jax.tree.flatten(tree)
        return Packing(
            structure,
            tuple(leaf.shape[lead:] if hasattr(leaf, "dtype") else None for leaf in leaves),
            tuple(getattr(leaf, "dtype", leaf) for leaf in leaves),
            real,
        )

    def pack(self, tree: Any, lead: int = 0) -> Any:
        """A tree as a row, or as rows with `lead` axes in front of every leaf; in NumPy or JAX as it is."""
        leaves = [leaf for leaf in jax.tree.leaves(tree) if hasattr(leaf, "dtype")]
        if not leaves:
            return jnp.zeros(0, self.real)
        return namespace(*leaves).concatenate(
            [self._real(leaf).reshape((*leaf.shape[:lead], -1)) for leaf in leaves], axis=-1
        )

    def _real(self, leaf: Any) -> Any:
        return leaf if leaf.dtype == self.real else leaf.astype(self.real)

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return sum(math.prod(shape) for shape in self.shapes if shape is not None)

    def unpack(self, rows: Any) -> Any:
        """The tree of a row, or of rows with more axes in front, in NumPy or JAX as they are."""
        leaves, at = [], 0
        for shape, dtype in zip(self.shapes, self.dtypes, strict=True):
            if shape is None:
                leaves.append(dtype)
                continue
            size = math.prod(shape)
            part = rows[..., at : at + size].reshape((*rows.shape[:-1], *shape))
            leaves.append(part if part.dtype == dtype else part.astype(dtype))
            at += size
        return jax.tree.unflatten(self.structure, leaves)


class Packed(eqx.Module):
    """A tree as a row, or a stack of trees as rows."""

    rows: Any
    """In NumPy or JAX."""
    layout: Packing = eqx.field(static=True)

    @staticmethod
    def of(tree: Any, real: Any, lead: int = 0) -> Packed:
        """`tree` packed, its leaves having `lead` axes in front that become those of the rows."""
        layout = Packing.of(tree, real, lead)
        return Packed(layout.pack(tree, lead), layout)

    def tree(self) -> Any:
        """What was packed."""
        return self.layout.unpack(self.rows)

    def row(self, index: Array) -> Any:
        """The tree of one row."""
        return self.layout.unpack(jax.lax.dynamic_index_in_dim(self.rows, index, keepdims=False))

    def changed(self, change: Any) -> Packed:
        """The packed tree after `change`."""
        return Packed(self.layout.pack(change(self.tree())), self.layout)
