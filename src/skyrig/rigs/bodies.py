"""Bodies: where they are and how they move."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jaxtyping import Array, Float

from skyrig import checks
from skyrig.algebra import as_jax, traced
from skyrig.tracks import Track


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

    @staticmethod
    def still(places: npt.ArrayLike) -> Bodies:
        """Bodies at rest and level, a group (3, k) of those at `places` (k, 3), or of one at (3,) (m)."""
        position = np.atleast_2d(np.asarray(places, dtype=np.float64)).T
        none = np.zeros_like(position)
        level = np.concatenate([np.ones_like(none[:1]), none])
        return Bodies(*(as_jax(leaf.copy()) for leaf in (position, none, level, none)))

    def alone(self) -> Bodies:
        """A single body, (3, *batch), as a group of one, (3, 1, *batch)."""
        return jax.tree.map(lambda leaf: leaf[:, None], self)

    def only(self) -> Bodies:
        """The body of a group of one."""
        return jax.tree.map(lambda leaf: leaf[:, 0], self)

    @property
    def track(self) -> Track:
        """The bodies of a group, (..., 3, k), as a track, (..., k, 3)."""
        leaves = (self.position, self.velocity, self.attitude, self.rate)
        return Track(*(leaf.swapaxes(-1, -2) for leaf in leaves))


def bodies_from_arrays(
    name: str,
    many: tuple[int, ...],
    position: npt.ArrayLike,
    velocity: npt.ArrayLike | None,
    attitude: npt.ArrayLike | None,
    rate: npt.ArrayLike | None,
) -> Bodies:
    """Bodies from arrays with xyz last, checked; `many` is () for one body or (n,)."""
    if traced(attitude):
        quaternion = jnp.moveaxis(as_jax(attitude), -1, 0)
    else:
        level = np.tile([1.0, 0.0, 0.0, 0.0], (*many, 1)).reshape((*many, 4))
        given = level if attitude is None else checks.numbers(f"{name}_attitude", attitude, (*many, 4))
        quaternion = as_jax(np.moveaxis(checks.unit_quaternion(f"{name}_attitude", given), -1, 0))
    return Bodies(
        _vectors(f"{name}_position", many, position),
        _vectors(f"{name}_velocity", many, velocity),
        quaternion,
        _vectors(f"{name}_rate", many, rate),
    )


def _vectors(field: str, many: tuple[int, ...], value: npt.ArrayLike | None) -> Array:
    """Vectors (*many, 3), or None for zeros, checked, with xyz first."""
    if traced(value):
        return jnp.moveaxis(as_jax(value), -1, 0)
    given = np.zeros((*many, 3)) if value is None else value
    return as_jax(np.moveaxis(checks.numbers(field, given, (*many, 3)), -1, 0))
