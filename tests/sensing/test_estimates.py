"""A controller that sees what filters believe flies nearly as well as one that sees the truth."""

import numpy as np
import pytest

import skyrig
from skyrig.errors import InputError
from skyrig.sensing.cable_directions import CableDirectionsSpec, LoadsOnCables
from skyrig.sensing.sensor import Truth
from skyrig.tracks import Track
from skyrig.turns import conjugate, multiply, of_vector, turn, vector_of

BOTH = {"sensors.imu": {}, "sensors.motion_capture": {}}


def scenario(changes: dict | None = None, name: str = "one-dragonfly-circle") -> skyrig.Scenario:
    own = {"duration": 0.8, "reference.ramp": 2.0, **(changes or {})}
    return skyrig.load(name).with_overrides(own)


@pytest.mark.slow
def test_three_carry_the_load_round_by_estimates() -> None:
    known = scenario({**BOTH, "controller.sees": "estimate"}, "three-dragonflies-circle")
    flight = skyrig.fly(known)
    assert flight.metrics["tracking"]["whole"]["position_rmse"] < 0.01
    assert flight.metrics["tracking"]["whole"]["attitude_rmse"] < 0.02
    rows = np.searchsorted(flight.times, flight.inputs.times - 1e-9)
    for group, place, speed in (("vehicles", 2e-3, 0.02), ("payload", 4e-3, 0.15)):
        told, so = flight.measured[group], flight.bodies[group]
        assert 0 < np.sqrt(((told.position - so.position[rows]) ** 2).mean()) < place
        assert np.sqrt(((told.velocity - so.velocity[rows]) ** 2).mean()) < speed
    again = skyrig.fly(known)
    assert np.array_equal(again.payload.position, flight.payload.position), "same seed, same flight"
    with pytest.raises(InputError, match="skyrig.fly alone flies by estimates"):
        skyrig.fly_many(known, 2)


@pytest.mark.slow
def test_satellites_a_compass_and_the_cables_direction_carry_the_load() -> None:
    said = {"sensors.gnss.horizontal": 0.01, "sensors.gnss.vertical": 0.015, "sensors.magnetometer": {}}
    said |= {"sensors.imu": {}, "sensors.cable_directions": {}, "controller.sees": "estimate"}
    flight = skyrig.fly(scenario(said))
    assert flight.metrics["tracking"]["whole"]["position_rmse"] < 0.03
    rows = np.searchsorted(flight.times, flight.inputs.times - 1e-9)
    told, so = flight.measured["payload"], flight.payload
    assert 0 < np.sqrt(((told.position - so.position[rows]) ** 2).mean()) < 0.02


def test_where_cables_lead_is_where_the_load_is() -> None:
    # from exact directions and vehicles the pose comes out exactly, but for what cables do not tell
    for name, known in (("three-dragonflies-circle", True), ("two-dragonflies-bar", False)):
        parts, built = (it := skyrig.load(name)).parts, it.build()
        bodies = {
            group: Track(*(np.asarray(leaf).T for leaf in vars(them).values()))
            for group, them in built.rig.bodies(built.state).items()
        }
        carrier, said = parts.carrier(it.spec.loop.control_rate), CableDirectionsSpec(noise=0.0)
        none = np.zeros(parts.count), np.zeros((parts.count, 3)), np.zeros(parts.count)
        read = said.build(carrier).sample(Truth(0.0, bodies, *none), np.random.default_rng(0))
        team, load = bodies["vehicles"], bodies["payload"]
        seen = LoadsOnCables(carrier, said)
        ends = seen.ends(read["cable_directions.direction"], team.position, team.attitude)
        for k, line in enumerate(carrier.lines):
            assert np.allclose(ends[k], load.point(line.end.point)[0], atol=1e-4), "straight and taut"
        wrong = multiply(of_vector(np.array([[0.1, -0.05, 0.2]])), load.attitude)
        position, attitude, _ = seen.fit("payload", ends, (load.position + 0.1, wrong))
        there = position + turn(attitude, np.array([it.end.point for it in carrier.lines]))
        assert np.allclose(there, ends, atol=1e-4)
        missing = turn(attitude, vector_of(multiply(conjugate(attitude), load.attitude)))[0]
        axis = np.diff([it.end.point for it in carrier.lines[:2]], axis=0)[0]
        along = turn(load.attitude, axis)[0] / np.linalg.norm(axis)
        assert np.linalg.norm(missing - (0 if known else along * (along @ missing))) < 1e-3
        assert known == (np.linalg.norm(missing) < 1e-3), "two cables say nothing about the line between them"


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
        (
            {"sensors.imu": {}, "sensors.gnss": {}},
            "without sensors.motion_capture or sensors.cable_directions, which see the load",
        ),
    ):
        with pytest.raises(InputError, match=sentence):
            base.with_overrides({**said, "controller.sees": "estimate"})
    with pytest.raises(InputError, match="controller.sees"):
        base.with_overrides({"controller.sees": "stars"})
