"""Every bundled scenario, flown to its end, within bounds that follow from physics or from what it shows."""

import functools

import numpy as np
import pytest

from skyrig import fly, load
from skyrig.flight import Flight
from skyrig.scenario import names

pytestmark = pytest.mark.slow

TRACKED = 1e-4
"""Smooth references with an exact model: what is left is the price of holding a command for 10 ms (m)."""

SMOOTH = {
    "five-dragonflies-links",
    "four-dragonflies-box",
    "one-coaxial-circle",
    "one-dragonfly-circle",
    "one-firefly-circle",
    "one-octorotor-circle",
    "one-tilted-circle",
    "payload-rotation",
    "six-dragonflies-box",
    "three-bullnose-1m",
    "three-dragonflies-1m",
    "three-dragonflies-circle",
    "three-dragonflies-links",
    "three-dragonflies-mixed-lengths",
    "three-dragonflies-slalom",
    "three-dragonflies-two-lengths",
    "three-hummingbirds-frame",
    "three-mixed-links",
    "three-mixed-vehicles",
    "two-dragonflies-bar",
    "two-dragonflies-links",
}
EVENTFUL = {
    "six-hummingbirds-lift",
    "takeoff-circle-land",
    "drop-open-loop",
    "drop-recover",
    "figure-8",
    "four-dragonflies-box-cut",
    "one-dragonfly-hover",
    "six-dragonflies-box-cut",
    "six-dragonflies-thrust-loss",
    "three-dragonflies-poke",
    "three-hummingbirds-poses",
    "two-vehicles-own-paths",
    "winch-reel-up",
}
SOFT = {"soft-carry", "soft-grasp"}
"""Grasps: tests/soft flies one."""

PLANNED = {"six-multilift-figure-8", "three-dragonflies-gate"}
"""Planned ahead at every tick: one takes long and is flown for a second only."""


def test_plans_keep_a_team_on_its_figure_8() -> None:
    flight = fly(load("six-multilift-figure-8").with_overrides({"duration": 1.5}))
    assert flight.verdict.flew and errors(flight).max() < 0.03  # m, while cables take up their lean
    assert flight.cables.tension.min() > 5.0


def test_a_team_draws_in_for_a_gate_narrower_than_its_formation() -> None:
    flight = fly("three-dragonflies-gate")
    assert flight.verdict.flew and not any(event.kind == "collision" for event in flight.events)
    reach = 2 * (0.1075 + 0.0508)  # arms and propellers of two vehicles (m), were arms straight across
    width = np.ptp(flight.vehicles.position[:, :, 1], axis=1) + reach
    before, through = (width[np.searchsorted(flight.times, t)] for t in (1.5, 2.2))
    assert before > 1.1 and through < 0.84  # m, the gate's width
    assert np.nanmin(flight.signals["obstacles.gap"].values) > 0.03
    assert width[-1] > 1.1, "and spreads again behind it"


@functools.cache
def flown(name: str) -> Flight:
    flight = fly(name)
    assert flight.verdict.flew, flight.verdict
    return flight


def errors(flight: Flight) -> np.ndarray:
    assert flight.reference is not None
    return np.linalg.norm(flight.payload.position - flight.reference.position, axis=1)


def degrees(flight: Flight) -> np.ndarray:
    """Angle between the payload's attitude and the wanted one."""
    assert flight.reference is not None
    cosine = np.abs((flight.payload.attitude * flight.reference.attitude).sum(1))
    return np.degrees(2 * np.arccos(np.clip(cosine, 0, 1)))


def count(flight: Flight, kind: str) -> int:
    """Events of a kind, those at the start apart."""
    return sum(event.kind == kind and event.time > 0 for event in flight.events)


def slack_time(flight: Flight) -> list[float]:
    return [cable["slack_time"] for cable in flight.metrics["cables"]]


def test_every_bundled_scenario_is_flown_here():
    assert set(names()) == SMOOTH | EVENTFUL | SOFT | PLANNED


@pytest.mark.parametrize("name", sorted(SMOOTH))
def test_smooth_references_are_followed_to_a_tenth_of_a_millimetre(name):
    flight = flown(name)
    assert flight.times[-1] == pytest.approx(load(name).duration)
    assert errors(flight).max() < TRACKED
    assert [event.kind for event in flight.events if event.time > 0] == []
    assert all(time == 0 for time in slack_time(flight))
    assert flight.inputs.saturated.max() == 0
    gravity, mass = 9.81, flight.rig.payload_mass
    if flight.rig.mechanism == "cables":
        # never less pull than the weight needs, less what the reference falls with
        lift = flight.reference.acceleration[:, 2] + gravity
        assert np.all(flight.cables.tension.sum(1) > 0.99 * mass * lift)
    if name == "two-dragonflies-bar":
        tilt = np.degrees(np.arctan(np.linalg.norm(flight.reference.acceleration, axis=1).max() / gravity))
        assert degrees(flight).max() < 1.05 * tilt, "about its length the bar hangs after its acceleration"
    elif flight.rig.mechanism == "cables" and not flight.rig.payload_is_point:
        assert degrees(flight).max() < 1e-3
    elif flight.rig.mechanism == "links":
        floor = flight.metrics["tracking"]["whole"]["attitude_floor"]
        rmse = flight.metrics["tracking"]["whole"]["attitude_rmse"]
        assert rmse == pytest.approx(floor, rel=0.01), "it tilts by atan(a/g), no more"
        assert flight.metrics["tracking"]["whole"]["attitude_rmse_demanded"] < 0.02 * floor


