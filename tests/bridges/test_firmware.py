"""What firmware is told of a vehicle: where its motors are, how thrust grows, how fast it turns."""

from pathlib import Path

import numpy as np
import pytest

import skyrig
from skyrig.bridges import firmware
from skyrig.bridges.launch import Launched
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


def test_px4_turns_as_fast_whatever_the_inertia_and_has_all_motors() -> None:
    for name in ("dragonfly", "hummingbird"):
        frame = skyrig.airframe(name)
        told = firmware.px4(frame, frame.mass * 9.81)
        # an X of four: a full turn is 1 / sqrt(2) of the most, up on one side and down on the other
        turned = 4 * frame.thrust_max / np.sqrt(2) * np.abs(frame.rotor_positions[0, 1]) / frame.inertia[0, 0]
        assert told["MC_ROLLRATE_P"] * turned == pytest.approx(firmware.PX4_LOOPS.rate[0])
        assert told["MC_PITCHRATE_P"] > told["MC_ROLLRATE_P"] * 0.9
        assert [told[f"PWM_MAIN_FUNC{k + 1}"] for k in range(4)] == [101, 102, 103, 104]


def test_every_px4_starts_in_a_folder_of_its_own(tmp_path: Path) -> None:
    program, said = tmp_path / "bin" / "px4", tmp_path / "said.txt"
    for folder in ("bin", "etc"):
        (tmp_path / folder).mkdir()
    program.write_text(f'#!/bin/sh\necho "$PWD" "$@" "$PX4_PARAM_CA_ROTOR_COUNT" >> {said}\n')
    program.chmod(0o755)
    frames, ports = [skyrig.airframe("dragonfly")] * 2, [(4560, 14540), (4561, 14541)]
    with Launched(str(program), "px4", frames, np.full(2, 2.4), ports) as launched:
        for it in launched.processes:
            it.wait(timeout=10)
    lines = sorted(line.split() for line in said.read_text().splitlines())
    assert [line[1:4] for line in lines] == [["-i", "0", "-d"], ["-i", "1", "-d"]]
    for here, _, _, _, option, place, etc, rotors in lines:
        assert (option, place, etc, rotors) == ("-w", here, str(tmp_path / "etc"), "4")
        assert not Path(here).exists(), "nothing is left"


def test_thrust_is_told_as_firmware_counts_it() -> None:
    frame = skyrig.airframe("dragonfly")
    most, slow = frame.total_thrust_max, firmware.slowest(frame)
    assert firmware.px4_throttle(frame, most / 2, 0.8) == 0.5
    for up in (1.0, 0.9):
        throttle = firmware.ardupilot_throttle(frame, most / 2, up)
        assert slow**2 + (1 - slow**2) * throttle / up == pytest.approx(0.5), "it pushes harder when it leans"


def test_rate_loops_are_as_fast_whatever_the_inertia() -> None:
    for name in ("dragonfly", "hummingbird"):
        frame = skyrig.airframe(name)
        told = firmware.ardupilot(frame, frame.mass * 9.81)
        # a full command changes each rotor by half its range: up on one side, down on the other
        half = frame.thrust_max * (1 - told["MOT_SPIN_MIN"] ** 2) / 2
        turned = 4 * half * np.abs(frame.rotor_positions[0, 1]) / frame.inertia[0, 0]
        assert told["ATC_RAT_RLL_P"] * turned == pytest.approx(firmware.TURNING)
