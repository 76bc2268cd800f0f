"""Whole flights in moving air: recorded, in batches, however their steps are cut."""

from typing import Any

import numpy as np
import pytest

import skyrig

AIR = {
    "wind": {"velocity": [1.0, 0.5, 0.0], "shear": {}},
    "turbulence": {"speed": 3.0},
    "payload_drag": {},
    "cable_drag": {"diameter": 0.002},
    "rotor_drag": {"coefficient": 1e-5},
}


@pytest.fixture(scope="module")
def scenario() -> Any:
    return skyrig.load("one-dragonfly-hover").with_overrides({"duration": 1.5, "world": AIR})


@pytest.fixture(scope="module")
def flight(scenario: Any) -> Any:
    return skyrig.fly(scenario)


def test_the_flight_tells_the_wind_at_every_body(flight: Any) -> None:
    wind = np.stack([np.asarray(flight.signals[f"wind.{axis}"]) for axis in "xyz"], axis=-1)
    assert wind.shape == (len(flight.times), 2, 3)
    assert flight.signals["wind.x"].unit == "m/s"
    assert 0.05 < wind[:, 0, 0].std() < 1.0
    steps = np.abs(np.diff(wind[:, 0], axis=0)).max()
    assert 0 < steps < 0.2  # it fluctuates, and never jumps


def test_many_flights_draw_their_own_wind_and_are_those_flown_alone(scenario: Any) -> None:
    many = skyrig.fly_many(scenario, 3, {"world.wind.velocity[0]": "uniform(0, 3)"}, seed=2)
    errors = np.asarray(many.metrics["position_rmse"])
    assert len(set(errors.round(6))) == 3
    for k, row in enumerate(
        skyrig.scenario.vary.varied(scenario, {"world.wind.velocity[0]": "uniform(0, 3)"}, 3, 2)
    ):
        if k == 1:
            alone = skyrig.fly(scenario.with_overrides(row))
            assert alone.metrics["tracking"]["whole"]["position_rmse"] == pytest.approx(errors[k], rel=1e-6)


def test_seeds_decide_the_turbulence_and_nothing_else_does(scenario: Any, flight: Any) -> None:
    again = skyrig.fly(scenario)
    other = skyrig.fly(scenario.with_overrides({"seed": 1}))
    fixed = skyrig.fly(scenario.with_overrides({"seed": 1, "world.turbulence.seed": 0}))
    assert np.array_equal(again.payload.position, flight.payload.position)
    assert np.abs(other.payload.position - flight.payload.position).max() > 1e-4
    assert np.array_equal(fixed.payload.position, flight.payload.position)


def test_a_flight_does_not_depend_on_how_its_steps_are_cut() -> None:
    """A payload that is dropped into its cable in turbulent air, at steps of 2 ms and an eighth of it."""
    it = skyrig.load("drop-open-loop").with_overrides({"world": AIR}).build()
    ends = []
    for step in (0.002, 0.00025):
        flown = skyrig.rollout(
            it.rig, it.state, [0.0, 1.0], [0.25 * 9.81], elements=it.elements, step=step, at=[0.5, 1.0]
        )
        assert any(event.kind == "impact" for event in flown.events)
        ends.append(np.asarray(flown.payload.position))
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)
