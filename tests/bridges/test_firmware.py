"""What firmware is told of a vehicle: where its motors are, how thrust grows, how fast it turns."""

import numpy as np
import pytest

import skyrig
from skyrig.bridges import firmware
from skyrig.errors import InputError


def test_ardupilots_motors_stand_where_the_rotors_are() -> None:
    # ArduCopter's X in clockwise order: motor 1 front right, counter-clockwise, then clockwise in turns
    places = {33: (45, True), 34: (135, False), 35: (-135, True), 36: (-45, False)}
    frame = skyrig.airframe("dragonfly")
    told = firmware.ardupilot(frame, 2.45)
    assert (told["FRAME_CLASS"], told["FRAME_TYPE"]) == (1, 14)
    for k in range(4):
        clockwise, left = places[int(told[f"SERVO{k + 1}_FUNCTION"])]
        x, y, _ = frame.rotor_positions[k]
        assert np.degrees(np.arctan2(-y, x)) == pytest.approx(clockwise)
        assert (frame.spin[k] < 0) == left
    with pytest.raises(InputError, match="ArduPilot knows no frame with the rotors of coaxial"):
        firmware.ardupilot(skyrig.airframe("coaxial"), 20.0)


def test_ardupilots_curve_makes_thrust_linear_in_its_throttle() -> None:
    frame = skyrig.airframe("hummingbird")
    told = firmware.ardupilot(frame, 5.0)
    slow, expo = told["MOT_SPIN_MIN"], told["MOT_THST_EXPO"]
    assert slow == pytest.approx(frame.speed_min / frame.speed_max)
    share = np.linspace(0, 1, 11)
    throttle = (1 - expo) * share + expo * share**2
    thrust = (slow + (1 - slow) * share) ** 2  # of the largest
    assert np.allclose(thrust, slow**2 + (1 - slow**2) * throttle, atol=1e-12)
    hover = slow**2 + (1 - slow**2) * told["MOT_THST_HOVER"]
    assert hover * frame.total_thrust_max == pytest.approx(5.0)


def test_rate_loops_are_as_fast_whatever_the_inertia() -> None:
    for name in ("dragonfly", "hummingbird"):
        frame = skyrig.airframe(name)
        told = firmware.ardupilot(frame, frame.mass * 9.81)
        # a full command changes each rotor by half its range: up on one side, down on the other
        half = frame.thrust_max * (1 - told["MOT_SPIN_MIN"] ** 2) / 2
        turned = 4 * half * np.abs(frame.rotor_positions[0, 1]) / frame.inertia[0, 0]
        assert told["ATC_RAT_RLL_P"] * turned == pytest.approx(firmware.TURNING)
