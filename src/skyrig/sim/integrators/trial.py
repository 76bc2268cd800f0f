"""What one step of an integrator gives."""

from __future__ import annotations

from typing import Any, NamedTuple

from jaxtyping import Array, Bool

from skyrig.rigs.protocol import Watch


class Trial(NamedTuple):
    """A step tried; guards are None for a plant that never jumps."""

    end: Any
    """The state at the end, with the drift of the step still in it."""
    first: Watch | None
    """Guards at the start."""
    due: Bool[Array, "*batch"] | None
    """Whether a reset is due at the start."""
    middle: Watch | None
    """Guards about halfway."""
    failed: Bool[Array, "*batch"] | None = None
    """Whether the step's equations could not be solved; None for a method that solves none."""


def same(tree: Any) -> Any:
    """No fence at all."""
    return tree
