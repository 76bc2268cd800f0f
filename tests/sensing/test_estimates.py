"""A controller that sees what filters believe flies nearly as well as one that sees the truth."""

import numpy as np
import pytest

import skyrig
from skyrig.errors import InputError

BOTH = {"sensors.imu": {}, "sensors.motion_capture": {}}


def scenario(changes: dict | None = None) -> skyrig.Scenario:
    own = {"duration": 0.8, "reference.ramp": 2.0, **(changes or {})}
    return skyrig.load("one-dragonfly-circle").with_overrides(own)


@pytest.mark.slow
def test_the_load_is_carried_by_estimates() -> None:
    known = scenario({**BOTH, "controller.sees": "estimate"})
    flight = skyrig.fly(known)
    assert flight.metrics["tracking"]["whole"]["position_rmse"] < 0.01
    rows = np.searchsorted(flight.times, flight.inputs.times - 1e-9)
    for group, place, speed in (("vehicles", 2e-3, 0.02), ("payload", 4e-3, 0.15)):
        told, so = flight.measured[group], flight.bodies[group]
        assert 0 < np.sqrt(((told.position - so.position[rows]) ** 2).mean()) < place
        assert np.sqrt(((told.velocity - so.velocity[rows]) ** 2).mean()) < speed
    again = skyrig.fly(known)
    assert np.array_equal(again.payload.position, flight.payload.position), "same seed, same flight"
    with pytest.raises(InputError, match="skyrig.fly alone flies by estimates"):
        skyrig.fly_many(known, 2)


def test_the_truth_has_no_noise() -> None:
    noisy = {"noise.position": 0.01, "noise.velocity": 0.01}
    flight = skyrig.fly(scenario({**noisy, "controller.sees": "truth"}))
    plain = skyrig.fly(scenario())
    assert np.array_equal(flight.payload.position, plain.payload.position)
    assert not np.array_equal(skyrig.fly(scenario(noisy)).payload.position, plain.payload.position)


def test_what_cannot_be_estimated_is_refused() -> None:
    base = skyrig.load("one-dragonfly-circle")
    for said, sentence in (
        ({}, "controller.sees must not be 'estimate' without sensors.imu"),
        ({"sensors.imu": {}, "sensors.gnss": {}}, "without sensors.motion_capture, which sees the load"),
    ):
        with pytest.raises(InputError, match=sentence):
            base.with_overrides({**said, "controller.sees": "estimate"})
    with pytest.raises(InputError, match="controller.sees"):
        base.with_overrides({"controller.sees": "stars"})
