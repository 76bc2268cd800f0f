"""What moves the air: the base of winds, which tell how they blow at every body."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.elements.around import Around
from skyrig.elements.element import Element
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.layout import Layout, SignalKind

AXES = ("x", "y", "z")


class Air(Element):
    """An element that blows. Whatever feels wind feels the sum of all of them."""

    def signal_kinds(self, layout: Layout) -> tuple[SignalKind, ...]:
        """The whole wind at every body, by group in the layout's order."""
        return tuple(
            SignalKind(f"wind.{axis}", "m/s", layout.bodies, f"air's velocity along {axis} at every body")
            for axis in AXES
        )

    def signals(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: Any, around: Around
    ) -> dict[str, Float[Array, "count *batch"]]:
        """That of all winds together, whichever is asked."""
        wind = around.wind(jnp.concatenate([it.position for it in bodies.values()], axis=1))
        assert wind is not None
        return {f"wind.{axis}": wind[k] for k, axis in enumerate(AXES)}
