"""Attitudes and thrusts to firmware: its loops, run backwards, do what the scenario's controller asks."""

import numpy as np
import pytest
from autopilots import flown

import skyrig
from skyrig.bridges import firmware
from skyrig.bridges.attitude import attitude_asked
from skyrig.errors import InputError
from skyrig.turns import conjugate, multiply, of_vector, vector_of


def test_firmware_that_gets_the_attitude_makes_the_moment() -> None:
    random, count = np.random.default_rng(3), 200
    inertia = np.tile(skyrig.airframe("dragonfly").inertia, (count, 1, 1))
    attitude = of_vector(random.uniform(-1, 1, (count, 3)))
    rate, moment = random.uniform(-0.5, 0.5, (count, 3)), random.uniform(-5e-3, 5e-3, (count, 3))
    for loops in (firmware.PX4_LOOPS, firmware.ARDUPILOT_LOOPS):
        asked = attitude_asked(loops, inertia, attitude, rate, moment)
        missing = vector_of(multiply(conjugate(attitude), asked))
        spin = loops.rate * (loops.turn * missing - rate)
        turned = np.einsum("nij,nj->ni", inertia, rate)
        made = np.einsum("nij,nj->ni", inertia, spin) + np.cross(rate, turned)
        near = np.linalg.norm(missing, axis=1) < 0.69
        assert near.mean() > 0.9 and np.allclose(made[near], moment[near], atol=1e-12)
        far = attitude_asked(loops, inertia, attitude, rate, 1e3 * moment)
        assert np.linalg.norm(vector_of(multiply(conjugate(attitude), far)), axis=1).max() < 0.71


TEAMS = [
    ("one-dragonfly-circle", "px4"),
    pytest.param("one-dragonfly-circle", "ardupilot", marks=pytest.mark.slow),
    pytest.param("three-dragonflies-circle", "px4", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "protocol"), TEAMS)
def test_the_scenarios_own_controller_flies_the_load_through_firmware(name: str, protocol: str) -> None:
    # a second into the circle, so that there is something to follow
    known = skyrig.load(name).with_overrides({"duration": 1.0, "reference.ramp": 2.0})
    out = flown(known, protocol, setpoints="attitude")
    assert out.lost == "" and out.exchanged == {"px4": 250, "ardupilot": 400}[protocol]
    flight = out.flight
    way = np.linalg.norm(flight.reference.position[-1] - flight.reference.position[0])
    tracked = flight.metrics["tracking"]["whole"]
    assert way > 0.05 and tracked["position_peak"] < 1e-3, "the load is on its way, by firmware's own loops"
    if "attitude_peak" in tracked:
        assert tracked["attitude_peak"] < 1e-3


def test_nobody_to_ask_is_told_in_a_sentence() -> None:
    with pytest.raises(InputError, match="controller.name must be one that asks for thrusts"):
        flown(skyrig.load("drop-open-loop"), "px4", setpoints="attitude")
