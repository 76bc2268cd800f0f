"""The jets below vehicles (`skyrig.jets`), which press what hangs or flies in them."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.algebra import apply, cross, dot, rotation_matrix, upward_axis
from skyrig.elements.around import Around
from skyrig.elements.element import Element
from skyrig.jets import jet_pressure
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.protocol import Wrench


class Plate(eqx.Module):
    """A surface of every body of a group, in pieces that the air presses on."""

    place: Float[Array, "3 p k *batch"]
    """Middles of its pieces, body frame (m)."""
    normal: Float[Array, "3 k *batch"]
    """Body frame."""
    area: Float[Array, "p k *batch"]
    """Of each piece (m^2)."""


class Downwash(Element):
    """Pressure rho u^2 of all jets on plates, along the jets.

    Speeds squared go with thrust. So what a newton of each vehicle's thrust does is worked out once a step,
    and multiplied by thrusts at every stage.
    """

    plates: dict[str, Plate]
    span: Float[Array, "n *batch"]
    """l (m)."""
    discs: Float[Array, "n *batch"]
    """2 pi R^2 of all rotors of a vehicle (m^2): rho U^2 = T over this."""

    def start(self, bodies: dict[str, Bodies]) -> dict[str, Any]:
        """What jets do where bodies are."""
        return self.advance(None, 0.0, bodies, 0.0)

    def advance(self, memory: Any, t: ArrayLike, bodies: dict[str, Bodies], dt: ArrayLike) -> dict[str, Any]:
        """Force and torque by group on each body per newton of each vehicle, (3, k, n, *batch)."""
        craft = bodies["vehicles"]
        axis = -upward_axis(craft.attitude)
        return {
            group: self._pressed(plate, bodies[group], craft.position, axis, group == "vehicles")
            for group, plate in self.plates.items()
        }

    def loads(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: dict[str, Any], around: Around
    ) -> dict[str, Wrench]:
        """The sum over all jets."""
        thrust = jnp.maximum(around.thrust, 0.0)
        return {
            group: Wrench((force * thrust).sum(2), (torque * thrust).sum(2))
            for group, (force, torque) in memory.items()
        }

    def _pressed(self, plate: Plate, them: Bodies, origin: Array, axis: Array, own: bool) -> tuple[Any, Any]:
        turn = rotation_matrix(them.attitude)
        arm = (turn[:, :, None] * plate.place[None]).sum(1)  # (3, p, k)
        apart = (them.position[:, None] + arm)[:, :, :, None] - origin[:, None, None]  # (3, p, k, n)
        along = axis[:, None, None]
        s = dot(apart, along)
        square = jnp.maximum(dot(apart, apart) - s**2, 0.0)
        seen = jnp.abs(dot(apply(turn, plate.normal)[:, :, None], axis[:, None]))  # (k, n)
        push = jet_pressure(s, square, self.span, 1 / self.discs) * plate.area[:, :, None] * seen
        if own:  # a vehicle's own jet begins below it
            k = push.shape[1]
            other = 1 - jnp.eye(k)
            push = push * other.reshape((k, k) + (1,) * (push.ndim - 3))
        force = push * along
        torque = cross(jnp.broadcast_to(arm[:, :, :, None], force.shape), force)
        return force.sum(1), torque.sum(1)
