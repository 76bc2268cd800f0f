"""Truncated Taylor series in time: exact derivatives without symbols or nested differentiation.

A series is an array whose leading axis holds the coefficients x^(k)/k! of x(t + tau) in powers of
tau; the other axes are whatever is expanded (times, components) and broadcast. Sums, and products
with plain numbers, are those of arrays; everything else is here (Griewank and Walther, Evaluating
Derivatives, ch. 13). Works on NumPy and on JAX arrays.
"""

from __future__ import annotations

import functools
import math
from operator import add
from typing import Any

import numpy as np
from jaxtyping import Float

from skyrig.arrays import Array, namespace

ORDER = 6
"""Highest derivative that references carry: exact body accelerations of a cable rig ask for the sixth."""

Series = Float[Array, "_ ..."]


def constant(value: Array, order: int = ORDER) -> Series:
    """The series of something that does not move."""
    xp = namespace(value)
    value = xp.asarray(value)
    return xp.concatenate([value[None], xp.zeros((order, *value.shape), value.dtype)])


def variable(value: Array, rate: Array = 1.0, order: int = ORDER) -> Series:
    """The series of `value + rate * tau`; with rate 1, of time itself."""
    xp = namespace(value, rate)
    value, rate = xp.broadcast_arrays(xp.asarray(value, dtype=float), xp.asarray(rate, dtype=float))
    return xp.concatenate([value[None], rate[None], xp.zeros((order - 1, *value.shape), value.dtype)])


def multiply(a: Series, b: Series) -> Series:
    """The product of two series (Cauchy), as long as the shorter of the two."""
    n = min(len(a), len(b))
    xp = namespace(a, b)
    if xp is np:
        if still(a):  # as most attitudes are
            return a[0] * b[:n]
        if still(b):
            return a[:n] * b[0]
        out = a[0] * b[:n]  # laid out in memory as its factors are
        for j in range(1, n):
            out[j:] += a[j] * b[: n - j]
        return out
    # Traced, a sum of shifted products is fused into one kernel.
    shape = np.broadcast_shapes(a.shape[1:], b.shape[1:])
    rest = [(0, 0)] * len(shape)
    terms = (a[j] * b[: n - j] for j in range(n))
    padded = (xp.pad(xp.broadcast_to(it, (len(it), *shape)), [(n - len(it), 0), *rest]) for it in terms)
    return functools.reduce(xp.add, padded)


def power(a: Series, exponent: float) -> Series:
    """A positive series to any power (for whole powers, one that is not zero).

    From a (a^p)' = p a' a^p, coefficient by coefficient.
    """
    inverse, out = 1 / a[0], _blank(a)
    out[0] = _first_power(a[0], exponent)
    for k in range(1, len(a)):
        terms = ((exponent * j - (k - j)) / k * a[j] * out[k - j] for j in range(1, k + 1))
        out[k] = functools.reduce(add, terms) * inverse
    return _filled(out)


def reciprocal(a: Series) -> Series:
    """1/a, for a series that is not zero."""
    return power(a, -1.0)


def divide(a: Series, b: Series) -> Series:
    """a/b, for a series b that is not zero."""
    return multiply(a, reciprocal(b))


def sqrt(a: Series) -> Series:
    """The square root of a positive series."""
    return power(a, 0.5)


def sin_cos(a: Series) -> tuple[Series, Series]:
    """Sine and cosine of a series: from sin' = cos a', cos' = -sin a', coefficient by coefficient."""
    xp = namespace(a)
    first = xp.sin(a[0]), xp.cos(a[0])
    if xp is np and still(a):
        return constant(first[0], len(a) - 1), constant(first[1], len(a) - 1)
    rate = differentiate(a)
    sine, cosine = _blank(a), _blank(a)
    sine[0], cosine[0] = first
    for k in range(1, len(a)):
        sine[k] = _summed(rate, cosine, k) / k
        cosine[k] = _summed(rate, sine, k) / -k
    return _filled(sine), _filled(cosine)


