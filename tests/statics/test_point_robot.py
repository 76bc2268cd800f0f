"""Point robots: forces to attitudes, vehicles that hold against leaning cables, and swing that dies."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from skyrig import fly, load
from skyrig.algebra import upward_axis
from skyrig.control.point_robot import force_to_attitude
from skyrig.control.swing import swayed
from skyrig.planning.reference import quaternion
from skyrig.scenario import Scenario
from skyrig.statics import Configuration, Limits, Pose, Team, inverse, stability, three
from skyrig.turns import between, euler_angles, multiply

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
    tilted = Pose.turned(0.3, 0.1, 0.2, (0.0, 0.0, 1.0))
    sets = {
        "printed": three(team, POSE, (-0.2724, -0.3054, -0.3054)),
        "stiffest": inverse(team, POSE, "stiffness", Limits(tension_max=0.5 * team.weight, separation=1.0)),
        "tilted": inverse(team, tilted, "effort", Limits(separation=0.9)),
    }
    gains = {"": {}, ", damped": {"swing": 0.5}}
    return {name + word: poked(held, given) for name, held in sets.items() for word, given in gains.items()}


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
    assert decay(*swings["stiffest"]) > 2 * decay(*swings["printed"])


@pytest.mark.parametrize("name", ["printed", "stiffest", "tilted"])
def test_active_damping_is_at_least_three_times_faster(swings, name: str) -> None:
    assert decay(*swings[f"{name}, damped"]) > 3 * decay(*swings[name])


def test_a_robot_that_lost_thrust_comes_back() -> None:
    """Fig. 6 of the paper, whose time constant is 1 to 1.5 s."""
    from skyrig.papers import cooperative_flights as flights
    from skyrig.papers.cooperative_team import LEVEL, PRINTED, team

    found = three(team(), LEVEL, PRINTED["9(b)"])
    track = flights.held(found, flights.DAMPED, flights.LOSS)
    assert track.word == "flew" and track.slack == 0 and track.robots.max() > 0.3
    assert track.robots_constant < 1.5 and track.time_constant(1.4) < 1.5
    assert track.off[-1] < 1e-3


def test_noise_and_lag_are_seen_through() -> None:
    """10 mm of noise on every position, rotors that lag, late commands: the team holds still and damps."""
    from skyrig.papers import cooperative_flights as flights
    from skyrig.papers.cooperative_team import LEVEL, PRINTED, team

    found = three(team(), LEVEL, PRINTED["9(b)"])
    track = flights.held(found, flights.DAMPED, flights.POKE, flights.HARSH)
    assert track.word == "flew"
    assert track.off[track.times < 1.0].max() < 0.01 and track.left(8.0) < 0.02
    assert track.time_constant(1.5, 6.0) < 2.5


def test_moves_are_not_taken_for_swing() -> None:
    """Poses one after another, some of them turned: damping leaves the payload where statics has it."""
    from skyrig.papers import cooperative_flights as flights

    track, rests = flights.sequence(flights.DAMPED)
    off, turned = track.rmse
    assert track.word == "flew" and track.slack == 0 and len(rests) == 3
    assert off < 0.025 and turned < 0.35


def test_sway_is_how_far_the_payload_is_from_rest() -> None:
    """Newton's step to the equilibrium under the same hooks, exact for small swings, in every mode."""
    team = Team.of_parts(load("three-hummingbirds-frame").parts)
    held = three(team, POSE, (-0.2724, -0.3054, -0.3054))
    assert team.inertia is not None
    for mode in stability(held).modes.T:
        step = 1e-4 * mode
        turned = multiply(np.append(1.0, step[3:] / 2), POSE.attitude)
        pose = Pose(POSE.position + step[:3], turned / np.linalg.norm(turned))
        arms = team.arms(pose.attitude)
        span = held.hooks - team.points(pose)
        up = span / np.linalg.norm(span, axis=1, keepdims=True)
        sway = swayed(
            jnp.asarray(arms.T),
            jnp.asarray(up.T),
            jnp.asarray(held.tension),
            jnp.asarray(team.length),
            jnp.zeros((3, team.count)),
            jnp.asarray(team.gravity),
            jnp.asarray(team.mass),
            jnp.asarray(team.inertia),
        )
        moved = team.points(pose) - team.points(held.pose)
        np.testing.assert_allclose(np.asarray(sway).T, moved, atol=0.15 * np.abs(moved).max())
