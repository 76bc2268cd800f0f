"""Paths of least squared derivative: against exact arithmetic, SciPy's splines, and themselves."""

from fractions import Fraction
from math import factorial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.interpolate import make_interp_spline

from skyrig.errors import InputError
from skyrig.planning import spline, waypoints

jax.config.update("jax_enable_x64", True)

SLALOM = np.array([[0, 0, 0], [0.5, -0.5, 0.25], [1, 0, 0.5], [1.5, -0.5, 0.75], [2, 0, 1]])
ORDERS = range(2, 7)


def on_a_line(values: list) -> np.ndarray:
    """Waypoints along x alone."""
    return np.stack([np.array(values, dtype=float), np.zeros(len(values)), np.zeros(len(values))], axis=1)


def exact_least_cost(
    values: list[int], durations: list[int], k: int, c: int, degree: int, start: int, end: int
) -> Fraction:
    """The least cost by the dense KKT system of eqs. 59-60 in powers of time, in rational numbers.

    `start` and `end` say how many derivatives are zero there.
    """
    size, segments = degree + 1, len(durations)

    def at(segment: int, j: int, t: int) -> list[Fraction]:
        row = [Fraction(0)] * (size * segments)
        for n in range(j, size):
            row[segment * size + n] = Fraction(factorial(n), factorial(n - j)) * Fraction(t) ** (n - j)
        return row

    rows, right = [], []
    for i, T in enumerate(durations):
        rows += [at(i, 0, 0), at(i, 0, T)]
        right += [Fraction(values[i]), Fraction(values[i + 1])]
        if i:
            for j in range(1, c + 1):
                here, there = at(i - 1, j, durations[i - 1]), at(i, j, 0)
                rows.append([a - b for a, b in zip(here, there, strict=True)])
                right.append(Fraction(0))
    rows += [at(0, j, 0) for j in range(1, start + 1)]
    rows += [at(segments - 1, j, durations[-1]) for j in range(1, end + 1)]
    right += [Fraction(0)] * (start + end)

    hessian = [[Fraction(0)] * (size * segments) for _ in range(size * segments)]
    for i, T in enumerate(durations):
        for a in range(k, size):
            for b in range(k, size):
                scale = Fraction(factorial(a), factorial(a - k)) * Fraction(factorial(b), factorial(b - k))
                power = a + b - 2 * k + 1
                hessian[i * size + a][i * size + b] = scale * Fraction(T) ** power / power
    zero = [Fraction(0)] * len(rows)
    system = [h + list(column) for h, column in zip(hessian, zip(*rows, strict=True), strict=True)]
    system += [row + zero for row in rows]
    solution = eliminate(system, [Fraction(0)] * len(hessian) + right)[: len(hessian)]
    return sum(
        (
            x * h * y
            for x, line in zip(solution, hessian, strict=True)
            if x
            for h, y in zip(line, solution, strict=True)
            if h
        ),
        Fraction(0),
    )


