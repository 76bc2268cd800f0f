"""What every mechanism shares: bodies, inputs, guards, and what a reset did."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jaxtyping import Array, Bool, Float

from skyrig import checks
from skyrig.algebra import as_jax, traced


class Bodies(eqx.Module):
    """Where bodies are and how they move; one body is (3, *batch), n of them (3, n, *batch)."""

    position: Float[Array, "3 *shape"]
    """Centre of mass in the world (m)."""
    velocity: Float[Array, "3 *shape"]
    """Velocity in the world (m/s)."""
    attitude: Float[Array, "4 *shape"]
    """Quaternion wxyz, body to world."""
    rate: Float[Array, "3 *shape"]
    """Angular velocity in the body frame (rad/s)."""


class Inputs(eqx.Module):
    """What acts on a rig, held constant over a step. None means absent (and costs nothing)."""

    thrust: Float[Array, "n *batch"]
    """Thrust of each vehicle along its own z axis (N)."""
    moment: Float[Array, "3 n *batch"]
    """Moment of each vehicle's rotors in its body frame (N m)."""
    payload_force: Float[Array, "3 *batch"] | None = None
    """External force on the payload's centre of mass, world frame (N)."""
    payload_torque: Float[Array, "3 *batch"] | None = None
    """External torque on the payload, world frame (N m)."""
    vehicle_force: Float[Array, "3 n *batch"] | None = None
    """External force on each vehicle's centre of mass, world frame (N)."""
    vehicle_torque: Float[Array, "3 n *batch"] | None = None
    """External torque on each vehicle, world frame (N m)."""
    winch: Float[Array, "n *batch"] | None = None
    """Wanted reel-out rate of each cable (m/s); the winch follows it within its limits."""


class Watch(eqx.Module):
    """The guards of a rig at one instant; a guard fires when its value rises above zero."""

    value: Float[Array, "guards *batch"]
    slope: Float[Array, "guards *batch"]
    """Time derivative of the value where it is known, else zero."""
    known: Float[Array, "guards *batch"]
    """One where the slope is known, else zero."""
    rough: Bool[Array, "*batch"]
    """Whether the motion is too fast for the step: the constraints could not be met."""


class Reset(eqx.Module):
    """What one reset did, cable by cable."""

    arrived: Bool[Array, "n *batch"]
    """Slack cables that reached their length with speed (an impact)."""
    tightened: Bool[Array, "n *batch"]
    """Slack cables that became taut without one."""
    loosened: Bool[Array, "n *batch"]
    """Cables that were taut (or just arrived) and let go."""
    ground: Bool[Array, "*batch"]
    """The payload passed z = 0."""
    impulse: Float[Array, "n *batch"]
    """Impulse along each cable (N s), zero or above."""
    active: Bool[Array, "n *batch"]
    """Cables over which the impulses were solved for."""
    bounced: Bool[Array, "n *batch"]
    """Cables to which restitution applied."""
    taut: Bool[Array, "n *batch"]
    """Cables taut afterwards."""
    solved: Bool[Array, "*batch"]


REARM = 1e-3
"""How far from z = 0 the payload must be before passing it counts again (m)."""


def rearmed(side: Float[Array, "*batch"], height: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    """Which side of z = 0 counts as the payload's, once it has gone far enough from it."""
    far = (side == 0) & (jnp.abs(height) > REARM)
    return jnp.where(far, jnp.sign(height), side)


def bodies_from_arrays(
    name: str,
    many: tuple[int, ...],
    position: npt.ArrayLike,
    velocity: npt.ArrayLike | None,
    attitude: npt.ArrayLike | None,
    rate: npt.ArrayLike | None,
) -> Bodies:
    """Bodies from arrays with xyz last, checked; `many` is () for one body or (n,)."""

    def vector(field: str, value: npt.ArrayLike | None) -> Array:
        if traced(value):
            return jnp.moveaxis(as_jax(value), -1, 0)
        given = np.zeros((*many, 3)) if value is None else value
        return as_jax(np.moveaxis(checks.numbers(f"{name}_{field}", given, (*many, 3)), -1, 0))

    if traced(attitude):
        quaternion = jnp.moveaxis(as_jax(attitude), -1, 0)
    else:
        level = np.tile([1.0, 0.0, 0.0, 0.0], (*many, 1)).reshape((*many, 4))
        given = level if attitude is None else checks.numbers(f"{name}_attitude", attitude, (*many, 4))
        quaternion = as_jax(np.moveaxis(checks.unit_quaternion(f"{name}_attitude", given), -1, 0))
    return Bodies(
        vector("position", position), vector("velocity", velocity), quaternion, vector("rate", rate)
    )
