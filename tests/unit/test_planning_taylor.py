"""Truncated Taylor series obey the algebra of functions and agree with automatic differentiation."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skyrig.planning import smoothstep, taylor

jax.config.update("jax_enable_x64", True)

numbers = st.floats(-2, 2, allow_subnormal=False)
series = arrays(np.float64, (7, 2), elements=numbers)
vectors = arrays(np.float64, (7, 2, 3), elements=numbers)


def away_from_zero(a: np.ndarray) -> np.ndarray:
    """The same series with a value of at least one, so that it can be divided by."""
    return np.concatenate([1 + np.abs(a[:1]), a[1:]])


@given(series, series, series)
def test_products_commute_associate_and_distribute(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    times = taylor.multiply
    np.testing.assert_allclose(times(a, b), times(b, a), atol=1e-12)
    np.testing.assert_allclose(times(times(a, b), c), times(a, times(b, c)), atol=1e-10)
    np.testing.assert_allclose(times(a, b + c), times(a, b) + times(a, c), atol=1e-11)


@given(series, series)
def test_leibniz(a: np.ndarray, b: np.ndarray) -> None:
    left = taylor.differentiate(taylor.multiply(a, b))
    right = taylor.multiply(taylor.differentiate(a), b) + taylor.multiply(a, taylor.differentiate(b))
    np.testing.assert_allclose(left, right, atol=1e-11)


@given(series)
def test_inverse_functions_undo(a: np.ndarray) -> None:
    a = away_from_zero(a)
    one = taylor.constant(np.ones(2))
    scale = 3.0**8  # coefficients of the inverse of 1 - x with |x| up to 3 grow like this
    np.testing.assert_allclose(taylor.multiply(a, taylor.reciprocal(a)), one, atol=1e-15 * scale)
    np.testing.assert_allclose(taylor.divide(a, a), one, atol=1e-15 * scale)
    root = taylor.sqrt(a)
    np.testing.assert_allclose(taylor.multiply(root, root), a, atol=1e-15 * scale)


@given(series)
def test_sine_and_cosine_lie_on_the_circle_and_turn_into_each_other(a: np.ndarray) -> None:
    sine, cosine = taylor.sin_cos(a)
    square = taylor.multiply(sine, sine) + taylor.multiply(cosine, cosine)
    np.testing.assert_allclose(square, taylor.constant(np.ones(2)), atol=1e-8)
    chain = taylor.multiply(cosine, taylor.differentiate(a))
    np.testing.assert_allclose(taylor.differentiate(sine), chain, rtol=1e-12, atol=1e-9)


@given(vectors, vectors)
def test_cross_product_stands_on_its_factors(a: np.ndarray, b: np.ndarray) -> None:
    product = taylor.cross(a, b)
    np.testing.assert_allclose(product[0], np.cross(a[0], b[0]), atol=1e-13)
    np.testing.assert_allclose(taylor.dot(a, product), 0, atol=1e-9)


def test_unit_vectors_keep_their_length() -> None:
    a = np.random.default_rng(0).normal(size=(7, 5, 3))
    a[0] += [0, 0, 5]
    length = taylor.dot(taylor.unit(a), taylor.unit(a))
    np.testing.assert_allclose(length, taylor.constant(np.ones((5, 1))), atol=1e-12)


def test_a_composed_function_agrees_with_nested_automatic_differentiation() -> None:
    def plain(t):
        return jnp.sqrt(2 + jnp.sin(t * t)) / (1.5 + jnp.cos(t))

    def derivatives(t):
        functions = [plain]
        for _ in range(6):
            functions.append(jax.grad(functions[-1]))
        return jnp.stack([function(t) for function in functions])

    t = taylor.variable(np.array(0.7))
    inside = taylor.sin_cos(taylor.multiply(t, t))[0] + taylor.constant(np.array(2.0))
    ours = taylor.divide(taylor.sqrt(inside), taylor.sin_cos(t)[1] + taylor.constant(np.array(1.5)))
    np.testing.assert_allclose(taylor.derivatives(ours), jax.jit(derivatives)(0.7), rtol=1e-12)


@given(arrays(np.float64, (9,), elements=numbers), numbers, numbers)
def test_polynomials_agree_with_numpy(c: np.ndarray, s: float, rate: float) -> None:
    ours = taylor.derivatives(taylor.polynomial(c, np.array(s), np.array(rate)))
    whole = np.polynomial.Polynomial(c)
    exact = [whole.deriv(k)(s) * rate**k if k else whole(s) for k in range(7)]
    np.testing.assert_allclose(ours, exact, rtol=1e-10, atol=1e-9)


@given(series)
def test_derivatives_and_coefficients_convert_both_ways(a: np.ndarray) -> None:
    np.testing.assert_allclose(taylor.from_derivatives(taylor.derivatives(a)), a, rtol=1e-14)


@pytest.mark.parametrize("n", range(7))
def test_smooth_step_leaves_zero_and_reaches_one_with_n_derivatives_zero(n: int) -> None:
    ends = taylor.derivatives(smoothstep.step(n, np.array([0.0, 1.0]), np.array(1.0)))
    assert np.array_equal(ends[0], [0, 1])
    assert np.array_equal(ends[1 : n + 1], np.zeros((n, 2)))  # exactly: evaluated from the nearer end
    if n < 6:
        # The first that does not vanish: (2n+1)!/n!, by counting the power form.
        assert ends[n + 1, 0] == pytest.approx(math.factorial(2 * n + 1) / math.factorial(n))


@pytest.mark.parametrize("n", range(7))
@pytest.mark.parametrize("rate", [2.0, -0.5])
def test_smooth_step_is_the_slope_of_its_integral(n: int, rate: float) -> None:
    s = np.linspace(0, 1, 41)
    step = smoothstep.step(n, s, np.array(rate))
    slope = taylor.differentiate(smoothstep.integral(n, s, np.array(rate)))
    scale = np.maximum(np.abs(step).max(axis=1, keepdims=True)[:6], 1.0)
    np.testing.assert_allclose(slope / scale, rate * step[:6] / scale, atol=1e-12)
    assert smoothstep.integral(n, np.array(1.0), np.array(1.0))[0] == 0.5


@pytest.mark.parametrize("n", range(1, 7))
def test_smooth_step_does_not_jump_where_its_two_halves_meet(n: int) -> None:
    left, right = (
        smoothstep.step(n, np.nextafter(np.array(0.5), side), np.array(1.0)) for side in (0.0, 1.0)
    )
    np.testing.assert_allclose(left, right, rtol=1e-11, atol=1e-11 * np.abs(left).max())
