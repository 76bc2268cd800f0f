"""Where vehicles must be: the paper's printed numbers, the balance, and answers where there is none."""

import numpy as np
import pytest
from teams import box, frame, random_team

from skyrig.errors import InputError
from skyrig.statics import Limits, Pose, Team, coordinates, inverse, stability, three
from skyrig.statics.criteria import CRITERIA

FIG_9 = {
    (-0.2724, -0.3054, -0.3054): (0.360, 0.360, 0.391),
    (0.0, 0.0, -0.9): (0.333, 0.480, 0.480),
    (0.6, 0.45, -0.9): (0.417, 0.452, 0.448),
}
"""The printed coordinates, and tensions over the payload's weight to three digits."""


@pytest.mark.parametrize(("normalised", "tension"), FIG_9.items())
def test_printed_configurations_of_fig_9(normalised, tension) -> None:
    team = frame()
    found = three(team, Pose.turned(), normalised)
    np.testing.assert_allclose(found.tension / team.weight, tension, atol=5e-4)
    assert found.tension.max() < team.weight / 2 and found.separation.min() > 1.0
    assert found.residual < 1e-12 and stability(found).stable
    np.testing.assert_allclose(coordinates(found), normalised, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found.hooks - team.points(found.pose), axis=1), team.length)


def test_closed_form_holds_any_load_on_any_triangle() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        team = random_team(rng, 3)
        push = Team(**{**vars(team), "force": rng.normal(size=3) * 0.1, "point": rng.normal(size=3) * 0.1})
        pose = Pose.turned(*rng.uniform(-0.3, 0.3, 3), rng.normal(size=3))
        try:
            found = three(push, pose, rng.uniform(-0.5, 0.5, 3))
        except InputError as error:
            assert "push" in str(error)
            continue
        assert found.residual < 1e-10
        arms = found.team.points(pose) - pose.position
        moment = np.cross(arms, found.force).sum(0)
        moment += np.cross(push.points(pose)[0] * 0 + _turned(pose, push.point), push.force)
        np.testing.assert_allclose(moment, 0, atol=1e-10)
        np.testing.assert_allclose(found.force.sum(0) + push.force, [0, 0, push.weight], atol=1e-10)


def _turned(pose: Pose, point: np.ndarray) -> np.ndarray:
    w, *axis = pose.attitude
    return point + 2 * np.cross(axis, np.cross(axis, point) + w * point)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_each_criterion_is_best_by_its_own_measure(criterion) -> None:
    team, pose = frame(), Pose.turned(0.2, 0.1)
    limits = Limits(tension_max=0.5 * team.weight, separation=1.0)
    found = {each: inverse(team, pose, each, limits) for each in {criterion, "effort", "margin"}}
    for each in found.values():
        assert each.residual < 1e-10 and each.separation.min() > 1 - 1e-6
        assert each.tension.max() < (0.5 + 1e-6) * team.weight
    best = found[criterion]
    measure = {
        "effort": lambda it: -(it.tension**2).sum(),
        "equal": lambda it: -it.tension.var(),
        "margin": lambda it: it.margin,
        "stiffness": lambda it: stability(it).squares.min(),
    }[criterion]
    assert all(measure(best) >= measure(other) - 1e-6 for other in found.values())


def test_four_vehicles_on_a_box_whose_mass_is_off_the_attachments() -> None:
    team = box(4)
    found = inverse(team, Pose.turned(0.1, -0.1, 0.4, (1.0, 2.0, 3.0)), "margin")
    assert found.residual < 1e-10 and found.margin > 0.1
    found.table()


def test_one_and_two_vehicles_hold_the_poses_that_exist() -> None:
    single = _bar([[0.0, 0.0, 0.1]])
    found = inverse(single, Pose.turned(yaw=1.0))
    np.testing.assert_allclose(found.force, [[0, 0, single.weight]], atol=1e-12)
    with pytest.raises(InputError, match=r"one point.* hangs 17\.2 degrees"):
        inverse(single, Pose.turned(roll=0.3))
    pair = _bar([[-0.5, 0.0, 0.1], [0.5, 0.0, 0.1]])
    assert inverse(pair, Pose.turned(pitch=0.3)).residual < 1e-10
    with pytest.raises(InputError, match=r"one line.* hangs 11\.5 degrees"):
        inverse(pair, Pose.turned(roll=0.2))
    with pytest.raises(InputError, match="one line"):
        three(_bar([[-0.5, 0.0, 0.0], [0.0, 0.0, 0.0], [0.5, 0.0, 0.0]]), Pose.turned(), (0, 0, 0))


def _bar(points) -> Team:
    whole = vars(frame())
    n = len(points)
    names = ("length", "hook", "vehicle_mass", "thrust_max", "radius")
    return Team(**{**whole, **{name: whole[name][:n] for name in names}, "attachment": np.array(points)})


def test_what_cannot_be_says_which_and_how_far_off() -> None:
    team = frame()
    weak = Team(**{**vars(team), "thrust_max": np.full(3, 5.0)})
    with pytest.raises(InputError, match=r"cannot lift its payload: .* 17\.17 N.* 15 N, 2\.17 N too little"):
        inverse(weak, Pose.turned())
    with pytest.raises(InputError, match=r"thrust misses by .* N"):
        inverse(Team(**{**vars(team), "thrust_max": np.array([5.0, 20.0, 20.0])}), Pose.turned())
    with pytest.raises(InputError, match="would have to push"):
        three(Team(**{**vars(team), "attachment": team.attachment + [2.0, 0, 0]}), Pose.turned(), (0, 0, 0))
