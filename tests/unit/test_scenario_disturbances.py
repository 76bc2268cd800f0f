"""Wrenches, lost thrust and reeling as functions of time."""

import numpy as np

from skyrig.scenario import load
from skyrig.scenario.disturbances import Disturbances


def disturbances(name: str, happenings: list[dict[str, object]], duration: float = 10.0) -> Disturbances:
    scenario = load(name).with_overrides({"happenings": happenings, "duration": duration})
    return Disturbances.of(scenario.spec.happenings, scenario.parts, scenario.duration)


def test_a_pulsed_wrench_acts_for_its_width_in_every_period() -> None:
    wrench = {"type": "wrench", "time": 1.0, "until": 3.0, "force": [2, 0, 0], "period": 0.5, "width": 0.1}
    acting = disturbances("three-dragonflies-poke", [wrench])
    edges = acting.edges
    assert np.allclose(edges, np.sort(np.concatenate([np.arange(1, 3, 0.5), np.arange(1.1, 3, 0.5)])))
    # between two edges nothing changes, and over the flight the force acts for 4 x 0.1 s
    grid = np.concatenate([[0.0], edges, [10.0]])
    forces, torques = acting.pushes(grid[:-1])
    assert np.isclose((forces["payload"][:, 0, 0] * np.diff(grid)).sum(), 2 * 4 * 0.1)
    assert not torques["payload"].any() and "vehicles" not in forces


def test_pulses_keep_their_edges_however_many_there_are() -> None:
    wrench = {"type": "wrench", "force": [1, 0, 0], "period": 0.1, "width": 0.03}
    acting = disturbances("three-dragonflies-poke", [wrench], 9.99)
    grid = np.concatenate([[0.0], acting.edges, [9.99]])
    force = acting.pushes(grid[:-1])[0]["payload"]
    assert np.isclose((force[:, 0, 0] * np.diff(grid)).sum(), 100 * 0.03)


def test_wrenches_on_a_vehicle_add_up() -> None:
    push = {"type": "wrench", "vehicle": 1, "force": [0, 1, 0], "torque": [0, 0, 0.1]}
    acting = disturbances("three-dragonflies-poke", [push, push | {"time": 2.0}])
    forces, torques = acting.pushes([1.0, 2.0])
    force, torque = forces["vehicles"], torques["vehicles"]
    assert force.shape == (2, 3, 3)
    assert np.allclose(force[:, 1, 1], [1, 2]) and np.allclose(torque[:, 1, 2], [0.1, 0.2])
    assert not force[:, [0, 2]].any() and "payload" not in forces


def test_thrust_is_lost_within_its_window() -> None:
    loss = {"type": "thrust-loss", "vehicle": 2, "factor": 0.65, "time": 3.0, "until": 8.0}
    share = disturbances("six-dragonflies-box", [loss]).thrust_share([2.999, 3.0, 7.999, 8.0])
    assert np.allclose(share[:, 2], [1, 0.65, 0.65, 1]) and np.all(share[:, [0, 1, 3, 4, 5]] == 1)


def test_reeling_begins_at_its_time_and_ends_at_its_length() -> None:
    scenario = load("winch-reel-up")
    acting = Disturbances.of(scenario.spec.happenings, scenario.parts, scenario.duration)
    assert np.allclose(acting.goals([2.6, 2.7])["winch"][:, 0], [1.0, 0.5])
    assert disturbances("three-dragonflies-poke", []).goals([0.0]) == {}
