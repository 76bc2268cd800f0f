"""Drag of turning rotors: linear in the speed at which air crosses their discs."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.algebra import apply, apply_transposed, as_jax, rotation_matrix, total
from skyrig.elements.around import Around
from skyrig.elements.element import Element
from skyrig.elements.rotors import RotorSet
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.protocol import Wrench


class Crossing(eqx.Module):
    """D = sum of omega_i D_i, D_i = [1, -[r]x]' P [1, -[r]x]: from (v, Omega) to the sum of omega_i v_perp.

    Of a hub at r with axis a, v_perp = P (v + Omega x r), P = 1 - a a', in its vehicle's frame. Of 36 sums
    only those that are not zero and differ are worked out: four, for upright rotors in one plane.
    """

    weights: Float[Array, "m r n *batch"]
    """What differs of the D_i."""
    which: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    """Six rows of six: which sum each entry of D is, from 1; below zero with the other sign; 0 for none."""

    @staticmethod
    def of(airframes: Sequence[Any]) -> Crossing:
        """That of some airframes; rotors that a vehicle has less than others count for nothing."""
        count = max(it.rotor_count for it in airframes)
        whole = np.zeros((6, 6, count, len(airframes)))
        for k, frame in enumerate(airframes):
            for i, (hub, axis) in enumerate(zip(frame.rotor_positions, frame.axes, strict=True)):
                reach = np.concatenate([np.eye(3), np.cross(np.eye(3), hub).T], axis=1)
                whole[:, :, i, k] = reach.T @ (np.eye(3) - np.outer(axis, axis)) @ reach
        known: list[np.ndarray] = []
        which = [[_found(known, entry) for entry in row] for row in whole]
        return Crossing(as_jax(np.stack(known)), tuple(map(tuple, which)))

    def __call__(
        self, speeds: Float[Array, "r n *batch"], motion: Float[Array, "6 n *batch"], rows: int = 6
    ) -> Float[Array, "rows n *batch"]:
        """The first `rows` of D (v, Omega)."""
        sums = [total(weight * speeds) for weight in self.weights]
        made = []
        for row in self.which[:rows]:
            terms = [
                sums[entry - 1] * motion[k] if entry > 0 else -sums[-entry - 1] * motion[k]
                for k, entry in enumerate(row)
                if entry
            ]
            made.append(functools.reduce(operator.add, terms) if terms else jnp.zeros_like(motion[0]))
        return jnp.stack(made)


def _found(known: list[np.ndarray], entry: np.ndarray) -> int:
    """Which of the known sums an entry is, from 1, a new one being added; see `Crossing.which`."""
    if np.abs(entry).max() < 1e-15:
        return 0
    for k, other in enumerate(known, 1):
        for sign in (1, -1):
            if np.allclose(entry, sign * other, rtol=1e-12, atol=1e-15):
                return sign * k
    known.append(entry)
    return len(known)


class RotorDrag(Element):
    """F_i = -k omega_i v_perp at each hub: v_perp is its velocity against the air across its axis.

    The wind is that at the vehicle's middle. So force and moment are -k D (v, Omega); see `Crossing`.
    """

    rotors: RotorSet
    crossing: Crossing
    coefficient: Float[Array, "n *batch"]
    """k (N s^2/(m rad))."""

    def loads(
        self, t: ArrayLike, bodies: dict[str, Bodies], memory: Any, around: Around
    ) -> dict[str, Wrench]:
        """On all vehicles, at their hubs."""
        craft = bodies["vehicles"]
        turn = rotation_matrix(craft.attitude)
        own = -self.coefficient * self.crossing(self.rotors.speeds(around), through_air(turn, craft, around))
        return {"vehicles": Wrench(apply(turn, own[:3]), apply(turn, own[3:]))}


def through_air(turn: Array, craft: Bodies, around: Around) -> Float[Array, "6 n *batch"]:
    """Velocities against the air (m/s) and body rates (rad/s) of vehicles, in their frames."""
    own = apply_transposed(turn, around.through_air(craft.position, craft.velocity))
    return jnp.concatenate([own, craft.rate])
