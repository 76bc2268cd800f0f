"""An error-state Kalman filter of a vehicle: an inertial unit, corrected by satellites, cameras or a compass.

The state is position, velocity, attitude and the two biases; the error lies in a vector of 15 numbers, that
of the attitude being a small turn in the body's frame: q_true = q exp(d). See Sola, "Quaternion kinematics
for the error-state Kalman filter" (arXiv 1711.02508), sections 5 and 6. Leading axes are vehicles or flights:
all of them are filtered at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from skyrig.constants import GRAVITY
from skyrig.sensing.imu import ImuSpec
from skyrig.turns import conjugate, multiply, of_vector, turn, vector_of

Numbers = npt.NDArray[np.float64]
PLACE, SPEED, TURN, ACCEL, GYRO = (slice(3 * k, 3 * k + 3) for k in range(5))
DOWN = np.array([0.0, 0.0, -GRAVITY])


def skew(vector: Numbers) -> Numbers:
    """(..., 3, 3): the matrix that multiplies as the vector product does."""
    x, y, z = np.moveaxis(vector, -1, 0)
    none = np.zeros_like(x)
    rows = ((none, -z, y), (z, none, -x), (-y, x, none))
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def matrix(attitude: Numbers) -> Numbers:
    """(..., 3, 3) of quaternions (..., 4)."""
    return np.stack([turn(attitude, axis) for axis in np.eye(3)], axis=-1)


@dataclass(frozen=True)
class FilterEstimate:
    """What is believed, and how surely."""

    position: Numbers
    """(..., 3) m."""
    velocity: Numbers
    """(..., 3) m/s."""
    attitude: Numbers
    """(..., 4) wxyz, body to world."""
    accel_bias: Numbers
    """(..., 3) m/s^2."""
    gyro_bias: Numbers
    """(..., 3) rad/s."""
    covariance: Numbers
    """(..., 15, 15) of the error: position, velocity, turn, both biases."""

    def error(self, position: Numbers, velocity: Numbers, attitude: Numbers) -> Numbers:
        """(..., 9) of position, velocity and turn against what is so."""
        turned = vector_of(multiply(conjugate(self.attitude), attitude))
        return np.concatenate([position - self.position, velocity - self.velocity, turned], axis=-1)

    @staticmethod
    def begin(
        position: Numbers, attitude: Numbers, deviations: tuple[float, float, float], imu: ImuSpec
    ) -> FilterEstimate:
        """At rest somewhere, with deviations of position (m), velocity (m/s) and attitude (rad)."""
        none = np.zeros_like(position)
        sizes = np.repeat([*deviations, imu.accel_bias, imu.gyro_bias], 3)
        spread = np.broadcast_to(np.diag(np.maximum(sizes, 1e-9) ** 2), (*position.shape[:-1], 15, 15))
        return FilterEstimate(position, none, attitude, none, none, spread.copy())


class ErrorStateFilter:
    """The filter.

    Args:
        imu: What the inertial unit is like; its noise densities are the filter's own.
    """

    def __init__(self, imu: ImuSpec) -> None:
        self.imu = imu

    def predict(self, was: FilterEstimate, accel: Numbers, gyro: Numbers, dt: float) -> FilterEstimate:
        """On by `dt` (s) with what the unit read, means over that time."""
        force, rate = accel - was.accel_bias, gyro - was.gyro_bias
        middle = multiply(was.attitude, of_vector(rate * dt / 2))
        push = turn(middle, force) + DOWN
        attitude = multiply(was.attitude, of_vector(rate * dt))
        attitude = attitude / np.linalg.norm(attitude, axis=-1, keepdims=True)
        turned = matrix(middle)
        step = np.zeros_like(was.covariance)
        step[..., range(15), range(15)] = 1.0
        step[..., PLACE, SPEED] = np.eye(3) * dt
        step[..., SPEED, TURN] = -turned @ skew(force) @ matrix(conjugate(of_vector(rate * dt / 2))) * dt
        step[..., SPEED, ACCEL] = -turned * dt
        step[..., TURN, TURN] = matrix(conjugate(of_vector(rate * dt)))
        step[..., TURN, GYRO] = -np.eye(3) * dt
        step[..., PLACE, :] += 0.5 * dt * (step[..., SPEED, :] - np.eye(15)[SPEED])
        said = self.imu
        sizes = np.repeat([0.0, said.accel_noise, said.gyro_noise, said.accel_walk, said.gyro_walk], 3)
        covariance = step @ was.covariance @ np.swapaxes(step, -1, -2) + np.diag(sizes**2 * dt)
        return replace(
            was,
            position=was.position + was.velocity * dt + 0.5 * push * dt**2,
            velocity=was.velocity + push * dt,
            attitude=attitude,
            covariance=covariance,
        )

    def correct(
        self, was: FilterEstimate, missing: Numbers, seen: Numbers, deviation: Numbers
    ) -> FilterEstimate:
        """With a measurement: `missing` (..., m) from what was expected, H (..., m, 15), deviations (m,)."""
        spread = was.covariance
        gain_top = spread @ np.swapaxes(seen, -1, -2)
        inside = seen @ gain_top + np.diag(deviation**2)
        gain = np.swapaxes(np.linalg.solve(inside, np.swapaxes(gain_top, -1, -2)), -1, -2)
        error = (gain @ missing[..., None])[..., 0]
        left = np.eye(15) - gain @ seen
        spread = left @ spread @ np.swapaxes(left, -1, -2)  # Joseph's form: it stays symmetric and positive
        spread = spread + gain @ np.diag(deviation**2) @ np.swapaxes(gain, -1, -2)
        reset = np.broadcast_to(np.eye(15), spread.shape).copy()
        reset[..., TURN, TURN] -= skew(error[..., TURN] / 2)
        return FilterEstimate(
            was.position + error[..., PLACE],
            was.velocity + error[..., SPEED],
            multiply(was.attitude, of_vector(error[..., TURN])),
            was.accel_bias + error[..., ACCEL],
            was.gyro_bias + error[..., GYRO],
            reset @ spread @ np.swapaxes(reset, -1, -2),
        )

    def place(
        self, was: FilterEstimate, position: Numbers, deviation: Numbers, believed: Numbers | None = None
    ) -> FilterEstimate:
        """Corrected by a position (m); `believed` is what was believed when it was taken, if that is past."""
        own = was.position if believed is None else believed
        return self.correct(was, position - own, _rows(was, PLACE), deviation)

    def speed(self, was: FilterEstimate, velocity: Numbers, deviation: Numbers) -> FilterEstimate:
        """Corrected by a velocity (m/s)."""
        return self.correct(was, velocity - was.velocity, _rows(was, SPEED), deviation)

    def turned(
        self, was: FilterEstimate, attitude: Numbers, deviation: Numbers, believed: Numbers | None = None
    ) -> FilterEstimate:
        """Corrected by an attitude, as `place`."""
        own = was.attitude if believed is None else believed
        missing = vector_of(multiply(conjugate(own), attitude))
        return self.correct(was, missing, _rows(was, TURN), deviation)

    def compass(
        self, was: FilterEstimate, field: Numbers, earth: Numbers, deviation: Numbers
    ) -> FilterEstimate:
        """Corrected by a magnetic field in the body's frame, that of the earth being known (any unit)."""
        expected = turn(conjugate(was.attitude), np.broadcast_to(earth, field.shape))
        seen = np.zeros((*field.shape[:-1], 3, 15))
        seen[..., TURN] = skew(expected)
        return self.correct(was, field - expected, seen, deviation)


def _rows(was: FilterEstimate, which: slice) -> Numbers:
    """What is measured of the error where a part of the state is measured itself."""
    seen = np.zeros((*was.position.shape[:-1], 3, 15))
    seen[..., which] = np.eye(3)
    return seen


def consistency(error: Numbers, covariance: Numbers) -> Numbers:
    """Normalised estimation error squared: e P^-1 e, (...), as large on the mean as e has numbers."""
    return (error * np.linalg.solve(covariance, error[..., None])[..., 0]).sum(-1)
