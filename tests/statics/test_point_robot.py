"""Point robots: forces to attitudes, vehicles that hold against leaning cables, and swing that dies."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from skyrig import fly, load
from skyrig.algebra import upward_axis
from skyrig.control.point_robot import force_to_attitude
from skyrig.planning.reference import quaternion
from skyrig.scenario import Scenario
from skyrig.statics import Configuration, Limits, Pose, Team, inverse, three
from skyrig.turns import between, euler_angles

POSE = Pose.turned(position=(0.0, 0.0, 1.0))
POKE = {"type": "poke", "time": 1.0, "impulse": [0.06, 0.05, 0.0], "point": [0.3, 0.0, 0.0]}


def test_force_to_attitude_is_that_of_the_paper() -> None:
    rng = np.random.default_rng(0)
    force = rng.normal(size=(3, 500)) + np.array([[0], [0], [3.0]])
    force[2] = np.abs(force[2])
    yaw = rng.uniform(-np.pi, np.pi, 500)
    thrust, angles = (np.asarray(each) for each in force_to_attitude(jnp.asarray(force), jnp.asarray(yaw)))
    x, y, z = force
    np.testing.assert_allclose(thrust, np.sqrt(x**2 + y**2 + z**2))
    # eq. 13, whose signs are chosen by cases
    inner = x**2 + 2 * x * y * np.sin(2 * yaw) + y**2 + 2 * z**2 + (x**2 - y**2) * np.cos(2 * yaw)
    np.testing.assert_allclose(
        np.abs(angles[0]), np.arccos(np.clip(np.sqrt(inner) / np.sqrt(2) / thrust, 0, 1)), atol=1e-6
    )
    across = z / np.sqrt(z**2 + (x * np.cos(yaw) + y * np.sin(yaw)) ** 2)
    np.testing.assert_allclose(np.abs(angles[1]), np.arccos(np.clip(across, 0, 1)), atol=1e-6)
    # and the thrust does point along the force
    along = np.asarray(upward_axis(jnp.asarray(quaternion(angles.T).T)))
    np.testing.assert_allclose(along * thrust, force, atol=1e-9)


def poked(held: Configuration, gains: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Times, and how far the payload is off: metres and, over a metre's arm, radians."""

    def at(position: np.ndarray, attitude: np.ndarray) -> dict[str, Any]:
        return {"position": position.tolist(), "attitude": euler_angles(attitude[None])[0].tolist()}

    values = {
        **load("three-hummingbirds-frame").values,
        "start": {
            "payload": at(*held.pose),
            "vehicles": [at(*each) for each in zip(held.vehicles, held.vehicle_attitude, strict=True)],
        },
        "reference": {"vehicles": [{"type": "hover", "start": place.tolist()} for place in held.vehicles]},
        "controller": {"name": "point-robot", "gains": gains},
        "happenings": [POKE],
        "duration": 10.0,
    }
    flight = fly(Scenario.from_dict(values))
    assert flight.verdict.flew, flight.verdict
    off = np.linalg.norm(flight.payload.position - held.pose.position, axis=1)
    return flight.times, off + between(flight.payload.attitude, held.pose.attitude)


@pytest.fixture(scope="module")
def swings() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    team = Team.of_parts(load("three-hummingbirds-frame").parts)
    printed = three(team, POSE, (-0.2724, -0.3054, -0.3054))
    stiffest = inverse(team, POSE, "stiffness", Limits(tension_max=0.5 * team.weight, separation=1.0))
    return {
        "printed": poked(printed, {}),
        "stiffest": poked(stiffest, {}),
        "damped": poked(printed, {"swing": 0.1}),
        "stiffest, damped": poked(stiffest, {"swing": 0.1}),
    }


def decay(times: np.ndarray, off: np.ndarray) -> float:
    """Rate at which the envelope dies (1/s): a line through the logarithms of each second's peak."""
    windows = np.arange(1.5, 9.5, 1.0)
    peaks = np.array([off[(times >= begin) & (times < begin + 1.0)].max() for begin in windows])
    seen = peaks > 0.02 * peaks.max()
    return float(-np.polyfit(windows[seen], np.log(peaks[seen]), 1)[0])


def test_vehicles_hold_against_cables_that_lean(swings) -> None:
    for times, off in swings.values():
        assert off[times < 1.0].max() < 1e-5


def test_the_stiffest_configuration_damps_a_poke_faster(swings) -> None:
    """Fig. 10 of the paper."""
    assert decay(*swings["stiffest"]) > 1.2 * decay(*swings["printed"])


def test_active_damping_is_at_least_three_times_faster(swings) -> None:
    assert decay(*swings["damped"]) > 3 * decay(*swings["printed"])
    assert decay(*swings["stiffest, damped"]) > 3 * decay(*swings["stiffest"])
