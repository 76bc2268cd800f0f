"""From pose to pose: ways that stay within the limits, and flights that follow them."""

import os
from typing import Any

import numpy as np
import pytest
from teams import frame

from skyrig import fly, load
from skyrig.errors import InputError
from skyrig.planning import build_team
from skyrig.scenario import Scenario
from skyrig.statics import Limits, Pose, plan
from skyrig.turns import between, euler_angles


def random_pair(rng: np.random.Generator) -> list[Pose]:
    return [
        Pose.turned(*rng.uniform(-0.3, 0.3, 2), rng.uniform(-1, 1), rng.uniform(-1, 1, 3) + [0, 0, 2])
        for _ in range(2)
    ]


def test_every_configuration_on_the_way_keeps_to_the_limits() -> None:
    team, limits = frame(), Limits(separation=0.8)
    rng = np.random.default_rng(0)
    for _ in range(4):
        pair = random_pair(rng)
        way = plan(team, pair, "effort", limits)
        for place in np.linspace(0, len(way.stops) - 1, 40):
            held = way.configuration(place)
            assert held.residual < 1e-10 and held.separation.min() > 0.8 - 1e-3
            assert held.tension.min() > 0 and held.margin > 0
        for pose, k in zip(pair, way.rests, strict=True):
            np.testing.assert_allclose(way.configuration(k).pose.position, pose.position, atol=1e-12)
            assert between(way.configuration(k).pose.attitude[None], pose.attitude[None])[0] < 1e-7


def test_a_way_around_an_obstacle() -> None:
    team = frame()
    ends = [Pose.turned(position=(-3, 0, 2)), Pose.turned(position=(3, 0, 2))]
    ball = np.array([0.0, 0.0, 2.0])
    way = plan(team, ends, "effort", Limits(separation=0.8), [[*ball, 0.5]])
    assert len(way.stops) > 2
    again = plan(team, ends, "effort", Limits(separation=0.8), [[*ball, 0.5]])
    assert all((a.position == b.position).all() for a, b in zip(way.stops, again.stops, strict=True))
    # no sharp corners: pieces turn by little against the one before
    steps = np.diff([it.position for it in way.stops], axis=0)
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    assert (steps[1:] * steps[:-1]).sum(1).min() > 0.8
    for place in np.linspace(0, len(way.stops) - 1, 60):
        held = way.configuration(place)
        assert np.linalg.norm(held.vehicles - ball, axis=1).min() > 0.5 + team.radius[0] - 1e-2
        assert np.linalg.norm(held.pose.position - ball) > 0.5
    with pytest.raises(InputError, match=r"poses\[1\] is too near an obstacle, by"):
        plan(team, ends, "effort", Limits(), [[3.0, 0.0, 2.0, 0.5]])
    with pytest.raises(InputError, match=r"poses\[0\]: .* outside|poses\[0\]: no configuration"):
        plan(team, ends, "effort", Limits(tension_max=0.5))


def flown(values: dict[str, Any]) -> tuple[Any, np.ndarray, np.ndarray]:
    """A flight, and how far the payload is from where statics has it: metres and radians."""
    scenario = Scenario.from_dict(values)
    flight = fly(scenario)
    assert flight.verdict.flew, flight.verdict
    wanted = build_team(scenario.values["reference"], scenario.parts).payload.sample(flight.times)
    off = np.linalg.norm(flight.payload.position - wanted.position[:, 0], axis=1)
    return flight, off, between(wanted.attitude, flight.payload.attitude)


def test_the_sequence_of_fig_7() -> None:
    flight, off, turned = flown(load("three-hummingbirds-poses").values)
    assert not [it for it in flight.events if it.kind == "slack"]
    assert np.sqrt((off**2).mean()) < 0.03 and np.sqrt((turned**2).mean()) < np.radians(1)


BALL = np.array([0.0, 0.0, 3.4])


def barred_pair(rng: np.random.Generator) -> list[Pose]:
    """Two poses with a ball between them."""
    return [
        Pose.turned(
            *rng.uniform(-0.3, 0.3, 2), rng.uniform(-1, 1), rng.uniform(-0.5, 0.5, 3) + [side, 0.0, 3.0]
        )
        for side in (-2.5, 2.5)
    ]


@pytest.mark.slow
def test_pairs_are_flown_without_a_slack_cable_or_a_collision() -> None:
    """Every second one around a ball. SKYRIG_PAIRS=50 flies as many as the planner is measured with."""
    rng = np.random.default_rng(1)
    values = load("three-hummingbirds-poses").values
    team = frame()
    for case in range(int(os.environ.get("SKYRIG_PAIRS", "8"))):
        poses = [
            {"position": pose.position.tolist(), "attitude": euler_angles(pose.attitude).tolist()}
            for pose in (barred_pair if case % 2 else random_pair)(rng)
        ]
        reference = {"type": "poses", "poses": poses, "separation": 0.8, "hold": 1.0}
        if case % 2:
            reference |= {"obstacles": [[*BALL.tolist(), 0.5]]}
        flight, off, _ = flown({**values, "reference": reference})
        assert not [it for it in flight.events if it.kind == "slack"]
        assert off.max() < 0.3
        if case % 2:
            assert np.linalg.norm(flight.payload.position - BALL, axis=1).min() > 0.5
            assert np.linalg.norm(flight.vehicles.position - BALL, axis=2).min() > 0.5 + team.radius[0] - 0.05


def test_bad_poses_are_told() -> None:
    values = load("three-hummingbirds-poses").values
    for change, told in (
        ({"poses": []}, "reference.poses must list at least one pose"),
        ({"poses": [{"place": [0, 0, 1]}]}, r"reference.poses\[0\]: there is no field 'place'"),
        ({"poses": [{"position": [0, 0]}]}, r"poses\[0\].position must have shape 3"),
        ({"speed": -1.0}, "reference.speed must be above zero"),
        ({"sped": 1.0}, "reference.sped is not a parameter of poses"),
        ({"tension_max": 0.1}, r"reference.poses\[0\]: no configuration"),
    ):
        with pytest.raises(InputError, match=told):
            Scenario.from_dict({**values, "reference": {**values["reference"], **change}})
