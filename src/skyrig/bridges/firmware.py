"""What firmware must know of a vehicle: rotors, hover thrust and gains, as its own parameters.

Rotors keep their order, and an autopilot's motor signal u between 0 and 1 is the share of the largest rotor
speed: thrust goes with u^2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skyrig.bridges.attitude import AttitudeLoops
from skyrig.errors import InputError

if TYPE_CHECKING:
    from skyrig.vehicles import Airframe

Parameters = dict[str, float]
TURNING, YAWING = 15.0, 4.0
"""Bandwidth of rate loops about forward and left, and about up (rad/s)."""
DAMPING = 0.027
"""Differential over proportional gain of rate loops about forward and left (s)."""
PX4_LOOPS = AttitudeLoops((6.5, 6.5, 2.8), (TURNING, TURNING, YAWING))
ARDUPILOT_LOOPS = AttitudeLoops((4.5, 4.5, 4.5), (TURNING, TURNING, YAWING))
"""How firmware with these parameters turns."""
FIRST_MOTOR = 33
"""SERVOn_FUNCTION of ArduPilot's motor 1; motors 9 to 12 begin at 82."""
ABOVE = 0.9
"""Share of the hover's throttle at which ArduPilot may think that it flies."""


def px4(frame: Airframe, hover: float) -> Parameters:
    """PX4's parameters for an airframe that pushes `hover` (N) in the hover.

    PX4's axes are forward, right, down, and KM is positive for a rotor that turns counter-clockwise seen
    from above, whose reaction turns the vehicle clockwise.
    """
    found = {"CA_AIRFRAME": 0.0, "CA_ROTOR_COUNT": float(frame.rotor_count), "THR_MDL_FAC": 1.0}
    for k, (place, spin) in enumerate(zip(frame.rotor_positions, frame.spin, strict=True)):
        found |= {f"CA_ROTOR{k}_PX": float(place[0]), f"CA_ROTOR{k}_PY": -float(place[1])}
        found[f"CA_ROTOR{k}_KM"] = -float(spin) * frame.torque_to_thrust
        found[f"PWM_MAIN_FUNC{k + 1}"] = 101.0 + k
    found |= {"MPC_THR_HOVER": float(np.clip(hover / frame.total_thrust_max, 0.1, 0.8))}
    found |= {"MC_YAW_TQ_CUTOFF": 0.0, "MPC_TKO_RAMP_T": 0.0, "MPC_USE_HTE": 0.0}
    return found | _px4_gains(frame)


def px4_throttle(frame: Airframe, thrust: float, up: float) -> float:
    """What PX4 calls thrust, from 0 to 1: the share of the most (THR_MDL_FAC is 1)."""
    return float(np.clip(thrust / frame.total_thrust_max, 0.0, 1.0))


def ardupilot_throttle(frame: Airframe, thrust: float, up: float) -> float:
    """What ArduPilot calls thrust, from 0 to 1, `up` being the vertical part of the attitude's z axis.

    It counts from the thrust of the slowest rotor speed and pushes 1 / up as hard when it leans.
    """
    least = slowest(frame) ** 2
    throttle = (thrust / frame.total_thrust_max - least) / (1 - least)
    return float(np.clip(throttle * np.clip(up, 0.1, 1.0), 0.0, 1.0))


def ardupilot(frame: Airframe, hover: float) -> Parameters:
    """ArduPilot's parameters for an airframe that pushes `hover` (N) in the hover.

    With the slowest rotor speed at a share s of the largest, u = s + (1 - s) f makes the thrust linear in its
    throttle if (1 - e) f + e f^2 is that throttle with e = (1 - s)/(1 + s): its own curve, MOT_THST_EXPO.
    """
    slow = slowest(frame)
    throttle = (hover / frame.total_thrust_max - slow**2) / (1 - slow**2)
    found = _frame(frame) | {
        "MOT_PWM_MIN": 1000.0,
        "MOT_PWM_MAX": 2000.0,
        "MOT_SPIN_ARM": slow / 2,
        "MOT_SPIN_MIN": slow,
        "MOT_SPIN_MAX": 1.0,
        "MOT_THST_EXPO": (1 - slow) / (1 + slow),
        "MOT_THST_HOVER": float(np.clip(throttle, 0.125, 0.6875)),
        "MOT_HOVER_LEARN": 0.0,
        "MOT_BAT_VOLT_MAX": 0.0,
        "TKOFF_THR_MAX": float(np.clip(ABOVE * throttle, 0.05, 0.9)),
        "GUID_OPTIONS": 8.0,  # thrust that comes with an attitude is one, no rate of climb
    }
    found |= {f"ATC_ANG_{name}_P": ARDUPILOT_LOOPS.turn[k] for k, name in enumerate(("RLL", "PIT", "YAW"))}
    return found | _gains(frame, slow) | _house


_house: Parameters = {
    "SCHED_LOOP_RATE": 200.0,  # it does not arm unless its gyroscopes are at least 1.8 times as fast
    # no transmitter and no ground station but the companion, nothing to calibrate
    "FS_THR_ENABLE": 0.0,
    "FS_GCS_ENABLE": 0.0,
    "RC_PROTOCOLS": 0.0,
    "COMPASS_OFS_X": 5.0,
    "COMPASS_OFS_Y": 13.0,
    "COMPASS_OFS_Z": -18.0,
    "COMPASS_USE2": 0.0,
    "COMPASS_USE3": 0.0,
    "SIM_BARO_RND": 0.02,
}


