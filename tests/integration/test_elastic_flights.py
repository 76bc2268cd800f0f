"""Every bundled scenario on cables, with elastic ones instead."""

from typing import Any

import numpy as np
import pytest

from skyrig import fly, load
from skyrig.constants import GRAVITY
from skyrig.rigs.elastic.chain import course_now
from skyrig.scenario import names

CABLES = [name for name in names() if load(name).parts.mechanism == "cables"]


@pytest.mark.parametrize("name", CABLES)
def test_it_hangs_on_elastic_cables_as_it_should(name: str) -> None:
    scenario = load(name).with_overrides({"rig.mechanism": "elastic"})
    built: Any = scenario.build()
    rig, state, hover = built.rig, built.state, built.hover
    assert rig.mechanism == "elastic" and built.control_times[-1] == scenario.duration
    # cables are as long as they are said to be: stretched a little, or hanging in arcs (these are chords)
    apart = np.diff(np.asarray(course_now(rig, state).place), axis=1)
    length = np.linalg.norm(apart, axis=0).sum(0)
    share = length / np.asarray(scenario.parts.lengths)
    assert share.min() > 0.95 and share.max() < 1.005
    if hover is None:
        return
    # vehicles carry themselves, the payload and the cables
    craft = np.asarray(hover.state.vehicles.attitude)
    upright = 1 - 2 * (craft[1] ** 2 + craft[2] ** 2)
    mass = scenario.parts.mass + float((rig.mass_per_metre * rig.length).sum())
    assert (hover.thrust * upright).sum() == pytest.approx(mass * GRAVITY, rel=1e-9)


def flown(name: str, **changes: Any) -> Any:
    told = {"rig.mechanism": "elastic", "duration": 0.4, "happenings.0.time": 0.1}
    flight = fly(load(name).with_overrides({**told, **changes}))
    assert flight.verdict.flew, flight.verdict
    return flight


@pytest.mark.slow
def test_a_cable_cut_in_the_middle_lets_go_and_the_others_carry() -> None:
    tension = flown("four-dragonflies-box-cut", **{"happenings.0.at": 0.5}).cables.tension
    assert tension[0].min() > 0.5 and tension[-1, 1:].max() > 0.5
    assert tension[-1, 0] < 0.05  # N: what half a cable weighs


@pytest.mark.slow
def test_winches_reel_elastic_cables_in() -> None:
    flight = flown("winch-reel-up")
    reeled = 0.5 * 0.3**2 / 2  # m: 0.3 s of speeding up at 0.5 m/s^2
    gone = flight.cables.length[0] - flight.cables.length[-1]
    assert gone == pytest.approx(np.full(3, reeled), rel=0.1)
    assert flight.cables.tension.min() > 0.3
