"""Drag of turning rotors: linear in the speed at which air crosses their discs."""

from __future__ import annotations

from typing import Any

from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.algebra import cross, dot
from skyrig.elements.around import Around
from skyrig.elements.element import Element
from skyrig.elements.rotors import RotorSet, flat
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.protocol import Wrench


class RotorDrag(Element):
    """F_i = -k omega_i v_perp at each hub: v_perp is its velocity against the air across its axis."""

    rotors: RotorSet
    coefficient: Float[Array, "n *batch"]
    """k (N s^2/(m rad))."""

    def loads(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: Any, around: Around
    ) -> dict[str, Wrench]:
        """On all vehicles, at their hubs."""
        hubs, across = across_discs(self.rotors, bodies["vehicles"], around)
        force = -self.coefficient * self.rotors.speeds(around) * across
        return {"vehicles": Wrench(force.sum(1), cross(hubs, force).sum(1))}


def across_discs(
    rotors: RotorSet, vehicles: Bodies, around: Around
) -> tuple[Float[Array, "3 r n *batch"], Float[Array, "3 r n *batch"]]:
    """The hubs' arms (m) and their velocities (m/s) against the air, across the rotors' axes; world frame."""
    hubs, axis = rotors.moving(vehicles)
    through = around.through_air(flat(hubs.place), flat(hubs.velocity)).reshape(hubs.velocity.shape)
    return hubs.arm, through - dot(through, axis) * axis