def slowest(frame: Airframe) -> float:
    """ArduPilot's share of the slowest rotor speed in the largest."""
    return float(np.clip(frame.speed_min / frame.speed_max, 0.02, 0.3))


def _px4_gains(frame: Airframe) -> Parameters:
    """Loops of the same bandwidth whatever the inertia.

    A turn of 1 is what PX4's allocation makes of it: columns of the geometry's inverse, brought to a size of
    one in the mean square over half the rotors (roll and pitch alike), or at most (yaw).
    """
    places, ones = frame.rotor_positions, np.ones(frame.rotor_count)
    geometry = np.stack([places[:, 1], -places[:, 0], -frame.spin * frame.torque_to_thrust, ones])
    mix = np.linalg.pinv(geometry)
    size = np.sqrt((mix[:, :2] ** 2).sum(0) / ((np.abs(mix[:, :2]) > 1e-3).sum(0) / 2)).max()
    mix[:, :2] /= size
    mix[:, 2] /= np.abs(mix[:, 2]).max()
    push = frame.thrust_max * frame.shares
    found: Parameters = {}
    for axis, name in enumerate(("ROLL", "PITCH", "YAW")):
        turn = float((geometry[axis] * push) @ mix[:, axis] / frame.inertia[axis, axis])
        gain = PX4_LOOPS.rate[axis] / turn
        found |= {f"MC_{name}_P": PX4_LOOPS.turn[axis], f"MC_{name}RATE_P": gain}
        found[f"MC_{name}RATE_I"] = gain * (0.1 if name == "YAW" else 1.0)
        found[f"MC_{name}RATE_D"] = 0.0 if name == "YAW" else DAMPING * gain
    return found


def _gains(frame: Airframe, slow: float) -> Parameters:
    """Rate loops of the same bandwidth whatever the inertia.

    ArduPilot's outputs between -1 and 1 change each rotor's throttle by half of that, as its arm has it.
    """
    push = frame.thrust_max * frame.shares * (1 - slow**2)
    found: Parameters = {}
    for axis, name in enumerate(("RLL", "PIT")):
        arms = frame.rotor_positions[:, 1 - axis]
        turn = float(np.sum(push * arms * 0.5 * arms / np.abs(arms).max()) / frame.inertia[axis, axis])
        gain = TURNING / turn
        found |= {f"ATC_RAT_{name}_P": gain, f"ATC_RAT_{name}_I": gain, f"ATC_RAT_{name}_D": DAMPING * gain}
    turn = float(np.sum(push * 0.5) * frame.torque_to_thrust / frame.inertia[2, 2])
    return found | {"ATC_RAT_YAW_P": YAWING / turn, "ATC_RAT_YAW_I": 0.1 * YAWING / turn}


def _frame(frame: Airframe) -> Parameters:
    """FRAME_CLASS, FRAME_TYPE and which of its motors each rotor is."""
    degrees = np.degrees(np.arctan2(-frame.rotor_positions[:, 1], frame.rotor_positions[:, 0]))  # clockwise
    rotors = [(float(angle), bool(spin < 0)) for angle, spin in zip(degrees, frame.spin, strict=True)]
    for (kind, form), motors in _known().items():
        order = [next((m for m, it in enumerate(motors) if _same(it, rotor)), None) for rotor in rotors]
        if len(motors) == len(rotors) and None not in order and len(set(order)) == len(order):
            found = {"FRAME_CLASS": float(kind), "FRAME_TYPE": float(form)}
            return found | {
                f"SERVO{k + 1}_FUNCTION": float(FIRST_MOTOR + (m or 0)) for k, m in enumerate(order)
            }
    raise InputError(
        f"ArduPilot knows no frame with the rotors of {frame.name}: give it parameters of your own and start "
        "it yourself, without --launch."
    )


def _same(motor: tuple[float, bool], rotor: tuple[float, bool]) -> bool:
    return motor[1] == rotor[1] and abs((motor[0] - rotor[0] + 180) % 360 - 180) < 3


def _known() -> dict[tuple[int, int], list[tuple[float, bool]]]:
    """Motors by FRAME_CLASS and FRAME_TYPE: degrees clockwise from forward, if it turns the other way."""
    found: dict[tuple[int, int], list[tuple[float, bool]]] = {}
    for kind, count in ((1, 4), (2, 6), (3, 8)):
        step = 360 / count
        found[kind, 14] = [(step * (k + 0.5), k % 2 == 0) for k in range(count)]
    found[1, 3] = [(45, False), (-135, False), (-45, True), (135, True)]
    found[1, 0] = [(90, True), (-90, True), (0, False), (180, False)]
    found[1, 6] = [(90, False), (-90, False), (0, True), (180, True)]
    found[2, 0] = [(0, False), (180, True), (-120, False), (60, True), (-60, True), (120, False)]
    turns = [False, False, True, True, True, True, False, False]
    found[3, 0] = list(zip((0, 180, 45, 135, -45, -135, -90, 90), turns, strict=True))
    return found
