"""Rigs that meet the ground: a load let go, told event by event."""

from typing import Any

import numpy as np
import pytest

import skyrig
from skyrig.elements.contact import touches
from skyrig.errors import InputError


@pytest.fixture(scope="module")
def flight() -> Any:
    scenario = skyrig.load("one-dragonfly-hover").with_overrides(
        {
            "duration": 2.0,
            "world.ground": {"height": 0.2},
            "world.obstacles": {"boxes": [{"centre": [5.0, 0.0, 0.5], "size": [1.0, 1.0, 1.0]}]},
            "happenings": [{"type": "cut", "time": 0.3, "cable": 0}],
            "verdict.ground": "none",
        }
    )
    return skyrig.fly(scenario)


def test_a_load_that_is_let_go_touches_when_and_as_fast_as_it_must(flight: Any) -> None:
    row = np.searchsorted(flight.times, 0.3 - 1e-9)
    fall = flight.payload.position[row, 2] - 0.2 - flight.rig.payload.shape.radius
    rise = flight.payload.velocity[row, 2]
    first = next(event for event in flight.events if event.kind == "touch")
    assert (first.owner, first.index, first.unit) == ("payload", 0, "m/s")
    speed = np.sqrt(rise**2 + 2 * 9.81 * fall)
    assert first.time == pytest.approx(0.3 + (rise + speed) / 9.81, abs=2e-4)
    assert first.value == pytest.approx(speed, rel=0.01)


def test_it_bounces_and_comes_to_rest_on_the_ground(flight: Any) -> None:
    kinds = [event.kind for event in flight.events if event.kind in ("touch", "lift-off")]
    assert kinds[:3] == ["touch", "lift-off", "touch"] and kinds[-1] == "touch"
    gap, force = (np.asarray(flight.signals[f"ground.{name}"]) for name in ("gap", "force"))
    assert gap[-1, 0] == pytest.approx(-0.109e-3, abs=2e-6)
    assert force[-1, 0] == pytest.approx(flight.rig.payload_mass * 9.81, rel=1e-3)
    assert gap[:, 1].min() > 0.3 and np.all(force[:, 1] == 0)  # the vehicle flies on
    assert flight.signals["ground.gap"].unit == "m"


def test_obstacles_that_nobody_meets_do_nothing(flight: Any) -> None:
    assert np.all(np.asarray(flight.signals["obstacles.force"]) == 0)
    assert not [event for event in flight.events if event.kind == "collision"]


def test_touching_counts_again_only_after_a_millimetre() -> None:
    times = np.arange(8.0)
    found = touches(times, np.array([1.0, -1e-4, 5e-4, -1e-4, 0.5, 0.2, -0.2, -0.1]))
    assert [(round(time, 2), came) for time, came, _ in found] == [(1.0, True), (3.0, False), (5.5, True)]
    assert found[-1][2] == pytest.approx(0.3)  # of the last step in free flight


def test_cables_that_touch_obstacles_are_told_with_their_owner() -> None:
    """Three cables of 0.5 m beside a mast; where they are slack or cut, nobody knows where they run."""
    mast = {"cylinders": [{"centre": [0.9, 0.0, 2.0], "radius": 0.1, "height": 4.0}]}
    it = skyrig.load("three-dragonflies-circle").with_overrides({"world.obstacles": mast}).build()
    element, bodies = it.elements["obstacles"], it.rig.bodies(it.state)
    assert [kind.name for kind in element.signal_kinds(it.rig.layout)][-1] == "obstacles.cable_gap"
    found = np.asarray(element.strands.gap(element.surface, bodies))
    ends = [np.asarray(side.moving(bodies).place) for side in (element.strands.start, element.strands.end)]
    for k in range(3):
        line = ends[0][:, k] + np.linspace(0, 1, 2001)[:, None] * (ends[1][:, k] - ends[0][:, k])
        away = np.hypot(line[:, 0] - 0.9, line[:, 1]) - 0.1
        assert found[k] == pytest.approx(np.where(away > 0, away, found[k]).min(), abs=2e-3)
    times = np.arange(4.0)
    near = np.array([[0.3, 0.2, 0.1], [0.1, 0.1, -0.1], [-0.1, 0.2, -0.1], [0.2, -0.1, 0.1]])
    told = {
        **{f"obstacles.{name}": np.ones((4, 4)) for name in ("gap", "force")},
        "obstacles.cable_gap": near,
        "cable.taut": np.array([[True, True, True]] * 3 + [[True, False, True]]),
    }
    events = element.happened(times, told, it.rig.layout)
    assert [(it.kind, it.group, it.index, it.time) for it in events] == [
        ("cable-touch", "cable", 0, pytest.approx(1.5)),
        ("cable-touch", "cable", 2, pytest.approx(0.5)),
    ]


@pytest.mark.parametrize(
    ("world", "sentence"),
    [
        ({"ground": {"height": None}}, "world.ground.height must be given where there are no slopes"),
        (
            {"ground": {"slopes": [{"normal": [1.0, 0.0, 0.0]}]}},
            r"world.ground.slopes\[0\].normal must point up",
        ),
        ({"obstacles": {}}, "world.obstacles must hold boxes, cylinders or spheres"),
    ],
)
def test_ground_that_cannot_be_is_refused(world: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        skyrig.load("one-dragonfly-hover").with_overrides({"world": world})
