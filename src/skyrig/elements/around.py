"""What an element may ask of the world beside where bodies are: rotors, and the wind that all feel."""

from __future__ import annotations

from typing import Any

import equinox as eqx
from jax.typing import ArrayLike
from jaxtyping import Array, Float


class Around(eqx.Module):
    """The world at an instant, as elements see it."""

    t: ArrayLike
    """Now (s)."""
    thrust: Float[Array, "n *batch"]
    """Of each vehicle (N)."""
    rotors: Float[Array, "r n *batch"] | None
    """Thrust of every rotor (N); None where nobody knows (thrusts given by hand)."""
    elements: tuple[tuple[Any, Any], ...] = ()
    """Every element with its memory."""
    speeds: Float[Array, "r n *batch"] | None = None
    """Speed of every rotor (rad/s) where it is part of the motion; None where it follows from thrust."""
    spin_up: Float[Array, "r n *batch"] | None = None
    """How these speeds change (rad/s^2)."""

    def wind(self, place: Float[Array, "3 k *batch"]) -> Float[Array, "3 k *batch"] | None:
        """Velocity of the air at some places, world frame (m/s): the sum of all that blows; None if none."""
        total = None
        for element, memory in self.elements:
            own = element.wind(self.t, place, memory)
            if own is not None:
                total = own if total is None else total + own
        return total

    def through_air(
        self, place: Float[Array, "3 k *batch"], velocity: Float[Array, "3 k *batch"]
    ) -> Float[Array, "3 k *batch"]:
        """Velocity (m/s) of points against the air around them, world frame."""
        wind = self.wind(place)
        return velocity if wind is None else velocity - wind
