"""What an element is: a force law with, perhaps, a memory of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from skyrig.elements.around import Around
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.layout import Layout, SignalKind
from skyrig.rigs.protocol import Solid, Wrench


@dataclass(frozen=True)
class Happening:
    """Something that an element did to a body at an instant."""

    time: float
    """When (s)."""
    kind: str
    group: str
    index: int
    """To which body of the group."""
    value: float = 0.0
    unit: str = ""
    """Of the value; '' if none goes with it."""


class Element(eqx.Module):
    """A force law. Numbers are array leaves, so that changing one never compiles again.

    `loads` is asked at every stage of every step; it depends on nothing but its arguments. What an element
    remembers (the weather, a contact's anchor) changes between steps only, in `advance`. In a batch every
    array has one axis more behind, of extent 1 where all flights have the same.
    """

    def start(self, bodies: dict[str, Bodies]) -> Any:
        """The memory to begin with, a pytree; None for none."""
        return None

    def advance(self, memory: Any, t: ArrayLike, bodies: dict[str, Bodies], dt: ArrayLike) -> Any:
        """The memory for the step of `dt` (s) that begins at `t` (s)."""
        return memory

    def loads(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: Any, around: Around
    ) -> dict[str, Wrench]:
        """What it does to the bodies of each group; nothing, unless it says so.

        Args:
            t: Now (s).
            bodies: Where all bodies are, by group, (3, k, *batch).
            memory: What `advance` returned.
            around: What else there is: the rotors' thrusts, and the wind at any place.
        """
        return {}

    def stepped(
        self,
        memory: Any,
        t: ArrayLike,
        bodies: dict[str, Bodies],
        dt: ArrayLike,
        flies: Bool[Array, "*batch"],
    ) -> Any:
        """`advance` where a flight `flies`, else the memory as it is."""
        later = self.advance(memory, t, bodies, dt)
        return jax.tree.map(lambda new, old: jnp.where(flies, new, old), later, memory)

    def wind(
        self, t: ArrayLike, place: Float[Array, "3 k *batch"], memory: Any
    ) -> Float[Array, "3 k *batch"] | None:
        """How it moves the air at some places, world frame (m/s); None for an element that does not."""
        return None

    def solid(self) -> Solid | None:
        """What it is made of, for rigs that touch it with more than their bodies; None for thin air."""
        return None

    def signal_kinds(self, layout: Layout) -> tuple[SignalKind, ...]:
        """The signals it tells, for a rig of this layout."""
        return ()

    def signals(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: Any, around: Around
    ) -> dict[str, Float[Array, "count *batch"]]:
        """Values of its signals, by name."""
        return {}

    def happened(
        self, times: npt.NDArray[np.float64], told: Mapping[str, npt.NDArray[Any]], layout: Layout
    ) -> list[Happening]:
        """What happened to bodies in a flight, from its signals; in plain NumPy, after the flight.

        Args:
            times: (T,) s.
            told: All signals by name, (T, count).
            layout: The rig's.
        """
        return []
