"""The moment of turning rotors whose vehicle turns."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.algebra import apply, cross, rotation_matrix
from skyrig.elements.around import Around
from skyrig.elements.element import Element
from skyrig.elements.rotors import RotorSet
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.protocol import Wrench


class Gyroscopic(Element):
    """M = -Omega x h - h', h = -sum s_i J omega_i a_i being the rotors' angular momentum in the body frame.

    A spin s_i of +1 is a propeller that turns clockwise seen from above, against its axis a_i. What speeding
    rotors up takes (h') is there where their speeds are part of the motion.
    """

    rotors: RotorSet
    momentum: Float[Array, "r n *batch"]
    """-s J of every rotor (kg m^2)."""

    def loads(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: Any, around: Around
    ) -> dict[str, Wrench]:
        """On all vehicles."""
        craft = bodies["vehicles"]
        held = (self.momentum * self.rotors.speeds(around) * self.rotors.axis).sum(1)
        moment = -cross(craft.rate, held)
        if around.spin_up is not None:
            moment = moment - (self.momentum * around.spin_up * self.rotors.axis).sum(1)
        return {"vehicles": Wrench(jnp.zeros_like(moment), apply(rotation_matrix(craft.attitude), moment))}
