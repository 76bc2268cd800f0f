"""Rotors between command and rig: what they keep, what they give up, and in which order."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrig import InputError, airframe
from skyrig.control import Actuators, Command
from skyrig.vehicles import Airframe

DRAGONFLY = airframe("dragonfly")
HEXA = Airframe.from_dict(
    {
        "name": "hexa",
        "mass": 1.0,
        "inertia": [0.01, 0.01, 0.02],
        "layout": "x",
        "arm": 0.25,
        "spin": [1, -1, 1, -1, 1, -1],
        "thrust_coefficient": 1e-5,
        "torque_coefficient": 2e-7,
        "speed_min": 100.0,
        "speed_max": 700.0,
    }
)


def ask(team, thrust, moment):
    return team(Command(jnp.asarray(thrust, float), jnp.asarray(moment, float).T))


def test_what_fits_comes_out_unchanged():
    team = Actuators.build([DRAGONFLY, HEXA])
    thrust, moment = [3.0, 12.0], [[0.01, -0.02, 0.002], [0.2, 0.1, -0.02]]
    made = ask(team, thrust, moment)
    np.testing.assert_allclose(made.thrust, thrust, rtol=1e-14)
    np.testing.assert_allclose(made.moment.T, moment, rtol=1e-12, atol=1e-16)
    assert not made.saturated.any()
    assert made.rotors.shape == (6, 2)
    assert np.all(made.rotors[4:, 0] == 0)


@given(st.floats(-3, 12), st.lists(st.floats(-0.3, 0.3), min_size=3, max_size=3), st.booleans())
def test_rotors_never_leave_their_limits(thrust, moment, six):
    frame = HEXA if six else DRAGONFLY
    made = ask(Actuators.build([frame]), [thrust], [moment])
    assert made.rotors.min() >= frame.thrust_min - 1e-12
    assert made.rotors.max() <= frame.thrust_max + 1e-12
    np.testing.assert_allclose(made.thrust[0], made.rotors.sum(), rtol=1e-12)


def test_a_tilt_that_takes_all_room_leaves_no_nan():
    made = ask(Actuators.build([DRAGONFLY]), [0.0], [[0.234375, 0.0, 0.0]])
    assert np.all(np.isfinite(made.rotors))


def test_yaw_goes_first():
    """At 90% of full thrust a large yaw moment does not fit; all else is kept."""
    thrust = 0.9 * DRAGONFLY.total_thrust_max
    made = ask(Actuators.build([DRAGONFLY]), [thrust], [[0.01, -0.01, 0.05]])
    np.testing.assert_allclose(made.thrust, thrust)
    np.testing.assert_allclose(made.moment[:2, 0], [0.01, -0.01], atol=1e-15)
    assert 0 < made.moment[2, 0] < 0.05
    # some rotor is at its limit: no more was possible
    assert np.isclose(made.rotors, DRAGONFLY.thrust_max).any()
    assert made.saturated.any()


def test_then_thrust_makes_room_for_roll_and_pitch():
    made = ask(Actuators.build([DRAGONFLY]), [DRAGONFLY.total_thrust_max], [[0.03, 0.02, 0.0]])
    np.testing.assert_allclose(made.moment[:, 0], [0.03, 0.02, 0.0], atol=1e-14)
    assert made.thrust < DRAGONFLY.total_thrust_max
    assert np.isclose(made.rotors.max(), DRAGONFLY.thrust_max)
    low = ask(Actuators.build([DRAGONFLY]), [0.0], [[0.03, 0.02, 0.0]])
    np.testing.assert_allclose(low.moment[:, 0], [0.03, 0.02, 0.0], atol=1e-14)
    assert np.isclose(low.rotors.min(), DRAGONFLY.thrust_min)


def test_at_last_roll_and_pitch_shrink_together():
    made = ask(Actuators.build([DRAGONFLY]), [2.0], [[0.6, 0.3, 0.0]])
    x, y = made.moment[:2, 0]
    assert y / x == pytest.approx(0.5)
    assert np.isclose(made.rotors.max(), DRAGONFLY.thrust_max)
    assert np.isclose(made.rotors.min(), DRAGONFLY.thrust_min)


def test_thrust_loss():
    made = ask(Actuators.build([DRAGONFLY] * 2, efficiency=[1.0, 0.8]), [3.0, 3.0], np.full((2, 3), 0.001))
    np.testing.assert_allclose(made.thrust, [3.0, 2.4])
    np.testing.assert_allclose(made.moment[:, 1], 0.0008 * np.ones(3))
    now = Actuators.build([DRAGONFLY])(Command(jnp.asarray([3.0]), jnp.zeros((3, 1))), jnp.asarray([0.5]))
    np.testing.assert_allclose(now.thrust, [1.5])


def test_batches_and_gradients():
    team = Actuators.build([DRAGONFLY, HEXA])
    thrust = jnp.asarray([[3.0, 5.0, 1.0], [12.0, 40.0, 2.0]])
    moment = jnp.asarray(np.random.default_rng(1).normal(size=(3, 2, 3)) * 0.05)
    whole = team(Command(thrust, moment))
    for i in range(3):
        one = team(Command(thrust[:, i], moment[:, :, i]))
        np.testing.assert_allclose(whole.thrust[:, i], one.thrust, rtol=1e-14)
        np.testing.assert_allclose(whole.moment[:, :, i], one.moment, rtol=1e-12, atol=1e-15)
    slopes = jax.grad(lambda f: team(Command(f, 0 * moment)).moment.sum())(thrust)
    assert np.isfinite(slopes).all()


def test_what_cannot_be():
    with pytest.raises(InputError, match="at least one vehicle"):
        Actuators.build([])
    with pytest.raises(InputError, match="lag must be above zero"):
        Actuators.build([DRAGONFLY], lag=0.0)
