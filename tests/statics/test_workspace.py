"""Sets of configurations: the compiled form against the plain one, and volumes against each other."""

import numpy as np
import pytest
from teams import box, frame

from skyrig.errors import InputError
from skyrig.statics import Limits, Pose, coordinates, inverse, stability, three, workspace
from skyrig.statics.inverse import room
from skyrig.statics.push import push_shares
from skyrig.turns import turn

POINTS = Limits(tension_min=0.0, separation=0.0, clearance=0.0, elevation=0.0, stable=False)
"""Robots that are points, as in the paper's Fig. 3."""


def half(**others) -> Limits:
    return Limits(**{**vars(POINTS), "tension_max": 0.5 * frame().weight, **others})


def test_compiled_and_plain_say_the_same() -> None:
    team = frame(force=(0.1, 0.05, 0.0), point=(0.1, 0.2, 0.05))
    pose = Pose.turned(0.2, 0.1, 0.3)
    limits = Limits(tension_max=0.6 * team.weight, separation=1.0, push=0.1).filled(team)
    found = workspace(team, pose, limits, 2000)
    assert 0.02 < found.share < 0.9
    many = found.configuration(slice(0, 60))
    np.testing.assert_allclose(many.tension, found.tension[:60])
    for k in range(60):
        one = three(team, pose, found.samples[k])
        np.testing.assert_allclose(found.tension[k], one.tension)
        for name, values in room(one, limits).items():
            if not name.startswith("squared"):
                np.testing.assert_allclose(found.room[name][k], values.min(), atol=1e-12)
        true = stability(one).squares[0] * team.length.mean() / team.gravity
        np.testing.assert_allclose(
            found.room["squared natural frequency over gravity by length"][k], true, atol=1e-7
        )


def test_volumes_are_those_of_the_figures() -> None:
    team, level = frame(), Pose.turned()
    bounded = workspace(team, level, half(), 100_000)
    # a tension of at most half the weight, a third of it upright: all |q_i| <= 1.5, x1^2 + y1^2 <= 1.25
    inside = np.hypot(bounded.samples[:, 0], bounded.samples[:, 1])[bounded.valid]
    assert inside.max() <= np.sqrt(1.25) and inside.max() > 1.1
    apart = workspace(team, level, half(separation=1.0, stable=True), 100_000)
    assert apart.volume[0] < bounded.volume[0]
    for z in (-0.2724, -0.3054, -0.3054), (0.0, 0.0, -0.9), (0.6, 0.45, -0.9):
        near = np.linalg.norm(apart.samples - z, axis=1) < 0.08
        assert apart.valid[near].any()
    # numbering attachments in another order changes the coordinates by a linear map, not what is valid
    other = workspace(team, level, half(), 100_000, seed=1)
    spread = np.hypot(bounded.volume[1], other.volume[1])
    assert abs(bounded.volume[0] - other.volume[0]) < 5 * spread


def test_a_wrench_feasible_configuration_holds_every_push() -> None:
    team, pose, push = frame(), Pose.turned(0.2, 0.1), 0.4
    limits = half(push=push)
    found = workspace(team, pose, limits, 20_000)
    assert 0 < found.volume[0] < found.static_volume[0] and found.volume[1] > 0
    rng = np.random.default_rng(0)
    shares = np.einsum(
        "pa,npq,qb->nab", *(lambda r: (r, push_shares(team), r))(turn(pose.attitude, np.eye(3)))
    )
    kept, lost = found.configuration(found.valid), found.configuration(found.static & ~found.valid)
    forces = rng.normal(size=(200, 3))
    forces *= push / np.linalg.norm(forces, axis=1, keepdims=True)
    most = np.zeros(2)
    for force in forces:
        more = shares @ force  # what the cables add to meet a force on the payload
        np.testing.assert_allclose(more.sum(0), -force, atol=1e-12)
        np.testing.assert_allclose(np.cross(team.arms(pose.attitude), more).sum(0), 0, atol=1e-12)
        assert ((kept.force + more) * kept.direction).sum(-1).min() > 0
        for k, some in enumerate((kept, lost)):
            most[k] = max(most[k], np.linalg.norm(some.force + more, axis=-1).max())
    assert most[0] <= 0.5 * team.weight < most[1]


def test_a_table_for_other_tools() -> None:
    found = workspace(frame(), Pose.turned(), half(), 500)
    table = found.table()
    assert {len(column) for column in table.values()} == {500}
    assert list(table)[:6] == ["x1", "y1", "y2", "tension_0", "tension_1", "tension_2"]


def test_teams_of_four_and_poses_outside() -> None:
    team = box(4)
    found = workspace(team, Pose.turned(), samples=2000)
    assert found.samples.shape == (2000, 6) and set(found.shares())
    with pytest.raises(
        InputError, match=r"outside the workspace: cable \d pulls with .* more than its most of"
    ):
        workspace(frame(), Pose.turned(), Limits(tension_max=0.7), 100)
    best = inverse(frame(), Pose.turned(), "margin", half(separation=1.0, stable=True))
    assert np.isfinite(coordinates(best)).all()
