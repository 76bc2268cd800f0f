"""The smoothest polynomial from 0 to 1: as many derivatives as wanted vanish at both ends.

    p_n(s) = s^(n+1) sum_j C(n+j, j) (1-s)^j,   degree 2n+1,   p_n^(1..n) = 0 at s = 0 and s = 1

n = 2 is the quintic of straight lines and of circle ramps as RotorTM flies them. Both functions
are evaluated from the nearer end (p(s) = 1 - p(1-s)): the power form cancels badly at the far
one, by 1e-5 in the sixth derivative for n = 6.
"""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np
from jaxtyping import Float

from skyrig.arrays import Array, namespace
from skyrig.planning import taylor
from skyrig.planning.taylor import Series


@cache
def coefficients(n: int) -> Float[np.ndarray, " degree"]:
    """Power coefficients of p_n; exact, they are integers."""
    out = [0] * (2 * n + 2)
    for j in range(n + 1):
        for i in range(j + 1):
            out[n + 1 + i] += comb(n + j, j) * comb(j, i) * (-1) ** i
    return np.array(out, dtype=float)


def step(n: int, s: Float[Array, " *times"], rate: Array) -> Series:
    """The series of p_n(s) for 0 <= s <= 1 moving at `rate` = ds/dt."""
    xp = namespace(s, rate)
    late = s > 0.5
    near = taylor.polynomial(coefficients(n), xp.where(late, 1 - s, s), xp.where(late, -rate, rate))
    return xp.where(late, taylor.constant(xp.ones_like(s)) - near, near)


def integral(n: int, s: Float[Array, " *times"], rate: Array) -> Series:
    """The series of the integral of p_n from 0 to s; it ends at 1/2."""
    xp = namespace(s, rate)
    late = s > 0.5
    power = np.concatenate([[0.0], coefficients(n) / np.arange(1.0, 2 * n + 3)])
    near = taylor.polynomial(power, xp.where(late, 1 - s, s), xp.where(late, -rate, rate))
    return xp.where(late, near + taylor.variable(s - 0.5, rate), near)


@cache
def peak_rate(n: int) -> float:
    """The largest slope of p_n, at s = 1/2: how much faster than the mean it must go."""
    return float(step(n, np.array(0.5), np.array(1.0))[1])
