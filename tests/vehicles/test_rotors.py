"""Rotor speeds as part of the motion: how they follow, what they give, and that flights tell of them."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import skyrig
from skyrig.control.actuators import Actuators
from skyrig.sim.motors import Motors
from skyrig.vehicles import Airframe, airframe

LAG = 0.05


def motors(rate: float | None = None) -> Motors:
    frame = airframe("dragonfly")
    fields = {**{name: value for name, value in vars(frame).items() if value is not None}, "speed_rate": rate}
    found = Motors.of(Actuators.build([Airframe(**fields)], lag=LAG))
    assert found is not None
    return found


@pytest.mark.parametrize("rate", [None, 3000.0])
def test_speeds_follow_as_their_equation_says_and_no_faster_than_allowed(rate: float | None) -> None:
    it = motors(rate)
    start = jnp.asarray([[900.0], [1500.0], [700.0], [0.0]])
    wanted = jnp.asarray([[1500.0], [900.0], [720.0], [1200.0]])

    def slope(_: float, speed: np.ndarray) -> np.ndarray:
        return np.asarray(it.rate(jnp.asarray(speed)[:, None], wanted))[:, 0]

    times = np.array([0.01, 0.1, 0.3])
    found = solve_ivp(
        slope, (0, 0.3), np.asarray(start)[:, 0], t_eval=times, rtol=1e-10, atol=1e-9, max_step=1e-3
    )
    for k, t in enumerate(times):
        assert np.asarray(it.after(start, wanted, t))[:, 0] == pytest.approx(found.y[:, k], abs=1e-3)
    if rate is None:
        left = np.asarray(it.after(start, wanted, LAG) - wanted)
        assert left == pytest.approx(np.exp(-1) * np.asarray(start - wanted))
    else:
        assert np.abs(slope(0.0, np.asarray(start)[:, 0])).max() == rate


def test_thrust_goes_with_the_square_of_speed_and_lags_alike_around_hover() -> None:
    it, k = motors(), airframe("dragonfly").thrust_coefficient
    hover = it.speeds(jnp.full((4, 1), 0.6))
    assert np.asarray(it.thrusts(hover)) == pytest.approx(0.6)
    assert np.asarray(hover) == pytest.approx(np.sqrt(0.6 / k))
    more = it.thrusts(it.after(hover, it.speeds(jnp.full((4, 1), 0.6001)), LAG))
    assert np.asarray(more) == pytest.approx(0.6 + 1e-4 * (1 - np.exp(-1)), abs=1e-8)


@pytest.fixture(scope="module")
def lagging() -> skyrig.Flight:
    """A vehicle whose rotors lag and may not change their speed fast, on a circle."""
    changes = {
        "duration": 1.5,
        "loop.rotor_lag": 0.03,
        "rig.vehicles": {"type": "dragonfly", "speed_rate": 4000.0},
        "happenings": [
            {"type": "wrench", "time": 0.5, "until": 0.7, "torque": [0, 0, 0], "force": [0.6, 0, 0.4]}
        ],
    }
    return skyrig.fly(skyrig.load("one-dragonfly-circle").with_overrides(changes))


def test_a_flight_tells_commanded_and_achieved_speeds(lagging: skyrig.Flight) -> None:
    speed, asked = lagging.signals["rotor.speed"], lagging.signals["rotor.commanded"]
    assert speed.unit == asked.unit == "rad/s" and speed.shape == (len(lagging.times), 4)
    frame = airframe("dragonfly")
    assert np.asarray(asked).min() >= frame.speed_min - 1e-9
    assert np.asarray(asked).max() <= frame.speed_max + 1e-9
    gap = np.abs(np.asarray(speed) - np.asarray(asked))
    assert gap[0].max() < 1e-9 and gap.max() > 20.0
    change = np.diff(np.asarray(speed), axis=0) / np.diff(lagging.times)[:, None]
    assert 1000.0 < np.abs(change).max() <= 4000.0 * (1 + 1e-9)


def test_what_a_vehicle_gets_is_what_its_rotors_give_at_their_speeds(lagging: skyrig.Flight) -> None:
    frame, inputs = airframe("dragonfly"), lagging.inputs
    rows = np.searchsorted(lagging.times, inputs.times + 1e-9, side="right") - 1
    speeds = np.asarray(lagging.signals["rotor.speed"])[np.maximum(rows, 0)]
    made = frame.thrust_coefficient * speeds**2 @ frame.mixing.T
    assert made[:, 0] == pytest.approx(inputs.thrust[:, 0], abs=0.05)
    assert made[5:45, 0] == pytest.approx(inputs.thrust[5:45, 0], abs=2e-3)
