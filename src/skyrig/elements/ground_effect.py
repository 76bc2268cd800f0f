"""Rotors near the ground lift more: the air they push down cannot get away."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.algebra import cross
from skyrig.elements.around import Around
from skyrig.elements.element import Element
from skyrig.elements.rotors import RotorSet
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.protocol import Wrench

CLOSEST = 0.5
"""Heights in propeller radii below which the theory no longer holds: the gain stays as it is there."""


class GroundEffect(Element):
    """Each rotor's thrust times 1/(1 - g) at height z of its hub, R being its propeller's radius.

    g = (R/4z)^2 is Cheeseman and Bennett's, of a rotor and its image below the ground. Sanchez-Cuevas,
    Heredia and Ollero (2017) add the images of the other rotors at distances d_j, and the fountain below the
    body of span b: g = (R/4z)^2 + sum_j R^2 z/2 (d_j^2 + 4 z^2)^-3/2 + 2 K R^2 z (b^2 + 4 z^2)^-3/2.
    """

    rotors: RotorSet
    apart: Float[Array, "r r n *batch"]
    """Square of the distance between two rotors of a vehicle (m^2); infinite for one and itself."""
    span: Float[Array, "n *batch"]
    """b^2 (m^2)."""
    neighbours: Float[Array, "*batch"]
    """1 to count the other rotors, 0 for Cheeseman and Bennett alone."""
    fountain: Float[Array, "*batch"]
    """K."""
    ground: Float[Array, "*batch"]
    """Height of the ground (m)."""

    def gain(self, z: Float[Array, "r n *batch"]) -> Float[Array, "r n *batch"]:
        """Thrust over that far from the ground, of hubs at heights `z` above it (m)."""
        radius = self.rotors.radius
        z = jnp.maximum(z, CLOSEST * radius)
        image = (radius / (4 * z)) ** 2
        others = 0.5 * z * ((self.apart + 4 * z[:, None] ** 2) ** -1.5).sum(1)
        body = 2 * self.fountain * z * (self.span + 4 * z**2) ** -1.5
        return 1 / (1 - image - self.neighbours * radius**2 * (others + body))

    def loads(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: Any, around: Around
    ) -> dict[str, Wrench]:
        """What is lifted more, at every hub along its axis."""
        hubs, axis = self.rotors.moving(bodies["vehicles"])
        more = self.gain(hubs.place[2] - self.ground) - 1
        force = self.rotors.thrusts(around) * more * axis
        return {"vehicles": Wrench(force.sum(1), cross(hubs.arm, force).sum(1))}
