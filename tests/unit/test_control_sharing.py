"""Sharing a wrench among cables: the closed form against the pseudo-inverse of RotorTM's eq. 71."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from skyrig import payload
from skyrig.control.feedback import untwisted
from skyrig.control.sharing import cable_forces, sharing, uncontrolled_axis


def wrench_matrix(points):
    """P of eq. 71: forces of the cables (stacked) to force and moment on the payload."""
    hats = [np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) for x, y, z in points]
    return np.concatenate([np.tile(np.eye(3), len(points)), np.concatenate(hats, axis=1)])


def shared(points, force, moment, weight=None):
    weight = np.ones(len(points)) if weight is None else np.asarray(weight, float)
    team = sharing(jnp.asarray(points.T), jnp.asarray(weight))
    return np.asarray(cable_forces(team, jnp.asarray(force), jnp.asarray(moment))).T


@given(st.integers(3, 8), st.integers(0, 2**32 - 1))
def test_it_is_the_least_norm_answer(n, seed):
    rng = np.random.default_rng(seed)
    points, wrench = rng.uniform(-1, 1, (n, 3)), rng.normal(size=6)
    matrix = wrench_matrix(points)
    assume(np.linalg.cond(matrix) < 100)
    forces = shared(points, wrench[:3], wrench[3:])
    np.testing.assert_allclose(matrix @ forces.ravel(), wrench, atol=1e-7)
    np.testing.assert_allclose(forces.ravel(), np.linalg.pinv(matrix) @ wrench, atol=1e-7)


@pytest.mark.parametrize("n", [4, 6])
def test_a_lost_cable_is_left_out(n):
    points = payload("box").attachment_points("cable", n)
    weight = np.arange(n) != 1
    force, moment = np.array([0.3, -0.1, 2.4]), np.array([0.02, 0.03, -0.01])
    forces = shared(points, force, moment, weight)
    rest = wrench_matrix(points[weight])
    assert np.all(forces[1] == 0)
    np.testing.assert_allclose(forces[weight].ravel(), np.linalg.pinv(rest) @ [*force, *moment], atol=1e-9)


def test_two_cables_meet_the_force_and_all_moments_but_one():
    points = payload("bar").attachment_points("cable", 2)
    force, moment = np.array([0.4, 0.2, 1.0]), np.array([0.05, 0.3, -0.02])
    forces = shared(points, force, moment)
    made = wrench_matrix(points) @ forces.ravel()
    np.testing.assert_allclose(made[:3], force, atol=1e-12)
    np.testing.assert_allclose(made[[3, 5]], moment[[0, 2]], atol=1e-9)
    # about the line through the attachments, y, only the lever of the force is left
    assert made[4] == pytest.approx(np.cross(points.mean(axis=0), force)[1], abs=1e-9)


def test_one_cable_makes_the_force():
    np.testing.assert_allclose(shared(np.zeros((1, 3)), np.ones(3), np.ones(3)), np.ones((1, 3)))


def test_nobody_left_makes_nothing():
    points = payload("triangle").attachment_points("cable", 3)
    assert np.all(shared(points, np.ones(3), np.ones(3), np.zeros(3)) == 0)


def test_the_axis_nobody_controls():
    bar, triangle = (payload(name).attachment_points("cable", n) for name, n in (("bar", 2), ("triangle", 3)))
    np.testing.assert_allclose(uncontrolled_axis(bar), [0, 1, 0])
    assert uncontrolled_axis(triangle) is None
    # three in a row are no better than two
    row = np.outer([-1.0, 0.2, 1.0], [1.0, 1.0, 0.0])
    np.testing.assert_allclose(uncontrolled_axis(row), np.array([1, 1, 0]) / np.sqrt(2))
    assert uncontrolled_axis(np.zeros((4, 3))) is None
    np.testing.assert_allclose(uncontrolled_axis(np.array([[0, 0, 0.1]])), [0, 0, 1])


def test_what_goes_round_a_load_in_common_is_taken_out_and_a_wind_stays() -> None:
    around = 2 * np.pi * np.arange(3) / 3
    arm = jnp.asarray(np.stack([0.3 * np.cos(around), 0.3 * np.sin(around), 0 * around]))
    twist = jnp.stack([-arm[1], arm[0], 0 * arm[0]])
    wind = jnp.asarray([0.4, -0.2, 0.1])[:, None] + 0 * arm
    np.testing.assert_allclose(untwisted(wind + 2.0 * twist, arm), wind, atol=1e-12)
    # one vehicle above its point mass has nothing to go round
    np.testing.assert_allclose(untwisted(wind[:, :1], 0 * arm[:, :1]), wind[:, :1], atol=0)