def test_a_load_off_its_place_is_brought_back_and_held():
    flight = flown("one-dragonfly-hover")
    away = errors(flight)
    assert away[0] == pytest.approx(np.linalg.norm([0.5, 0.4, 0.3]), abs=1e-6)
    assert away.max() < 1.05 * away[0], "it goes back, not further off"
    assert away[flight.times > 6].max() < 0.05 * away[0], "and holds it"
    assert count(flight, "slack") == 0 and slack_time(flight) == [0.0]


def test_the_figure_8_is_followed_through_noise():
    flight = flown("figure-8")
    noise = load("figure-8").spec.noise
    assert noise.position > 0
    assert flight.measured_payload is not None
    assert errors(flight).max() < 2 * noise.position
    assert count(flight, "slack") == 0
    assert degrees(flight).max() < np.degrees(3 * noise.attitude)


def test_the_drop_is_caught_and_brought_to_hover():
    flight = flown("drop-recover")
    assert [event.kind for event in flight.events] == ["impact"]
    # as in the open loop, until the impact nothing but weight acts on the load
    assert flight.events[0].time == pytest.approx(flown("drop-open-loop").events[0].time, abs=0.02)
    assert slack_time(flight)[0] == pytest.approx(flight.events[0].time, abs=1e-6)
    assert errors(flight)[-1] < 0.002
    (impact,) = flight.impacts
    assert abs(impact.along[1]) < 1e-9 and abs(impact.across[1] - impact.across[0]) < 1e-9


def test_a_poked_triangle_comes_back():
    flight = flown("three-dragonflies-poke")
    assert count(flight, "poke") == 1 and count(flight, "slack") >= 1
    assert [time > 0 for time in slack_time(flight)] == [False, True, False], "the poked corner's cable"
    assert count(flight, "slack") == count(flight, "impact") + count(flight, "taut"), "and it is taut again"
    before = errors(flight)[flight.times < 2.0]
    assert before.max() < 1e-9, "hover is an equilibrium"
    assert errors(flight).max() < 0.05 and errors(flight)[-1] < 0.001
    assert degrees(flight)[-1] < 0.1


def test_six_keep_a_level_load_after_a_cut():
    flight = flown("six-dragonflies-box-cut")
    assert count(flight, "cut") == 1
    assert errors(flight).max() < 0.02 and errors(flight)[-1] < 0.001
    assert degrees(flight).max() < 2 and degrees(flight)[-1] < 0.1
    cut = next(event for event in flight.events if event.kind == "cut")
    assert np.all(flight.cables.tension[flight.times > cut.time + 1e-9, cut.cable] == 0)


def test_four_hold_a_load_after_a_cut_which_tilts():
    flight = flown("four-dragonflies-box-cut")
    assert count(flight, "cut") == 1
    assert errors(flight).max() < 0.08
    assert 2 < degrees(flight)[-1] < 25


def test_six_carry_on_while_one_has_lost_a_third_of_its_thrust():
    flight = flown("six-dragonflies-thrust-loss")
    assert errors(flight).max() < 0.03 and errors(flight)[-1] < 0.002
    assert degrees(flight).max() < 4 and degrees(flight)[-1] < 0.1
    idle = slack_time(flight)
    assert idle[2] > 4 and max(idle[:2] + idle[3:]) < 1, "the weak one stays out until its thrust is back"
    assert flight.cables.taut[-1].all()
    # it fell, but stayed well above the load
    assert (flight.vehicles.position[:, 2, 2] - flight.payload.position[:, 2]).min() > 0.3


def test_a_load_is_reeled_up():
    flight = flown("winch-reel-up")
    lengths = flight.cables.length
    scenario = load("winch-reel-up")
    target = [it.length for it in scenario.spec.happenings][-1]
    assert np.allclose(lengths[-1], target, atol=1e-6)
    rates = np.diff(lengths, axis=0) / np.diff(flight.times)[:, None]
    assert np.abs(rates).max() < scenario.parts.cables[0].winch.rate * (1 + 1e-6)
    assert errors(flight).max() < 0.03 and sum(slack_time(flight)) == 0


def test_vehicles_on_paths_of_their_own_carry_the_load_along():
    flight = flown("two-vehicles-own-paths")
    assert flight.reference is None and flight.vehicle_references is not None
    away = np.linalg.norm(flight.vehicles.position - flight.vehicle_references.position, axis=2)
    assert away.max() < 0.05
    assert sum(slack_time(flight)) == 0


def test_the_open_loop_drop_falls_freely_until_the_impact():
    flight = flown("drop-open-loop")
    before = flight.times < flight.events[0].time
    fall = flight.payload.position[0, 2] - 9.81 / 2 * flight.times[before] ** 2
    assert np.allclose(flight.payload.position[before, 2], fall, atol=1e-12)
