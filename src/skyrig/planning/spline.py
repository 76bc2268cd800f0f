"""The path of least squared k-th derivative through waypoints at given times (RotorTM, eqs. 59-60).

The unknowns are derivatives 1..c at the waypoints (Richter, Bry and Roy, ISRR 2013), in units of
the mean segment duration. Neighbouring segments share them, so they are continuous by construction.
With c = k-1, least cost also makes derivatives k to 2k-2 continuous: each condition of stationarity
is one of continuity.

Each segment's k-th derivative is written in orthonormal Legendre polynomials, so the cost is a sum of
squares and its minimum a linear least-squares problem. Solved by QR, that has the square root of the
condition number of the quadratic form: 1e4 instead of 1e8 for k = 6 and 30 evenly timed waypoints with
free ends. Only differences of waypoints enter, so a path far from the origin loses no digits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from skyrig.arrays import Array, namespace
from skyrig.planning import hermite
from skyrig.planning.pieces import Pieces
from skyrig.planning.taylor import Series


class SplineProblem(NamedTuple):
    """What is minimised, and among which curves.

    Attributes:
        derivative: k, whose square is integrated.
        continuity: c, derivatives shared at joints (and fixed at ends that say so).
        degree: Of each segment, at least 2c+1.
        start: Derivatives 1, 2, ... fixed at the first waypoint (m/s^j); the others are free.
        end: The same at the last waypoint.
    """

    derivative: int
    continuity: int
    degree: int
    start: Float[Array, "fixed columns"]
    end: Float[Array, "fixed columns"]

    @property
    def is_spline(self) -> bool:
        """Whether segments have the freedom that the true minimiser needs."""
        return self.continuity == self.derivative - 1 and self.degree >= 2 * self.derivative - 1


def node_derivatives(
    problem: SplineProblem, waypoints: Float[Array, "nodes columns"], durations: Float[Array, " segments"]
) -> Float[Array, "nodes c columns"]:
    """Derivatives 1..c at the waypoints (m/s^j) on the path of least cost."""
    xp = namespace(*problem, waypoints, durations)
    unit = durations.mean()
    powers = unit ** np.arange(1, problem.continuity + 1)[:, None]
    matrix, load = _system(problem, waypoints, durations / unit)
    size, c, columns = len(waypoints), problem.continuity, waypoints.shape[1]
    n_start, n_end = len(problem.start), len(problem.end)

    # Which unknowns are given is known before any number is: indices stay NumPy under a trace.
    index = np.arange(size * c).reshape(size, c)
    given = np.concatenate([index[0, :n_start], index[-1, :n_end]])
    free = np.setdiff1d(index, given)
    fixed = xp.concatenate([problem.start * powers[:n_start], problem.end * powers[:n_end]])
    rest = -load - matrix[:, given] @ fixed
    found = _least_squares(matrix[:, free], rest) if len(free) else xp.zeros((0, columns))
    back = np.argsort(np.concatenate([free, given]))
    return xp.concatenate([found, fixed])[back].reshape(size, c, columns) / powers


def cost(problem: SplineProblem, waypoints: Array, nodes: Array, durations: Array) -> tuple[Array, Array]:
    """The integral of the squared k-th derivative, and its slope in each duration.

    The slope is that of the least cost, too: at the minimum the derivatives' share of it vanishes.
    """
    xp = namespace(waypoints, nodes, durations)
    exponents, T = _exponents(problem), durations[:, None]
    legendre = hermite.segment(*problem[:3])[1]
    step = (waypoints[1:] - waypoints[:-1])[:, None]
    data = xp.concatenate([xp.zeros_like(step), nodes[:-1], step, nodes[1:]], axis=1)
    values = legendre @ (data * (T**exponents)[..., None])
    slopes = legendre @ (data * (exponents * T ** (exponents - 1))[..., None])
    return (values**2).sum(), (2 * values * slopes).sum(axis=(1, 2))


def pieces(problem: SplineProblem, waypoints: Array, nodes: Array, durations: Array) -> Pieces:
    """The path as polynomials, each segment in powers about its nearer end.

    About the far end high derivatives would cancel; about the near one they are the nodes' own.
    """
    xp = namespace(waypoints, nodes, durations)
    powers, _ = hermite.segment(*problem[:3])
    scale = durations[:, None, None] ** np.arange(1, problem.continuity + 1)[:, None]
    left, right = nodes[:-1] * scale, nodes[1:] * scale
    step = (waypoints[1:] - waypoints[:-1])[:, None]
    mirror = (-1.0) ** np.arange(problem.degree + 1)[:, None]
    flip = mirror[1 : problem.continuity + 1]  # seen backwards in time, odd derivatives change sign
    ahead = powers @ xp.concatenate([0 * step, left, step, right], axis=1)
    back = mirror * (powers @ xp.concatenate([0 * step, flip * right, -step, flip * left], axis=1))
    both = xp.stack([_from(waypoints[:-1], ahead), _from(waypoints[1:], back)], axis=1)

    times = xp.concatenate([xp.zeros(1), xp.cumsum(durations)])
    halves = xp.stack([times[:-1], times[:-1] + durations / 2], axis=1).reshape(-1)
    return Pieces(
        breaks=xp.concatenate([halves, times[-1:]]),
        origin=xp.stack([times[:-1], times[1:]], axis=1).reshape(-1),
        scale=xp.repeat(durations, 2),
        coefficients=both.reshape(-1, *both.shape[2:]),
    )


def _system(problem: SplineProblem, waypoints: Array, durations: Array) -> tuple[Array, Array]:
    """What derivatives and waypoints contribute to the Legendre coefficients of all segments."""
    xp = namespace(waypoints, durations)
    c, segments = problem.continuity, len(durations)
    local = hermite.segment(*problem[:3])[1] * (durations[:, None] ** _exponents(problem))[:, None]
    i = np.arange(segments)
    matrix = xp.zeros((segments, local.shape[1], segments + 1, c))
    matrix = _put(matrix, (i, slice(None), i), local[..., 1 : c + 1])
    matrix = _put(matrix, (i, slice(None), i + 1), local[..., c + 2 :])
    load = local[..., c + 1, None] * (waypoints[1:] - waypoints[:-1])[:, None]
    return matrix.reshape(-1, (segments + 1) * c), load.reshape(-1, waypoints.shape[1])


def _exponents(problem: SplineProblem) -> Float[np.ndarray, " data"]:
    """Powers of the duration that go with each of a segment's data, derivatives being in real time."""
    return np.tile(np.arange(problem.continuity + 1), 2) + 0.5 - problem.derivative


def _least_squares(matrix: Array, right: Array) -> Array:
    """The least squares solution, columns scaled alike first; unlike SVD's it can be differentiated."""
    xp = namespace(matrix, right)
    scale = 1 / xp.sqrt((matrix**2).sum(axis=0))
    q, r = xp.linalg.qr(matrix * scale)
    return scale[:, None] * xp.linalg.solve(r, q.T @ right)


def _put(array: Array, index: Any, values: Array) -> Array:
    if isinstance(array, np.ndarray):
        array[index] = values
        return array
    return array.at[index].set(values)


def _from(points: Array, coefficients: Array) -> Series:
    """Coefficients relative to a point made absolute."""
    xp = namespace(points, coefficients)
    return xp.concatenate([coefficients[:, :1] + points[:, None], coefficients[:, 1:]], axis=1)
