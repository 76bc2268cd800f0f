"""Wanted attitudes and the control of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from skyrig.control.attitude import (
    WantedFrame,
    heading_frame,
    least_turn,
    turning,
    turning_moment,
    turning_spin,
    within_reach,
)

RNG = np.random.default_rng(5)


def thrust(t):
    return jnp.stack([jnp.sin(1.3 * t), 0.7 * jnp.cos(0.9 * t), 3 + jnp.sin(t)])


def yaw(t):
    return 0.4 + 1.1 * t


def least(t):
    return least_turn(thrust(t), jax.jvp(thrust, (t,), (1.0,))[1])


def headed(t):
    heading = jnp.stack([jnp.cos(yaw(t)), jnp.sin(yaw(t)), 0.0])
    return heading_frame(thrust(t), jax.jvp(thrust, (t,), (1.0,))[1], heading, jnp.asarray(1.1))


@pytest.mark.parametrize("frame", [least, headed])
def test_frames_point_along_the_thrust_and_turn_at_their_rate(frame):
    t = jnp.asarray(0.7)
    rotation, rotation_rate = jax.jvp(lambda t: frame(t).rotation, (t,), (1.0,))
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(rotation[:, 2], thrust(t) / jnp.linalg.norm(thrust(t)), atol=1e-14)
    hat = rotation.T @ rotation_rate  # R' = R hat(Omega)
    np.testing.assert_allclose(frame(t).rate, [hat[2, 1], hat[0, 2], hat[1, 0]], atol=1e-12)


def test_heading_is_the_yaw_of_euler_angles():
    angles = Rotation.from_matrix(np.asarray(headed(jnp.asarray(0.7)).rotation)).as_euler("ZYX")
    assert angles[0] == pytest.approx(yaw(0.7))


def test_least_turn_turns_about_a_level_axis():
    turn = Rotation.from_matrix(np.asarray(least(jnp.asarray(0.7)).rotation)).as_rotvec()
    assert abs(turn[2]) < 1e-14


def test_errors_die_away_with_the_poles_asked_for():
    """With M from `turning_moment`, e_R'' + 2 zeta w e_R' + w^2 e_R = 0 for small errors."""
    inertia = jnp.asarray(np.diag([2e-3, 3e-3, 4e-3]))
    wanted = Rotation.from_rotvec([0.2, -0.3, 0.5])
    rate_wanted, spin_wanted = jnp.asarray([0.5, -1.0, 0.7]), jnp.asarray([2.0, 1.0, -3.0])
    slip, slip_rate = np.array([1e-6, -2e-6, 3e-6]), np.array([2e-6, 1e-6, -1e-6])
    rotation = wanted * Rotation.from_rotvec(-slip)
    frame = WantedFrame(jnp.asarray(wanted.as_matrix()), rate_wanted)
    relative = rotation.inv() * wanted
    rate = jnp.asarray(relative.apply(np.array(rate_wanted)) - slip_rate)
    way = turning(jnp.asarray(rotation.as_matrix()), rate, frame, spin_wanted)
    np.testing.assert_allclose(way.error, slip, rtol=1e-5)
    np.testing.assert_allclose(way.rate_error, slip_rate, rtol=1e-5)
    bandwidth, damping = jnp.asarray([20.0, 15.0, 6.0]), jnp.asarray(0.8)
    moment = turning_moment(inertia, rate, turning_spin(way, bandwidth, damping))
    spin = np.linalg.solve(inertia, moment - np.cross(rate, inertia @ rate))
    relaxed = spin - way.spin
    np.testing.assert_allclose(relaxed, bandwidth**2 * slip + 1.6 * bandwidth * slip_rate, rtol=1e-4)


def test_height_comes_before_sideways_motion():
    wanted = jnp.asarray([[3.0, 0.1], [4.0, 0.0], [4.0, 3.0]])
    cut, flag = within_reach(wanted, jnp.asarray([0.5, 0.5]), jnp.asarray([5.0, 5.0]))
    np.testing.assert_allclose(cut[:, 0], [1.8, 2.4, 4.0], atol=1e-12)
    np.testing.assert_allclose(cut[:, 1], wanted[:, 1])
    np.testing.assert_allclose(flag, [1, 0])
    low, flag = within_reach(jnp.asarray([0.0, 0.0, -2.0]), jnp.asarray(0.5), jnp.asarray(5.0))
    np.testing.assert_allclose(low, [0, 0, 0.5])
    assert flag == 1
