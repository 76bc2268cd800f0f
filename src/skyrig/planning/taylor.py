"""Truncated Taylor series in time: exact derivatives without symbols or nested differentiation.

A series is an array whose leading axis holds the coefficients x^(k)/k! of x(t + tau) in powers of
tau; the other axes are whatever is expanded (times, components) and broadcast. Sums, and products
with plain numbers, are those of arrays; everything else is here. Recurrences as in Griewank and
Walther, Evaluating Derivatives, ch. 13. Works on NumPy and on JAX arrays.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from skyrig.planning.arrays import Array, namespace

ORDER = 6
"""Highest derivative that references carry: exact body accelerations of a cable rig ask for the sixth."""

Series = Float[Array, "order ..."]


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
    terms = range(min(len(a), len(b)))
    return _stack([sum(a[j] * b[k - j] for j in range(k + 1)) for k in terms])


def reciprocal(a: Series) -> Series:
    """1/a, for a series that is not zero."""
    out = [1 / a[0]]
    for k in range(1, len(a)):
        out.append(-out[0] * sum(a[j] * out[k - j] for j in range(1, k + 1)))
    return _stack(out)


def divide(a: Series, b: Series) -> Series:
    """a/b, for a series b that is not zero."""
    return multiply(a, reciprocal(b))


def sqrt(a: Series) -> Series:
    """The square root of a positive series."""
    root = namespace(a).sqrt(a[0])
    out = [root]
    for k in range(1, len(a)):
        out.append((a[k] - sum(out[j] * out[k - j] for j in range(1, k))) / (2 * root))
    return _stack(out)


def sin_cos(a: Series) -> tuple[Series, Series]:
    """Sine and cosine of a series; each one's recurrence needs the other."""
    xp = namespace(a)
    sine, cosine = [xp.sin(a[0])], [xp.cos(a[0])]
    for k in range(1, len(a)):
        sine.append(sum(j * a[j] * cosine[k - j] for j in range(1, k + 1)) / k)
        cosine.append(-sum(j * a[j] * sine[k - j] for j in range(1, k + 1)) / k)
    return _stack(sine), _stack(cosine)


def polynomial(coefficients: Array, s: Array, rate: Array) -> Series:
    """The series of sum_n c_n s^n where s moves at a constant `rate`.

    Args:
        coefficients: c_n along the leading axis; the other axes broadcast against those of `s`.
        s: Where to evaluate.
        rate: ds/dt (1/s when s is normalised time).
    """
    xp = namespace(coefficients, s, rate)
    shape = np.broadcast_shapes(np.shape(s), np.shape(rate), np.shape(coefficients)[1:])
    out = xp.zeros((ORDER + 1, *shape))
    for c in reversed(coefficients):  # Horner; times (s + rate tau) is a shift and two products
        out = xp.concatenate([(out[0] * s + c)[None], out[1:] * s + out[:-1] * rate])
    return out


def dot(a: Series, b: Series) -> Series:
    """Inner product over the last axis, which is kept with extent 1 so that it broadcasts."""
    return multiply(a, b).sum(axis=-1, keepdims=True)


def cross(a: Series, b: Series) -> Series:
    """Cross product over the last axis (3)."""
    roll = namespace(a, b).roll
    return roll(multiply(a, roll(b, -1, axis=-1)) - multiply(roll(a, -1, axis=-1), b), -1, axis=-1)


def unit(a: Series) -> Series:
    """Vectors along the last axis at length one; they must not vanish."""
    return divide(a, sqrt(dot(a, a)))


def differentiate(a: Series) -> Series:
    """The series of the time derivative, one coefficient shorter."""
    return a[1:] * _column(np.arange(1.0, len(a)), a)


def derivatives(a: Series) -> Series:
    """Derivatives x^(k) from coefficients x^(k)/k!, along the leading axis."""
    return a * _column(np.array([float(math.factorial(k)) for k in range(len(a))]), a)


def from_derivatives(d: Series) -> Series:
    """Coefficients x^(k)/k! from derivatives x^(k), along the leading axis."""
    return d / _column(np.array([float(math.factorial(k)) for k in range(len(d))]), d)


def _column(values: Array, like: Series) -> Array:
    """One number a coefficient, shaped to broadcast against a series."""
    return values.reshape(-1, *[1] * (np.ndim(like) - 1))


def _stack(terms: list[Array]) -> Series:
    xp = namespace(*terms)
    return xp.stack(xp.broadcast_arrays(*terms))