def eliminate(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """Gaussian elimination, exact."""
    n = len(matrix)
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if rows[r][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        live = [j for j in range(i, n + 1) if rows[i][j]]
        for r in range(n):
            if r != i and rows[r][i]:
                factor = rows[r][i] / rows[i][i]
                for j in live:
                    rows[r][j] -= factor * rows[i][j]
    return [row[n] / row[i] for i, row in enumerate(rows)]


@pytest.mark.parametrize("k", ORDERS)
@pytest.mark.parametrize("ends", ["rest", "free"])
def test_least_cost_is_that_of_the_exact_kkt_system(k: int, ends: str) -> None:
    values, durations = (
        ([0, 1, -2, 3], [1, 3, 2]) if ends == "rest" else ([0, 2, -1, 3, 1, 4, 0], [1, 2, 1, 3, 2, 1])
    )
    fixed = k - 1 if ends == "rest" else 0
    path = waypoints(
        points=on_a_line(values), durations=durations, derivative=k, start_motion=ends, end_motion=ends
    )
    exact = exact_least_cost(values, durations, k, k - 1, 2 * k - 1, fixed, fixed)
    assert path.cost == pytest.approx(float(exact), rel=1e-11)


@pytest.mark.parametrize(("k", "c", "degree"), [(4, 2, 6), (3, 2, 8), (4, 6, 13), (2, 3, 8), (6, 4, 10)])
def test_other_degrees_and_continuities_too(k: int, c: int, degree: int) -> None:
    values, durations = [0, 1, -2], [1, 3]
    path = waypoints(points=on_a_line(values), durations=durations, derivative=k, continuity=c, degree=degree)
    assert path.cost == pytest.approx(
        float(exact_least_cost(values, durations, k, c, degree, c, c)), rel=1e-11
    )


@pytest.mark.parametrize("k", ORDERS)
@pytest.mark.parametrize("ends", ["rest", "free"])
def test_the_minimiser_is_the_spline_of_degree_2k_minus_1(k: int, ends: str) -> None:
    rng = np.random.default_rng(k)
    points = rng.normal(size=(9, 3))
    times = np.concatenate([[0], np.cumsum(rng.uniform(0.5, 2, 8))])
    path = waypoints(points=points, times=times, derivative=k, start_motion=ends, end_motion=ends)
    # Natural ends: the multipliers of nothing are zero, so derivatives k to 2k-2 vanish.
    vanishing = range(1, k) if ends == "rest" else range(k, 2 * k - 1)
    conditions = [(order, np.zeros(3)) for order in vanishing]
    theirs = make_interp_spline(times, points, k=2 * k - 1, bc_type=(conditions, conditions))
    inside = np.linspace(0, times[-1], 101)[1:-1]
    ours = path.sample(inside).position
    for order in range(4):
        reference = theirs(inside, nu=order)
        scale = np.abs(reference).max()
        np.testing.assert_allclose(ours[:, order] / scale, reference / scale, atol=1e-7)


@pytest.mark.parametrize("k", ORDERS)
def test_the_cost_is_the_integral_it_claims_to_be(k: int) -> None:
    path = waypoints(points=SLALOM, derivative=k)
    nodes, weights = np.polynomial.legendre.leggauss(12)  # exact for degree 23
    total = 0.0
    for a, b in zip(path.times[:-1], path.times[1:], strict=True):
        x = path.sample((a + b) / 2 + (b - a) / 2 * nodes).position[:, k]
        total += (b - a) / 2 * weights @ (x**2).sum(axis=-1)
    assert path.cost == pytest.approx(total, rel=1e-11)


@pytest.mark.parametrize("k", ORDERS)
@pytest.mark.parametrize("ends", ["rest", "free"])
@pytest.mark.parametrize(("ratio", "carried", "beyond"), [(4, 1e-10, 1e-7), (100, 1e-8, 1e-3)])
def test_thirty_waypoints(k: int, ends: str, ratio: float, carried: float, beyond: float) -> None:
    rng = np.random.default_rng(30 + k)
    points = np.array([100.0, -50.0, 10.0]) + np.cumsum(rng.normal(size=(30, 3)), axis=0)
    durations = 0.5 * ratio ** rng.uniform(0, 1, 29)
    path = waypoints(points=points, durations=durations, derivative=k, start_motion=ends, end_motion=ends)
    np.testing.assert_array_equal(path.sample(path.times).position[:, 0], points)
    # All 2k-2 promised derivatives, from the polynomials on both sides of every waypoint.
    coefficients, scale = path.pieces.coefficients[..., :3], path.pieces.scale
    for order in range(1, 2 * k - 1):
        sides = coefficients[:, order] / scale[:, None] ** order
        tolerance = (carried if order <= 6 else beyond) * np.abs(sides).max()
        assert np.abs(sides[1:-1:2] - sides[2::2]).max() < tolerance
        if ends == "free" and order >= k:
            assert np.abs(sides[[0, -1]]).max() < tolerance
    # The halves of a segment are two expansions of one polynomial.
    middle = (path.times[1:] + path.times[:-1]) / 2
    left, right = (path.sample(np.nextafter(middle, side)).position for side in (0, np.inf))
    scale = np.abs(left).max(axis=(0, 2), keepdims=True) + 1e-12
    np.testing.assert_allclose(left / scale, right / scale, atol=1e-6)


@settings(max_examples=30)
@given(
    st.sampled_from(ORDERS),
    arrays(np.float64, (5, 3), elements=st.floats(-5, 5)),
    arrays(np.float64, (4,), elements=st.floats(0.3, 3)),
    st.integers(0, 2**31),
)
def test_no_other_path_costs_less(k: int, points: np.ndarray, durations: np.ndarray, seed: int) -> None:
    problem = spline.SplineProblem(k, k - 1, 2 * k - 1, np.zeros((k - 1, 3)), np.zeros((k - 1, 3)))
    nodes = spline.node_derivatives(problem, points, durations)
    least, _ = spline.cost(problem, points, nodes, durations)
    other = nodes.copy()
    other[1:-1] += np.random.default_rng(seed).normal(size=nodes[1:-1].shape)
    assert spline.cost(problem, points, other, durations)[0] >= least * (1 - 1e-9)


@settings(max_examples=30)
@given(
    st.sampled_from(ORDERS),
    arrays(np.float64, (6, 3), elements=st.floats(-5, 5)),
    arrays(np.float64, (5,), elements=st.floats(0.3, 3)),
    st.floats(0.2, 5),
)
def test_symmetries(k: int, points: np.ndarray, durations: np.ndarray, factor: float) -> None:
    path = waypoints(points=points, durations=durations, derivative=k)
    times = np.linspace(0, path.duration, 13)[1:-1]  # at the ends rounding decides: moving or held
    x = path.sample(times).position
    scale = 1 + np.abs(x).max(axis=(0, 2))[:3, None]
    moved = (
        waypoints(points=3 * points + [10, 20, 30], durations=durations, derivative=k).sample(times).position
    )
    np.testing.assert_allclose(moved[:, 0], 3 * x[:, 0] + [10, 20, 30], atol=1e-7 * scale[0, 0])
    slow = waypoints(points=points, durations=factor * durations, derivative=k)
    powers = factor ** np.arange(3)[:, None]
    np.testing.assert_allclose(
        slow.sample(factor * times).position[:, :3] * powers / scale, x[:, :3] / scale, atol=1e-7
    )
    assert slow.cost == pytest.approx(path.cost * factor ** (1 - 2 * k), rel=1e-6, abs=1e-12)
    back = waypoints(points=points[::-1], durations=durations[::-1], derivative=k).sample(
        path.duration - times
    )
    signs = (-1.0) ** np.arange(3)[:, None]
    np.testing.assert_allclose(back.position[:, :3] * signs / scale, x[:, :3] / scale, atol=1e-7)


def test_given_motion_at_an_end_is_kept() -> None:
    motion = [[1.0, 2.0, 3.0], [0.1, 0.2, 0.3]]
    path = waypoints(points=SLALOM, start_motion=motion, end_motion="free")
    np.testing.assert_allclose(path.start.position[1:3], motion, atol=1e-15)
    assert np.abs(path.end.position[4:7]).max() < 1e-12  # free ends are natural
    assert np.abs(path.end.position[1]).max() > 1e-3


def test_attitudes_are_joined_like_positions() -> None:
    angles = 0.1 * SLALOM
    path = waypoints(points=SLALOM, attitudes=angles)
    times = np.linspace(0, path.duration, 20)
    np.testing.assert_allclose(path.sample(times).euler, 0.1 * path.sample(times).position, atol=1e-12)


# Times


@pytest.mark.parametrize(("speed", "acceleration", "total"), [(2, 5, 20.053), (3, 10, 13.096)])
def test_published_slalom_takes_its_published_time(speed: float, acceleration: float, total: float) -> None:
    assert waypoints(points=SLALOM, speed=speed, acceleration=acceleration).duration == pytest.approx(
        total, abs=1e-3
    )


def test_slope_of_the_least_cost_in_the_durations() -> None:
    problem = spline.SplineProblem(4, 3, 7, np.zeros((3, 3)), np.zeros((0, 3)))
    durations = np.array([1.0, 2.0, 1.5, 0.7])

    def least(T: np.ndarray) -> float:
        return float(spline.cost(problem, SLALOM, spline.node_derivatives(problem, SLALOM, T), T)[0])

    nodes = spline.node_derivatives(problem, SLALOM, durations)
    _, slope = spline.cost(problem, SLALOM, nodes, durations)
    measured = [(least(durations + e) - least(durations - e)) / 2e-5 for e in 1e-5 * np.eye(4)]
    np.testing.assert_allclose(slope, measured, rtol=1e-6)


@pytest.mark.parametrize("k", [2, 4, 6])
def test_optimal_times_cost_least_for_their_total(k: int) -> None:
    points = np.random.default_rng(2).normal(size=(8, 3))
    best = waypoints(points=points, derivative=k, allocation="optimal", total=15.0)
    chord = waypoints(points=points, derivative=k, allocation="chord", total=15.0)
    assert best.duration == pytest.approx(15.0) == chord.duration
    assert best.cost < chord.cost
    # Lagrange: moving time from one segment to another gains nothing, to first order.
    problem = spline.SplineProblem(k, k - 1, 2 * k - 1, np.zeros((k - 1, 3)), np.zeros((k - 1, 3)))
    T = np.diff(best.times)
    _, slope = spline.cost(problem, points, spline.node_derivatives(problem, points, T), T)
    np.testing.assert_allclose(slope, slope.mean(), rtol=1e-4)
    rng = np.random.default_rng(3)
    for _ in range(5):
        tried = T * np.exp(0.05 * rng.normal(size=len(T)))
        assert waypoints(points=points, derivative=k, durations=tried * 15 / tried.sum()).cost >= best.cost


# With JAX


def test_derivatives_in_waypoints_and_durations() -> None:
    times = np.array([0.3, 2.0, 7.1])

    @jax.jit
    def fly(points, durations):
        return waypoints(points=points, durations=durations).sample(times).position[:, :3]

    durations = jnp.array([2.0, 3.0, 2.5, 2.0])
    in_points, in_durations = jax.jit(jax.jacfwd(fly, argnums=(0, 1)))(jnp.asarray(SLALOM), durations)
    for i, h in ((0, 1e-5), (3, 1e-5)):
        step = h * np.eye(4)[i]
        measured = (fly(SLALOM, durations + step) - fly(SLALOM, durations - step)) / (2 * h)
        np.testing.assert_allclose(in_durations[..., i], measured, rtol=1e-6, atol=1e-8)
    # Linear in the waypoints: the derivative in one of them is the path through a unit vector.
    bump = np.zeros((5, 3))
    bump[2, 1] = 1.0
    np.testing.assert_allclose(in_points[..., 2, 1], fly(bump, durations), atol=1e-10)
    batch = jax.vmap(fly, in_axes=(0, None))(jnp.stack([SLALOM, bump]), durations)
    np.testing.assert_allclose(batch[1], fly(bump, durations), atol=1e-12)


# What cannot be flown


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"points": [[0, 0, 0]]}, "points must be at least two, not 1"),
        ({"points": [[0, 0], [1, 1]]}, "points must have shape"),
        ({"points": [[0, 0, 0], [1, 0, 0], [1, 0, 0]]}, "points 1 and 2 must differ"),
        ({"points": SLALOM, "derivative": 7}, "derivative must be a whole number from 2 to 6, not 7"),
        ({"points": SLALOM, "times": [0, 1, 2, 2, 3]}, "times must grow, but 2 s follows 2 s"),
        ({"points": SLALOM, "times": [1, 2, 3, 4, 5]}, "times must begin at 0, not 1 s"),
        ({"points": SLALOM, "times": [0, 1, 2]}, "times must have shape 5"),
        ({"points": SLALOM, "durations": [1, 2, 0, 1]}, "durations must be above zero"),
        ({"points": SLALOM, "times": [0, 1, 2, 3, 4], "durations": [1, 1, 1, 1]}, "cannot both be given"),
        ({"points": SLALOM, "allocation": "even"}, "allocation must be published, chord or optimal"),
        ({"points": SLALOM, "start_motion": "stop"}, "start_motion must be rest, free or rows"),
        ({"points": SLALOM, "start_motion": [[0, 0, 0]] * 4}, "start_motion must have at most 3 rows"),
        ({"points": SLALOM, "continuity": 1}, "continuity must be a whole number from 2 to 8"),
        ({"points": SLALOM, "degree": 5}, "degree must be a whole number from 7 to 17"),
        (
            {"points": SLALOM[:3], "start_motion": "free", "end_motion": "free", "derivative": 5},
            "points must be more than 3",
        ),
    ],
)
def test_input_errors(parameters: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        waypoints(**parameters)


def test_optimal_times_cannot_be_traced() -> None:
    with pytest.raises(InputError, match="allocation must not be optimal under a JAX transformation"):
        waypoints(points=jnp.asarray(SLALOM), allocation="optimal")
