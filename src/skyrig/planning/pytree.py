"""References as JAX pytrees, registered only once JAX is there.

Equinox would import JAX with every scenario that is merely read and checked. Plain frozen
dataclasses do not; they become pytrees the first time one is made (or sampled) after JAX was
imported. Code that hands references to JAX may also call `register` itself.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

_waiting: list[type] = []


class Tree:
    """Base of frozen dataclasses that JAX sees as pytrees: fields are leaves unless `static`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _waiting.append(cls)

    def __post_init__(self) -> None:
        register()

    def leaves(self) -> list[Any]:
        """Its arrays, through nested trees and tuples, without asking JAX."""
        node: Any = self  # every class derived from Tree becomes a dataclass
        kept = [it.name for it in dataclasses.fields(node) if not it.metadata.get("static")]
        return [leaf for name in kept for leaf in _leaves(getattr(self, name))]


def static(**kwargs: Any) -> Any:
    """A dataclass field that JAX compiles for (an order, a name), never a leaf."""
    return dataclasses.field(metadata={"static": True}, **kwargs)


def register() -> None:
    """Make every `Tree` dataclass a pytree, if JAX has been imported; cheap to call again."""
    if not _waiting:
        return
    jax = sys.modules.get("jax")
    if jax is None or not hasattr(jax, "tree_util"):  # not imported, or half-way through its import
        return
    while _waiting:
        cls = _waiting.pop()
        if "__dataclass_fields__" in cls.__dict__:  # an abstract class in between is none
            _register(jax.tree_util, cls)


def _register(tree_util: Any, cls: Any) -> None:
    fields = dataclasses.fields(cls)
    fixed = [f.name for f in fields if f.metadata.get("static")]
    names = [f.name for f in fields if not f.metadata.get("static")]

    def flatten(tree: Any) -> tuple[list[Any], tuple[Any, ...]]:
        keyed = [(tree_util.GetAttrKey(name), getattr(tree, name)) for name in names]
        return keyed, tuple(getattr(tree, name) for name in fixed)

    def unflatten(aux: tuple[Any, ...], children: Any) -> Any:
        # Not through __init__: JAX also fills trees with placeholders, which no check would let pass.
        tree = object.__new__(cls)
        for name, value in zip([*names, *fixed], [*children, *aux], strict=True):
            object.__setattr__(tree, name, value)
        return tree

    tree_util.register_pytree_with_keys(cls, flatten, unflatten)


def _leaves(tree: object) -> list[Any]:
    if isinstance(tree, Tree):
        return tree.leaves()
    if isinstance(tree, tuple | list):
        return [leaf for item in tree for leaf in _leaves(item)]
    return [tree]
