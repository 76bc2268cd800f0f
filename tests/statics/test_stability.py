"""Whether a payload stays: Hessians against finite differences, frequencies against the hybrid simulation."""

import numpy as np
import pytest
from teams import box, frame, held, random_team

from skyrig import rollout
from skyrig.errors import InputError
from skyrig.statics import Configuration, Pose, Team, inverse, spherical, stability, three
from skyrig.turns import multiply, turn


def moved(team: Team, hooks: np.ndarray, pose: Pose, twist: np.ndarray) -> Pose:
    """`pose` after a twist, brought back onto the cables' lengths by Newton steps."""
    for step in (twist, *[None] * 30):
        if step is None:
            span = hooks - team.points(pose)
            distance = np.linalg.norm(span, axis=1)
            arms, unit = team.arms(pose.attitude), span / distance[:, None]
            slope = -np.concatenate([unit, np.cross(arms, unit)], axis=1)
            step = -np.linalg.pinv(slope) @ (distance - team.length)
        half = np.append(1.0, step[3:] / 2)
        pose = Pose(pose.position + step[:3], multiply(half / np.linalg.norm(half), pose.attitude))
    return pose


@pytest.mark.parametrize("case", range(4))
def test_hessian_is_that_of_the_energy_on_the_constraints(case) -> None:
    rng = np.random.default_rng(case)
    team = random_team(rng, 3 + case % 2)
    team = Team(**{**vars(team), "force": rng.normal(size=3) * 0.2, "point": rng.normal(size=3) * 0.1})
    found = inverse(team, Pose.turned(*rng.uniform(-0.2, 0.2, 3)))
    known = stability(found)
    hooks, h = found.hooks, 2e-4

    def energy(a: np.ndarray) -> float:
        return float(team.energy(moved(team, hooks, found.pose, known.twists @ a)))

    for _ in range(4):
        a = rng.normal(size=known.twists.shape[1])
        a /= np.linalg.norm(a)
        second = (energy(h * a) - 2 * energy(0 * a) + energy(-h * a)) / h**2
        np.testing.assert_allclose(second, a @ known.stiffness @ a, rtol=1e-5, atol=1e-5)


def test_the_papers_angles_agree_in_sign_and_by_differences() -> None:
    team = frame()
    found = three(team, Pose.turned(0.1, 0.2), (-0.3, 0.1, -0.4))
    matrix = spherical(found)
    known = stability(found)
    assert (np.sign(np.linalg.eigvalsh(matrix)) == np.sign(known.eigenvalues)).all()

    def angles(pose: Pose) -> np.ndarray:
        down = team.points(pose) - found.hooks
        phi = np.arccos(down[:, 2] / np.linalg.norm(down, axis=1))
        return np.array([phi[0], np.arctan2(down[0, 1], down[0, 0]), phi[1]])

    h = 1e-4
    for a in np.eye(3):
        there, back = (moved(team, found.hooks, found.pose, s * h * known.twists @ a) for s in (1, -1))
        change = (angles(there) - angles(back)) / 2
        second = team.energy(there) - 2 * team.energy(found.pose) + team.energy(back)
        np.testing.assert_allclose(second, change @ matrix @ change, rtol=1e-3)
    with pytest.raises(InputError, match="cable 0 hangs upright"):
        spherical(three(team, Pose.turned(), (0.0, 0.0, -0.9)))


def test_pendulums_that_everyone_knows() -> None:
    team = frame()
    parallel = stability(three(team, Pose.turned(), (0.0, 0.0, 0.0)))
    # upright cables swing as one pendulum, and twist as a trifilar one: w^2 = m g r^2 / (l J)
    radius2 = (team.attachment**2).sum(1).mean()
    assert team.inertia is not None
    twist = team.weight * radius2 / (1.0 * team.inertia[2, 2])
    np.testing.assert_allclose(parallel.squares, sorted([9.81, 9.81, twist]), rtol=1e-9)


@pytest.mark.parametrize("which", ["frame", "box"])
def test_frequencies_are_those_of_the_simulated_rig(which) -> None:
    team = frame() if which == "frame" else box(4)
    pose = Pose.turned(0.1, 0.05)
    found = three(team, pose, (-0.3, 0.1, -0.4)) if which == "frame" else inverse(team, pose, "margin")
    known = stability(found)
    rig, thrust = held(team)
    for k, hertz in enumerate(known.frequencies):
        speed = 1e-4 * known.modes[:, k] / np.abs(known.modes[:, k]).max()
        rate = turn(pose.attitude * [1, -1, -1, -1], speed[3:])
        start = rig.state(
            pose.position,
            found.hooks,
            payload_velocity=speed[:3],
            payload_attitude=pose.attitude,
            payload_rate=rate,
        )
        flown = rollout(rig, start, [0.0, 6.0], thrust)
        twist = np.concatenate(
            [flown.payload.velocity, turn(flown.payload.attitude, flown.payload.rate)], axis=1
        )
        along = np.linalg.lstsq(known.modes, twist.T, rcond=None)[0][k]
        np.testing.assert_allclose(measured(flown.times, along), hertz, rtol=1e-3)


def measured(times: np.ndarray, swing: np.ndarray) -> float:
    """Frequency (Hz) from a swing's first to its last zero."""
    sign = np.flatnonzero(swing[:-1] * swing[1:] < 0)
    zeros = times[sign] - swing[sign] * np.diff(times)[sign] / np.diff(swing)[sign]
    return (len(zeros) - 1) / 2 / (zeros[-1] - zeros[0])


def test_a_constant_moment_has_no_energy() -> None:
    team = frame(moment=(0.01, 0.0, 0.0))
    with pytest.raises(InputError, match="moment must be zero"):
        stability(Configuration(team, Pose.turned(), np.ones((3, 3))))
