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
    force, torque = acting.payload_wrench(grid[:-1])
    assert np.isclose((force[:, 0] * np.diff(grid)).sum(), 2 * 4 * 0.1)
    assert not torque.any() and acting.vehicle_wrench(grid) is None


def test_pulses_keep_their_edges_however_many_there_are() -> None:
    wrench = {"type": "wrench", "force": [1, 0, 0], "period": 0.1, "width": 0.03}
    acting = disturbances("three-dragonflies-poke", [wrench], 9.99)
    grid = np.concatenate([[0.0], acting.edges, [9.99]])
    force, _ = acting.payload_wrench(grid[:-1])
    assert np.isclose((force[:, 0] * np.diff(grid)).sum(), 100 * 0.03)


def test_wrenches_on_a_vehicle_add_up() -> None:
    push = {"type": "wrench", "vehicle": 1, "force": [0, 1, 0], "torque": [0, 0, 0.1]}
    acting = disturbances("three-dragonflies-poke", [push, push | {"time": 2.0}])
    force, torque = acting.vehicle_wrench([1.0, 2.0])
    assert force.shape == (2, 3, 3)
    assert np.allclose(force[:, 1, 1], [1, 2]) and np.allclose(torque[:, 1, 2], [0.1, 0.2])
    assert not force[:, [0, 2]].any() and acting.payload_wrench([1.0]) is None


def test_thrust_is_lost_within_its_window() -> None:
    loss = {"type": "thrust-loss", "vehicle": 2, "factor": 0.65, "time": 3.0, "until": 8.0}
    share = disturbances("six-dragonflies-box", [loss]).thrust_share([2.999, 3.0, 7.999, 8.0])
    assert np.allclose(share[:, 2], [1, 0.65, 0.65, 1]) and np.all(share[:, [0, 1, 3, 4, 5]] == 1)


def test_reeling_stays_within_the_winch_and_ends_at_the_length() -> None:
    scenario = load("winch-reel-up")
    acting = Disturbances.of(scenario.spec.happenings, scenario.parts, scenario.duration)
    dt = 0.01
    times = np.arange(0.0, 10.0, dt)
    rates = acting.reel_rate(times)
    assert rates is not None
    length = 1.0 + np.cumsum(rates, axis=0) * dt
    assert np.allclose(length[-1], 0.5, atol=1e-6)
    assert np.abs(rates).max() <= 0.25 + 1e-12 and np.abs(np.diff(rates, axis=0)).max() <= 0.5 * dt + 1e-12
    assert length.min() > 0.5 - 1e-6, "it never reels in too far"
    assert not rates[times < 2.7].any()
    assert np.allclose(acting.cable_target([2.6, 2.7])[:, 0], [1.0, 0.5])
