"""What an element is: a force law with, perhaps, a memory of its own."""

from __future__ import annotations

from typing import Any

import equinox as eqx
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.rigs.bodies import Bodies
from skyrig.rigs.protocol import Wrench


class Element(eqx.Module):
    """A force law. Numbers are array leaves, so that changing one never compiles again.

    `loads` is asked at every stage of every step; it depends on nothing but its arguments. What an element
    remembers (the weather, a contact's anchor) changes between steps only, in `advance`.
    """

    def start(self, bodies: dict[str, Bodies]) -> Any:
        """The memory to begin with, a pytree; None for none."""
        return None

    def advance(self, memory: Any, t: ArrayLike, bodies: dict[str, Bodies], dt: ArrayLike) -> Any:
        """The memory for the step of `dt` (s) that begins at `t` (s)."""
        return memory

    def loads(
        self,
        t: ArrayLike,
        bodies: dict[str, Bodies],
        memory: Any,
        rotors: Float[Array, "r n *batch"] | None,
    ) -> dict[str, Wrench]:
        """What it does to the bodies of each group.

        Args:
            t: Now (s).
            bodies: Where all bodies are, by group, (3, k, *batch).
            memory: What `advance` returned.
            rotors: Thrust of every rotor (N); None where nobody knows (thrusts given by hand).
        """
        raise NotImplementedError
