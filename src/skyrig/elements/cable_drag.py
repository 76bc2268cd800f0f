"""Drag of cables: of the air that goes across them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.algebra import dot
from skyrig.elements.around import Around
from skyrig.elements.element import Element
from skyrig.elements.points import Points
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.protocol import Wrench, added

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(3)
SPOTS = (_NODES + 1) / 2
"""Where along a cable the wind is looked at, in shares of its length: three points of Gauss."""
WEIGHTS = _WEIGHTS / 2


class CableDrag(Element):
    """Straight cables from end to end: each end gets -rho/2 C d int (1 - s, s) |v_n| v_n ds.

    v_n is the velocity against the air across the cable, which goes straight from one end's to the other's.
    """

    top: Points
    """The vehicles' ends."""
    low: Points
    """The payload's ends."""
    coefficient: Float[Array, "n *batch"]
    """rho/2 C d (N s^2/m^3)."""

    def loads(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: Any, around: Around
    ) -> dict[str, Wrench]:
        """On the bodies at both ends."""
        top, low = self.top.moving(bodies), self.low.moving(bodies)
        span = low.place - top.place
        square = dot(span, span)
        length = jnp.sqrt(jnp.where(square > 0, square, 1.0))
        along = span / length

        def across_it(vector: Array) -> Array:
            return vector - dot(vector, along) * along

        near, far = jnp.zeros_like(span), jnp.zeros_like(span)
        high, deep = across_it(top.velocity), across_it(low.velocity + 0 * span)
        for s, weight in zip(SPOTS, WEIGHTS, strict=True):
            wind = around.wind(top.place + s * span)
            across = (1 - s) * high + s * deep
            across = across if wind is None else across - across_it(wind)
            size = dot(across, across)
            speed = jnp.where(size > 0, jnp.sqrt(jnp.where(size > 0, size, 1.0)), 0.0)
            force = -(self.coefficient * length * weight) * speed * across
            near, far = near + (1 - s) * force, far + s * force
        return added(
            {self.top.group: self._of(self.top, top.arm, near, bodies)},
            {self.low.group: self._of(self.low, low.arm, far, bodies)},
        )

    def _of(self, points: Points, arm: Array, force: Array, bodies: dict[str, Bodies]) -> Wrench:
        return points.wrench(arm, force, bodies[points.group].position.shape[1])
