"""The rotors of a team, as elements need them: where hubs are, and how fast they turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig.algebra import as_jax, rotation_matrix
from skyrig.elements.around import Around
from skyrig.elements.points import Moving
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.layout import SignalKind

SPEED, COMMANDED = "rotor.speed", "rotor.commanded"
"""Signals of rotors that need a while to follow."""


def rotor_signals(count: int) -> tuple[SignalKind, ...]:
    """What `count` rotors tell, vehicle after vehicle."""
    return (
        SignalKind(SPEED, "rad/s", count, "speed of every rotor, vehicle after vehicle"),
        SignalKind(COMMANDED, "rad/s", count, "what was asked of it"),
    )


def speeds_of(
    thrusts: Float[Array, "r n *batch"], coefficient: Float[Array, "r n ..."]
) -> Float[Array, "r n *batch"]:
    """At which rotors give these thrusts (rad/s); coefficients are thrust over speed squared."""
    square = jnp.maximum(thrusts, 0.0) / coefficient
    # the root of nothing has no derivative
    return jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1.0)), 0.0)


class RotorSet(eqx.Module):
    """Hubs and coefficients, up to the largest number r of rotors of a vehicle."""

    hub: Float[Array, "3 r n *batch"]
    """From the vehicle's centre of mass, body frame (m)."""
    axis: Float[Array, "3 r n *batch"]
    """Along which each rotor pushes, body frame."""
    share: Float[Array, "r n *batch"]
    """Of a vehicle's thrust where nobody knows its rotors'; zero where a vehicle has fewer rotors."""
    coefficient: Float[Array, "r n *batch"]
    """Thrust over speed squared (N/(rad/s)^2)."""
    radius: Float[Array, "n *batch"]
    """Of a propeller (m)."""

    @staticmethod
    def of(airframes: Sequence[Any]) -> RotorSet:
        """Those of some airframes."""
        n, r = len(airframes), max(it.rotor_count for it in airframes)
        hub, axis = np.zeros((3, r, n)), np.zeros((3, r, n))
        axis[2] = 1.0
        share, coefficient = np.zeros((r, n)), np.ones((r, n))
        radius = np.array([it.rotor_radius or 0.4 * it.arm for it in airframes])
        for k, it in enumerate(airframes):
            own = slice(0, it.rotor_count)
            hub[:, own, k] = it.rotor_positions.T
            axis[:, own, k] = it.axes.T
            share[own, k] = it.shares / (it.shares * it.axes[:, 2]).sum()
            coefficient[own, k] = it.thrust_coefficient * it.shares
        return RotorSet(*(as_jax(each) for each in (hub, axis, share, coefficient, radius)))

    def thrusts(self, around: Around) -> Float[Array, "r n *batch"]:
        """Of every rotor (N)."""
        return self.share * around.thrust if around.rotors is None else around.rotors

    def speeds(self, around: Around) -> Float[Array, "r n *batch"]:
        """Of every rotor (rad/s); zero where there is none."""
        if around.speeds is not None:
            return around.speeds
        return jnp.where(self.share > 0, speeds_of(self.thrusts(around), self.coefficient), 0.0)

    def moving(self, vehicles: Bodies) -> tuple[Moving, Float[Array, "3 r n *batch"]]:
        """The hubs now, (3, r, n, *batch), and the rotors' axes in the world."""
        turn = rotation_matrix(vehicles.attitude)[:, :, None]
        arm = _turned(turn, self.hub)
        rate = vehicles.rate
        swing = jnp.stack(
            [
                rate[1] * self.hub[2] - rate[2] * self.hub[1],
                rate[2] * self.hub[0] - rate[0] * self.hub[2],
                rate[0] * self.hub[1] - rate[1] * self.hub[0],
            ]
        )
        velocity = vehicles.velocity[:, None] + _turned(turn, swing)
        return Moving(arm, vehicles.position[:, None] + arm, velocity), _turned(turn, self.axis)


def _turned(turn: Array, vector: Array) -> Array:
    return (turn * vector[None]).sum(1)
