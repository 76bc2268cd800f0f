"""Cables as people describe them: a length, two ends, perhaps a winch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from skyrig.algebra import as_jax, traced

Point = Sequence[float] | np.ndarray | Array


@dataclass(frozen=True)
class Winch:
    """A drum that reels cable out and in, within its limits."""

    rate: float
    """Fastest reeling, either way (m/s)."""
    acceleration: float
    """Hardest speeding up and slowing down (m/s^2)."""
    shortest: float
    """Least free length it leaves (m)."""
    longest: float
    """Most cable it can let out (m)."""


@dataclass(frozen=True)
class Cable:
    """A massless cable that pulls and never pushes, from a vehicle's hook to a point of the payload."""

    length: float | Array
    """Free length (m); with a winch, the length at the start."""
    attachment: Point = (0.0, 0.0, 0.0)
    """Where it holds the payload, in the payload's frame from its centre of mass (m)."""
    hook: Point | None = None
    """Where it hangs on the vehicle, vehicle frame from its centre of mass (m); None: at the centre."""
    winch: Winch | None = None


@runtime_checkable
class OnCables(Protocol):
    """A rig whose payload hangs on one cable a vehicle, by any mechanism: what its controllers ask for."""

    @property
    def count(self) -> int:
        """Number of vehicles."""
        ...

    @property
    def mass(self) -> Array:
        """(n,) of the vehicles (kg)."""
        ...

    @property
    def inertia(self) -> Array:
        """(3, 3, n) of the vehicles (kg m^2)."""
        ...

    @property
    def payload_mass(self) -> Array:
        """Of the payload (kg)."""
        ...

    @property
    def payload_inertia(self) -> Array:
        """(3, 3) of the payload (kg m^2)."""
        ...

    @property
    def payload_inverse_inertia(self) -> Array:
        """(3, 3) its inverse; zeros for a point mass (1/(kg m^2))."""
        ...

    @property
    def attachment(self) -> Array:
        """(3, n) where cables hold the payload, in its frame (m)."""
        ...

    @property
    def hook(self) -> Array | None:
        """(3, n) where they hang on the vehicles, in their frames (m); None for their centres of mass."""
        ...

    @property
    def length(self) -> Array:
        """(n,) free lengths (m)."""
        ...

    @property
    def gravity(self) -> Array:
        """m/s^2."""
        ...


class WinchLimits(eqx.Module):
    """The winches of a rig as arrays; a cable without one has rate limit zero."""

    rate: Float[Array, "n *batch"]
    acceleration: Float[Array, "n *batch"]
    shortest: Float[Array, "n *batch"]
    longest: Float[Array, "n *batch"]

    def of(self, k: int) -> Winch | None:
        """The winch of cable k as an object; None where it has none."""
        if float(self.rate[k]) == 0:
            return None
        return Winch(
            *(float(each[k]) for each in (self.rate, self.acceleration, self.shortest, self.longest))
        )

    def drive(
        self,
        length: Float[Array, "n *batch"],
        rate: Float[Array, "n *batch"],
        wanted: Float[Array, "n *batch"],
        dt: Float[Array, "*batch"],
    ) -> Float[Array, "n *batch"]:
        """Reel-out acceleration to hold over the coming `dt` (m/s^2).

        The wanted rate is cut to the rate limit and to what can still be braked before the end of the drum;
        it is then reached as fast as the acceleration limit allows, at the earliest at the end of `dt`.
        """
        a = jnp.maximum(self.acceleration, 1e-300 if length.dtype == jnp.float64 else 1e-30)
        half = a * dt / 2

        def brakable(room: Array, towards: Array) -> Array:
            # over dt the rate goes from `towards` to v; what is left must do to brake from v at a, and to
            # stop within one whole step: v^2 / 2a and v dt / 2 both fit into room - (towards + v) dt / 2
            left = jnp.maximum(room - towards * dt / 2, 0.0)
            return jnp.minimum(jnp.sqrt(half**2 + 2 * a * left) - half, left / dt)

        fastest = jnp.minimum(self.rate, brakable(self.longest - length, rate))
        slowest = jnp.maximum(-self.rate, -brakable(length - self.shortest, -rate))
        target = jnp.clip(wanted, slowest, fastest)
        return jnp.clip((target - rate) / dt, -self.acceleration, self.acceleration)

    def towards(
        self, length: Float[Array, "n *batch"], wanted: Float[Array, "n *batch"], period: ArrayLike
    ) -> Float[Array, "n *batch"]:
        """Reel-out rates (m/s) that bring cables to their wanted lengths and stop there.

        The rate is the fastest from which the winch can still brake in time, v = sqrt(2 a |error|) with a
        margin, never above its rate limit, and slow enough near the end not to overshoot within a period.

        Args:
            length: Free lengths now (m).
            wanted: Free lengths to reach (m); cut to what the drums hold.
            period: Time between commands (s).
        """
        left = jnp.clip(wanted, self.shortest, self.longest) - length
        size = jnp.abs(left)
        # braking starts a period late at worst: v period + v^2 / 2a = error
        late = self.acceleration * period
        speed = jnp.sqrt(late**2 + 2 * self.acceleration * size) - late
        return jnp.sign(left) * jnp.minimum(self.rate, jnp.minimum(speed, size / period))


def checked(check, field: str, value, *arguments) -> Array:
    """`value` after `check`, as a JAX array; traced values (inside jit, grad, vmap) pass unchecked."""
    return as_jax(passed(check, field, value, *arguments))


def passed(check, field: str, value, *arguments) -> Any:
    """As `checked`, known values staying NumPy's: moving each of many to JAX by itself takes long."""
    return value if traced(value) else check(field, value, *arguments)


def inverse(matrix: Any) -> Any:
    """Inverse of a small matrix, in NumPy where its values are known."""
    return jnp.linalg.inv(matrix) if traced(matrix) else np.linalg.inv(np.asarray(matrix))


def stacked(arrays: Sequence[Any]) -> Array:
    """Arrays side by side along a new last axis, without compiling where their values are known."""
    if traced(*arrays):
        return jnp.stack(arrays, axis=-1)
    return as_jax(np.stack([np.asarray(array) for array in arrays], axis=-1))
