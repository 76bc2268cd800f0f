"""Rotors that stop: what they would have given is taken away again."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.algebra import apply, rotation_matrix
from skyrig.elements.around import Around
from skyrig.elements.element import Element
from skyrig.elements.rotors import RotorSet
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.protocol import Wrench


class RotorFailures(Element):
    """Each lost rotor's share of force and moment, the other way, from an instant on.

    Nobody tells the controller or the mixer: they go on asking the lost rotor for its part.
    """

    rotors: RotorSet
    turning: Float[Array, "3 r n *batch"]
    """Moment of a newton of each rotor, body frame (m)."""
    since: Float[Array, "r n *batch"]
    """When each rotor stops (s); infinite for one that does not."""

    def loads(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: Any, around: Around
    ) -> dict[str, Wrench]:
        """On all vehicles."""
        lost = jnp.where(t >= self.since - 1e-9, self.rotors.thrusts(around), 0.0)
        turn = rotation_matrix(bodies["vehicles"].attitude)
        force, moment = ((lost * each).sum(1) for each in (self.rotors.axis, self.turning))
        return {"vehicles": Wrench(apply(turn, -force), apply(turn, -moment))}
