"""One polynomial segment by what it does at its two ends, with rational arithmetic where it matters.

On the unit segment 0 <= s <= 1 the data are d = (x, x', ..., x^(c)) at s = 0, then the same at
s = 1. The segment's power form is linear in d, and so is its k-th derivative in orthonormal Legendre
polynomials, whose squares then sum up to the cost. These matrices are small but ill-conditioned to
compute, so they are computed exactly and rounded once. A segment lasting T has the same matrices for
d_j T^j.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb, factorial

import numpy as np
from jaxtyping import Float

Matrix = list[list[Fraction]]


@cache
def segment(
    derivative: int, continuity: int, degree: int
) -> tuple[Float[np.ndarray, "powers data"], Float[np.ndarray, "legendre data"]]:
    """Power coefficients and k-th derivative of the best unit segment with given end data.

    Args:
        derivative: k, the derivative whose squared integral is the cost.
        continuity: c, the highest derivative among the end data.
        degree: Of the polynomial, at least 2c+1. Freedom beyond that, the multiples of
            (s(1-s))^(c+1), is used up here to lower the cost.

    Returns:
        P and L: the segment is sum_n (P d)_n s^n, and its cost the square of L d.
    """
    ends, size = 2 * (continuity + 1), degree + 1
    values = [[_power_derivative(n, j, 0) for n in range(ends)] for j in range(continuity + 1)]
    values += [[_power_derivative(n, j, 1) for n in range(ends)] for j in range(continuity + 1)]
    powers = _solve(values, _identity(ends)) + [[Fraction(0)] * ends for _ in range(size - ends)]
    if size > ends:
        bubbles = _transpose([_bubble(continuity + 1, extra, size) for extra in range(size - ends)])
        gram = [[_gram(a, b, derivative) for b in range(size)] for a in range(size)]
        weighed = _multiply(_transpose(bubbles), gram)
        best = _solve(_multiply(weighed, bubbles), _multiply(weighed, powers))
        powers = _subtract(powers, _multiply(bubbles, best))
    legendre = [[_legendre(n, m, derivative) for m in range(size)] for n in range(size - derivative)]
    norms = np.sqrt(2 * np.arange(size - derivative) + 1.0)[:, None]
    return np.array(powers, dtype=float), norms * np.array(_multiply(legendre, powers), dtype=float)


def _legendre(n: int, m: int, k: int) -> Fraction:
    """The integral over 0..1 of the n-th shifted Legendre polynomial times the k-th derivative of s^m."""
    if m < k:
        return Fraction(0)
    terms = ((-1) ** (n + i) * comb(n, i) * comb(n + i, i) * Fraction(1, m - k + i + 1) for i in range(n + 1))
    return _power_derivative(m, k, 1) * sum(terms, Fraction(0))


def _power_derivative(n: int, j: int, s: int) -> Fraction:
    """The j-th derivative of s^n at s = 0 or 1."""
    return Fraction(factorial(n), factorial(n - j)) if n >= j and (s == 1 or n == j) else Fraction(0)


def _gram(a: int, b: int, k: int) -> Fraction:
    """The integral over 0..1 of the k-th derivatives of s^a and s^b, multiplied."""
    if a < k or b < k:
        return Fraction(0)
    return _power_derivative(a, k, 1) * _power_derivative(b, k, 1) / (a + b - 2 * k + 1)


def _bubble(n: int, extra: int, size: int) -> list[Fraction]:
    """Power coefficients of s^(n+extra) (1-s)^n."""
    out = [Fraction(0)] * size
    for i in range(n + 1):
        out[n + extra + i] = Fraction((-1) ** i * factorial(n), factorial(i) * factorial(n - i))
    return out


def _identity(n: int) -> Matrix:
    return [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]


def _subtract(a: Matrix, b: Matrix) -> Matrix:
    return [[x - y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]


def _transpose(a: Matrix) -> Matrix:
    return [list(row) for row in zip(*a, strict=True)]


def _multiply(a: Matrix, b: Matrix) -> Matrix:
    columns = _transpose(b)
    return [
        [sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0)) for column in columns]
        for row in a
    ]


def _solve(a: Matrix, b: Matrix) -> Matrix:
    """a^-1 b by elimination; exact, so any non-zero pivot is as good as another."""
    n = len(a)
    rows = [list(left) + list(right) for left, right in zip(a, b, strict=True)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if rows[r][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(n):
            if r != i and rows[r][i]:
                factor = rows[r][i]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [row[n:] for row in rows]
