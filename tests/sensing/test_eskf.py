"""The filter says how wrong it is, and it is."""

import numpy as np
import pytest
from scipy.stats import chi2

from skyrig.sensing.eskf import ErrorStateFilter, FilterEstimate, consistency
from skyrig.sensing.gnss import GnssSpec
from skyrig.sensing.imu import ImuSpec
from skyrig.sensing.magnetometer import FIELD, MagnetometerSpec
from skyrig.sensing.motion_capture import MotionCaptureSpec
from skyrig.sensing.sensor import Carrier, Sensors, Truth
from skyrig.tracks import Track
from skyrig.turns import conjugate, multiply, of_vector, turn, vector_of

FLIGHTS, RATE, DURATION = 50, 100.0, 6.0
IMU = ImuSpec(accel_noise=0.02, gyro_noise=2e-3, accel_walk=5e-3, gyro_walk=5e-4)
START = (0.2, 0.3, 0.05)


def course(t: float) -> Track:
    """All vehicles on a circle, rising, rolling and turning: position, and its exact derivative."""
    place = np.array([2 * np.sin(t), 2 * np.cos(t), 1 + 0.3 * np.sin(2 * t)])
    speed = np.array([2 * np.cos(t), -2 * np.sin(t), 0.6 * np.cos(2 * t)])
    turned = multiply(of_vector(np.array([0, 0, -t])), of_vector(np.array([0.3 * np.sin(3 * t), 0.2, 0.0])))
    return Track(*(np.tile(it, (FLIGHTS, 1)) for it in (place, speed, turned, np.zeros(3))))


def filtered(said: dict) -> tuple[np.ndarray, np.ndarray, FilterEstimate]:
    """NEES of every tick and flight, errors of position, and the last estimate."""
    # fifty vehicles on one course, each with noise of its own, are fifty flights
    sensors = Sensors(said, Carrier([None] * FLIGHTS, {"vehicles": FLIGHTS}, (), RATE), 0)
    none = np.zeros(FLIGHTS), np.zeros((FLIGHTS, 3)), np.zeros(0)
    sensors.show(Truth(0.0, {"vehicles": course(0.0)}, *none))
    random, own = np.random.default_rng(99), ErrorStateFilter(IMU)
    first = course(0.0)
    kicks = random.standard_normal((3, FLIGHTS, 3)) * np.reshape(START, (3, 1, 1))
    turned = multiply(first.attitude, of_vector(kicks[2]))
    state = FilterEstimate.begin(first.position + kicks[0], turned, START, IMU)
    state = FilterEstimate(**{**vars(state), "velocity": first.velocity + kicks[1]})
    nees, gaps = [], []
    for k in range(1, int(DURATION * RATE)):
        so = course(k / RATE)
        told = sensors.show(Truth(k / RATE, {"vehicles": so}, *none))
        read = {name: values for it in told.values() for name, values in it.values.items()}
        fresh = {name for name, it in told.items() if it.fresh}
        state = own.predict(state, read["imu.accel"], read["imu.gyro"], 1 / RATE)
        if "gnss" in fresh:
            state = own.place(state, read["gnss.position"], np.array([0.1, 0.1, 0.15]))
            state = own.speed(state, read["gnss.velocity"], np.full(3, 0.05))
        if "magnetometer" in fresh:
            state = own.compass(state, read["magnetometer.field"], np.array(FIELD), np.full(3, 0.2))
        if "motion_capture" in fresh:
            state = own.place(state, read["motion_capture.vehicles.position"], np.full(3, 1e-3))
            state = own.turned(state, read["motion_capture.vehicles.attitude"], np.full(3, 5e-3))
        biases = sensors._mounted["imu"].sensor.biases
        error = np.concatenate(
            [
                state.error(so.position, so.velocity, so.attitude),
                biases[0] - state.accel_bias,
                biases[1] - state.gyro_bias,
            ],
            axis=1,
        )
        nees.append(consistency(error, state.covariance))
        gaps.append(error[:, :3])
    return np.array(nees), np.array(gaps), state


@pytest.mark.parametrize(
    ("said", "good"),
    [
        ({"imu": IMU, "gnss": GnssSpec(), "magnetometer": MagnetometerSpec()}, 0.06),
        ({"imu": IMU, "motion_capture": MotionCaptureSpec(delay=0.0, rate=50.0)}, 0.003),
    ],
    ids=["satellites and a compass", "motion capture"],
)
def test_errors_are_as_large_as_the_filter_says(said: dict, good: float) -> None:
    nees, gaps, _ = filtered(said)
    # of 50 flights the mean at an instant lies in this band 95 times in a hundred, if the filter is right
    low, high = chi2.ppf([0.025, 0.975], 15 * FLIGHTS) / FLIGHTS
    mean = nees.mean(1)
    inside = np.mean((mean > low) & (mean < high))
    assert inside > 0.85, (inside, mean.min(), mean.max(), low, high)
    assert low < mean.mean() < high
    assert np.sqrt((gaps[-200:] ** 2).mean()) < good


def test_a_prediction_without_noise_is_exact_and_its_derivative_right() -> None:
    own, dt, random = ErrorStateFilter(IMU), 0.01, np.random.default_rng(5)
    q = of_vector(random.standard_normal((1, 3)))
    state = FilterEstimate.begin(np.zeros((1, 3)), q, START, IMU)
    accel, gyro = random.standard_normal((1, 3)) * 5, random.standard_normal((1, 3)) * 3
    after = own.predict(state, accel, gyro, dt)
    size = 1e-6
    for k in range(15):
        kick = np.zeros(15)
        kick[k] = size
        moved = FilterEstimate(
            state.position + kick[:3],
            state.velocity + kick[3:6],
            multiply(q, of_vector(kick[6:9])[None]),
            state.accel_bias + kick[9:12],
            state.gyro_bias + kick[12:],
            np.zeros((1, 15, 15)),
        )
        there = own.predict(moved, accel, gyro, dt)
        change = np.concatenate(
            [
                after.error(there.position, there.velocity, there.attitude)[0],
                (there.accel_bias - after.accel_bias)[0],
                (there.gyro_bias - after.gyro_bias)[0],
            ]
        )
        spread = np.zeros((1, 15, 15))
        spread[0, k, k] = 1.0
        told = own.predict(
            FilterEstimate(**{**vars(state), "covariance": spread}), accel, gyro, dt
        ).covariance[0]
        quiet = own.predict(
            FilterEstimate(**{**vars(state), "covariance": 0 * spread}), accel, gyro, dt
        ).covariance[0]
        column = np.sign(change) * np.sqrt(np.maximum(np.diag(told - quiet), 0.0))
        assert np.abs(change / size - column).max() < 2e-3, k


def test_a_compass_sees_the_heading() -> None:
    own, true = ErrorStateFilter(IMU), of_vector(np.array([[0.1, -0.2, 0.7]]))
    state = FilterEstimate.begin(
        np.zeros((1, 3)), multiply(true, of_vector(np.array([[0.05, 0.02, -0.1]]))), START, IMU
    )
    field = turn(conjugate(true), np.array([FIELD]))
    for _ in range(5):
        state = own.compass(state, field, np.array(FIELD), np.full(3, 1e-3))
    left = turn(state.attitude, vector_of(multiply(conjugate(state.attitude), true)))
    across = left - (left @ FIELD)[:, None] * np.array([FIELD]) / np.dot(FIELD, FIELD)
    assert np.abs(across).max() < 1e-5, "what is left is a turn about the field itself"
