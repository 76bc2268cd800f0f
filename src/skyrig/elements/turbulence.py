"""Dryden's turbulence, exactly discretised on a grid of its own.

Spectra of MIL-F-8785C: along the wind (u) a filter of first order, across it (v) and upwards (w) of second,

    u: sigma sqrt(2 T) / (T s + 1),      v, w: sigma sqrt(T) (sqrt(3) T s + 1) / (T s + 1)^2,      T = L/V.

In units of T the second has A = [[-2, -1], [1, 0]], whose exponential is e^-h [[1 - h, -h], [h, 1 + h]], and
a stationary covariance that is a multiple of the identity. With states scaled to covariance I a step on the
grid is x <- F x + G n with G G' = I - F F': variance and correlation are exact at any grid, from the first
instant on. Between two points of the grid the wind goes straight.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int, UInt

from skyrig.algebra import as_jax
from skyrig.elements.air import Air
from skyrig.elements.chance import normals
from skyrig.rigs.bodies import Bodies

FOOT = 0.3048
NEAR = 1e-6
"""Share of the grid by which a step that begins a rounding error early is taken to begin on it."""


def dryden(height: float, wind_at_20_feet: float) -> tuple[np.ndarray, np.ndarray]:
    """Lengths L (m) and intensities sigma (m/s) along u, v, w at low altitude (MIL-F-8785C).

    L_w = h and L_u = L_v = h/(0.177 + 0.000823 h)^1.2; sigma_w = 0.1 W20 and
    sigma_u = sigma_v = sigma_w/(0.177 + 0.000823 h)^0.4, h in feet, kept between 10 and 1000 feet.
    """
    feet = np.clip(height / FOOT, 10.0, 1000.0)
    long = 0.177 + 0.000823 * feet
    lengths = FOOT * feet * np.array([long**-1.2, long**-1.2, 1.0])
    return lengths, 0.1 * wind_at_20_feet * np.array([long**-0.4, long**-0.4, 1.0])


class Weather(eqx.Module):
    """What turbulence remembers."""

    index: Int[Array, "*batch"]
    """Of the grid point at or before now."""
    state: Float[Array, "3 2 *batch"]
    """The filters' at the last grid point known."""
    speed: Float[Array, "points 3 *batch"]
    """u, v, w at the grid points from `index` on (m/s)."""


class Turbulence(Air):
    """The same fluctuating wind at all places."""

    forward: Float[Array, "3 2 2 *batch"]
    """F of each axis."""
    noise: Float[Array, "3 2 2 *batch"]
    """G of each axis, lower triangular."""
    output: Float[Array, "3 2 *batch"]
    """From a filter's state to its wind (m/s)."""
    frame: Float[Array, "3 3 *batch"]
    """From u, v, w to the world."""
    grid: Float[Array, "*batch"]
    """Between two points (s)."""
    seed: UInt[Array, "*batch"]
    reach: int = eqx.field(static=True, default=1)
    """Grid intervals that the longest step may span."""

    @staticmethod
    def of(
        times: np.ndarray, sigma: np.ndarray, direction: float, seed: int, grid: float, reach: int = 1
    ) -> Turbulence:
        """From time constants L/V (s) and intensities (m/s) of u, v, w, u pointing to `direction` (rad)."""
        forward, noise, output = np.zeros((3, 2, 2)), np.zeros((3, 2, 2)), np.zeros((3, 2))
        for k, h in enumerate(grid / np.asarray(times)):
            second = np.exp(-h) * np.array([[1 - h, -h], [h, 1 + h]])
            forward[k] = np.diag([np.exp(-h), 0.0]) if k == 0 else second
            noise[k] = np.linalg.cholesky(_added(h) if k else np.eye(2) - forward[k] ** 2)
            output[k] = sigma[k] * (np.array([1.0, 0.0]) if k == 0 else np.array([np.sqrt(3), 1.0]) / 2)
        c, s = np.cos(direction), np.sin(direction)
        frame = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        arrays = (as_jax(each) for each in (forward, noise, output, frame, np.asarray(grid, dtype=float)))
        return Turbulence(*arrays, seed=as_jax(np.asarray(seed, np.uint32)), reach=reach)

    def start(self, bodies: dict[str, Bodies]) -> Weather:
        """Stationary from the first instant on."""
        like = next(iter(bodies.values())).position[0, 0]
        index = jnp.zeros(like.shape, jnp.int32)
        state = normals(self.seed, index, 3, like.dtype)
        speed = [self._blown(state)]
        for k in range(1, self.reach + 2):
            state = self._next(state, index + k)
            speed.append(self._blown(state))
        return Weather(index, state, jnp.stack(speed))

    def advance(self, memory: Weather, t: ArrayLike, bodies: dict[str, Bodies], dt: ArrayLike) -> Weather:
        """The grid points that the coming step may need, those before `t` (s) forgotten."""
        due = jnp.floor(t / self.grid + NEAR).astype(jnp.int32)

        def next_point(memory: Weather) -> Weather:
            behind = memory.index < due
            state = self._next(memory.state, memory.index + self.reach + 2)
            speed = jnp.concatenate([memory.speed[1:], self._blown(state)[None]])
            return Weather(
                jnp.where(behind, memory.index + 1, memory.index),
                jnp.where(behind, state, memory.state),
                jnp.where(behind, speed, memory.speed),
            )

        for _ in range(self.reach):
            if memory.index.ndim:  # few steps of a batch begin at a new point: nothing is drawn in the others
                memory = jax.lax.cond(jnp.any(memory.index < due), next_point, lambda same: same, memory)
            else:
                memory = next_point(memory)
        return memory

    def wind(
        self, t: ArrayLike, place: Float[Array, "3 k *batch"], memory: Weather
    ) -> Float[Array, "3 k *batch"]:
        """Straight between the grid points."""
        since = t / self.grid - memory.index
        speed = memory.speed[0]
        for k in range(self.reach + 1):
            speed = speed + jnp.clip(since - k, 0.0, 1.0) * (memory.speed[k + 1] - memory.speed[k])
        world = (self.frame * speed[None]).sum(1)
        return jnp.broadcast_to(world[:, None], place.shape)

    def _next(self, state: Array, index: Array) -> Array:
        kick = normals(self.seed, index, 3, state.dtype)
        return (self.forward * state[:, None]).sum(2) + (self.noise * kick[:, None]).sum(2)

    def _blown(self, state: Any) -> Array:
        return (self.output * state).sum(1)


def _added(h: float) -> np.ndarray:
    """I - F F' of a filter of second order: the covariance that a step of `h` (in units of T) adds."""
    if h > 0.5:
        forward = np.exp(-h) * np.array([[1 - h, -h], [h, 1 + h]])
        return np.eye(2) - forward @ forward.T
    # the difference of nearly equal numbers: as the integral of e^-2s (1 - s, s)(1 - s, s)' instead
    nodes, weights = np.polynomial.legendre.leggauss(8)
    s = h * (nodes + 1) / 2
    way = np.stack([1 - s, s])
    return 4 * (way * (h / 2 * weights * np.exp(-2 * s))) @ way.T
