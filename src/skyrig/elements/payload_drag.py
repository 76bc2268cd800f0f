"""Drag of a payload from its shape."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.algebra import apply_transposed, dot, rotation_matrix
from skyrig.elements.around import Around
from skyrig.elements.element import Element
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.protocol import Wrench


class PayloadDrag(Element):
    """F = -rho/2 C A |v| v, v against the wind, A being the area that the air sees.

    That of a box is the sum of its faces, each seen under its angle: A = sum A_i |v_i|/|v|, so that
    F = -rho/2 C (sum A_i |v_i|) v. A ball shows the same area from everywhere.
    """

    area: dict[str, Float[Array, "..."]]
    """rho/2 C A_i by group, seen along each axis, (3, k, *batch) (kg/m)."""
    round: dict[str, Float[Array, "..."]]
    """rho/2 C A by group, of balls, (k, *batch) (kg/m)."""

    def loads(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: Any, around: Around
    ) -> dict[str, Wrench]:
        """The drag of every group."""
        found = {}
        for group, it in bodies.items():
            if group not in self.area:
                continue
            through = around.through_air(it.position, it.velocity)
            own = apply_transposed(rotation_matrix(it.attitude), through)
            square = dot(through, through)
            speed = jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1.0)), 0.0)
            found[group] = Wrench(
                -(dot(self.area[group], jnp.abs(own)) + self.round[group] * speed) * through
            )
        return found
