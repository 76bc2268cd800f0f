"""The moment that air across a turning rotor makes: its advancing blades lift more than the others."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.algebra import apply, rotation_matrix
from skyrig.elements.around import Around
from skyrig.elements.element import Element
from skyrig.elements.rotor_drag import Crossing, through_air
from skyrig.elements.rotors import RotorSet
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.protocol import Wrench


class RollingMoment(Element):
    """M_i = -c omega_i v_perp of each rotor, v_perp being its velocity against the air across its axis.

    The sign is the same for rotors of both spins, as in the motor model of common flight simulators: one that
    went with the spin would cancel over an even number of rotors.
    """

    rotors: RotorSet
    crossing: Crossing
    coefficient: Float[Array, "n *batch"]
    """c (N m s^2/(m rad))."""

    def loads(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: Any, around: Around
    ) -> dict[str, Wrench]:
        """On all vehicles."""
        craft = bodies["vehicles"]
        turn = rotation_matrix(craft.attitude)
        across = self.crossing(self.rotors.speeds(around), through_air(turn, craft, around), 3)
        moment = apply(turn, -self.coefficient * across)
        return {"vehicles": Wrench(jnp.zeros_like(moment), moment)}
