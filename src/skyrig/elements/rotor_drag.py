"""Drag of turning rotors: linear in the speed at which air crosses their discs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.algebra import apply, apply_transposed, as_jax, rotation_matrix
from skyrig.elements.around import Around
from skyrig.elements.element import Element
from skyrig.elements.rotors import RotorSet
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.protocol import Wrench


class RotorDrag(Element):
    """F_i = -k omega_i v_perp at each hub: v_perp is its velocity against the air across its axis.

    Of a hub at r with axis a, v_perp = P (v + Omega x r), P = 1 - a a', v against the wind at the vehicle's
    middle, all in its frame. So force and moment are -k D (v, Omega), D being the sum of omega_i D_i with
    constant matrices D_i = [1, [r]x]' P [1, -[r]x]: they are summed once a step where speeds are held.
    """

    rotors: RotorSet
    crossing: Float[Array, "6 6 r n *batch"]
    """D_i."""
    coefficient: Float[Array, "n *batch"]
    """k (N s^2/(m rad))."""

    def loads(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: Any, around: Around
    ) -> dict[str, Wrench]:
        """On all vehicles, at their hubs."""
        craft = bodies["vehicles"]
        turn = rotation_matrix(craft.attitude)
        speeds = self.rotors.speeds(around)
        own = -self.coefficient * across(self.crossing, speeds, turn, craft, around)
        return {"vehicles": Wrench(apply(turn, own[:3]), apply(turn, own[3:]))}


def crossings(airframes: Sequence[Any]) -> Float[Array, "6 6 r n"]:
    """D_i of every rotor of some airframes; zero where a vehicle has fewer rotors than others."""
    count = max(it.rotor_count for it in airframes)
    found = np.zeros((6, 6, count, len(airframes)))
    for k, frame in enumerate(airframes):
        for i, (hub, axis) in enumerate(zip(frame.rotor_positions, frame.axes, strict=True)):
            lever = np.cross(np.eye(3), hub)  # [r]x' = -[r]x
            reach = np.concatenate([np.eye(3), lever.T], axis=1)
            found[:, :, i, k] = reach.T @ (np.eye(3) - np.outer(axis, axis)) @ reach
    return as_jax(found)


def across(
    crossing: Float[Array, "c 6 r n *batch"],
    speeds: Float[Array, "r n *batch"],
    turn: Float[Array, "3 3 n *batch"],
    craft: Bodies,
    around: Around,
) -> Float[Array, "c n *batch"]:
    """Sum over all rotors of omega_i D_i (v, Omega) in the vehicles' frames, or of some rows of D_i."""
    through = apply_transposed(turn, around.through_air(craft.position, craft.velocity))
    motion = jnp.concatenate([through, craft.rate])
    whole = (crossing * speeds).sum(2)  # (c, 6, n)
    return (whole * motion).sum(1)
