"""Drag of the air on bodies, linear and quadratic in their speed."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.algebra import apply, apply_transposed, dot, rotation_matrix
from skyrig.elements.around import Around
from skyrig.elements.element import Element
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.protocol import Wrench


class Drag(Element):
    """Air against bodies: F = -(c1 + c2 |v|) v, axis by axis of each body's frame, v against the wind."""

    linear: dict[str, Float[Array, "..."]]
    """c1 by group, along the body's axes (N s/m)."""
    quadratic: dict[str, Float[Array, "..."]]
    """c2 by group, along the body's axes (N s^2/m^2)."""

    def loads(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: Any, around: Around
    ) -> dict[str, Wrench]:
        """The drag of every group that has a coefficient."""
        found = {}
        for group in self.linear.keys() | self.quadratic.keys():
            body = bodies[group]
            turn = rotation_matrix(body.attitude)
            through = apply_transposed(turn, around.through_air(body.position, body.velocity))
            square = dot(through, through)
            # the root of nothing has no derivative
            speed = jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1.0)), 0.0)
            share = self.linear.get(group, 0.0) + self.quadratic.get(group, 0.0) * speed
            found[group] = Wrench(apply(turn, -share * through))
        return found
