"""What tilted rotors push sideways, across their vehicle's z axis."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax.typing import ArrayLike

from skyrig.algebra import apply, rotation_matrix
from skyrig.elements.around import Around
from skyrig.elements.element import Element
from skyrig.elements.rotors import RotorSet
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.protocol import Wrench


class SideForces(Element):
    """F = sum f_i (a_i - (a_i.z) z): the rest of every rotor's thrust beside what goes along body z.

    Thrust along z and all moments come from the mixer; this is what it leaves out.
    """

    rotors: RotorSet

    def loads(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: Any, around: Around
    ) -> dict[str, Wrench]:
        """On all vehicles."""
        own = (self.rotors.thrusts(around) * self.rotors.axis).sum(1)
        across = jnp.stack([own[0], own[1], jnp.zeros_like(own[2])])
        return {"vehicles": Wrench(apply(rotation_matrix(bodies["vehicles"].attitude), across))}