def polynomial(coefficients: Array, s: Array, rate: Array) -> Series:
    """The series of sum_n c_n s^n where s moves at a constant `rate`.

    Args:
        coefficients: c_n along the leading axis; the other axes broadcast against those of `s`.
        s: Where to evaluate.
        rate: ds/dt (1/s when s is normalised time).
    """
    xp = namespace(coefficients, s, rate)
    if np.ndim(coefficients) == 1:
        coefficients = coefficients.reshape(-1, *[1] * np.ndim(s))
    n, k = np.arange(len(coefficients)), np.arange(ORDER + 1)
    # The k-th coefficient of the series is a polynomial of its own, sum_n C(n+k, k) c_(n+k) s^n.
    binomials = np.array([[float(math.comb(i + j, j)) for j in k] for i in n])
    padded = xp.concatenate([coefficients, xp.zeros_like(coefficients[:1])])
    rows = padded[np.minimum(np.add.outer(n, k), len(n))]
    rows = rows * binomials.reshape(*binomials.shape, *[1] * (rows.ndim - 2))
    out = rows[-1] + xp.zeros_like(s)
    for row in rows[-2::-1]:
        out *= s  # in place, in NumPy
        out += row
    return out * _powers(rate + xp.zeros_like(s), len(k))


def beside(parts: list[Array]) -> Array:
    """Arrays as the components of a new last axis, each left in one piece in memory."""
    xp = namespace(*parts)
    return xp.moveaxis(xp.stack(parts), 0, -1)


def dot(a: Series, b: Series) -> Series:
    """Inner product over the last axis, which is kept with extent 1 so that it broadcasts."""
    return multiply(a, b).sum(axis=-1, keepdims=True)


def cross(a: Series, b: Series) -> Series:
    """Cross product over the last axis (3)."""
    roll = namespace(a, b).roll
    return roll(multiply(a, roll(b, -1, axis=-1)) - multiply(roll(a, -1, axis=-1), b), -1, axis=-1)


def unit(a: Series) -> Series:
    """Vectors along the last axis at length one; they must not vanish."""
    return multiply(a, power(dot(a, a), -0.5))


def differentiate(a: Series) -> Series:
    """The series of the time derivative, one coefficient shorter."""
    return a[1:] * _column(np.arange(1.0, len(a)), a)


def derivatives(a: Series) -> Series:
    """Derivatives x^(k) from coefficients x^(k)/k!, along the leading axis."""
    return a * _column(np.array([float(math.factorial(k)) for k in range(len(a))]), a)


def from_derivatives(d: Series) -> Series:
    """Coefficients x^(k)/k! from derivatives x^(k), along the leading axis."""
    return d / _column(np.array([float(math.factorial(k)) for k in range(len(d))]), d)


def still(a: Series) -> bool:
    """Whether a series does not move; one that does mostly shows it halfway."""
    if a.ndim > 1 and a.shape[1] and a[1:, a.shape[1] // 2].any():
        return False
    return not a[1:].any()


def _first_power(base: Array, exponent: float) -> Array:
    """`base` to a power; a general one costs more than all else around it."""
    if exponent == -1.0:
        return 1 / base
    if abs(exponent) == 0.5:
        root = namespace(base).sqrt(base)
        return root if exponent > 0 else 1 / root
    return base**exponent


def _powers(base: Array, count: int) -> Array:
    """`base` to the powers 0 to `count` - 1, along a new leading axis."""
    xp = namespace(base)
    rows = [xp.ones_like(base)]
    for _ in range(count - 1):
        rows.append(rows[-1] * base)
    return xp.stack(rows)


def _blank(like: Series) -> Any:
    """Room for the coefficients of a series: an array in NumPy, a list while tracing."""
    return np.empty(like.shape) if namespace(like) is np else [None] * len(like)


def _summed(a: Series, out: Any, count: int) -> Array:
    """The sum of a_j out_(count - 1 - j): term by term, as one of NumPy's reductions costs far more."""
    return functools.reduce(add, (a[j] * out[count - 1 - j] for j in range(count)))


def _filled(out: Any) -> Series:
    """The series that lies in what `_blank` made."""
    return out if isinstance(out, np.ndarray) else namespace(*out).stack(out)


def _column(values: Array, like: Series) -> Array:
    """One number a coefficient, shaped to broadcast against a series."""
    return values.reshape(-1, *[1] * (np.ndim(like) - 1))
