"""Autopilots in lockstep: every message answered, time without jumps, and clean ends whatever they do."""

import signal
import threading
import time

import numpy as np
import pytest
from autopilots import flown

import skyrig
from skyrig.bridges import frames
from skyrig.turns import multiply, of_vector, turn

BOTH = ("px4", "ardupilot")
RATE = {"px4": 250, "ardupilot": 400}


@pytest.fixture(scope="module")
def scenario() -> skyrig.Scenario:
    return skyrig.load("one-dragonfly-circle").with_overrides({"duration": 0.6})


@pytest.fixture(scope="module")
def calm(scenario: skyrig.Scenario) -> dict:
    """A flight with each autopilot that nobody disturbed."""
    return {protocol: flown(scenario, protocol) for protocol in BOTH}


@pytest.mark.parametrize("protocol", BOTH)
def test_a_stand_in_flies_the_load_and_every_message_is_answered(calm: dict, protocol: str) -> None:
    out = calm[protocol]
    assert out.lost == "" and out.flight is not None
    assert out.exchanged == round(0.6 * RATE[protocol])
    assert np.allclose(np.diff(out.flight.inputs.times), 1 / RATE[protocol], atol=1e-9), "time never jumps"
    assert out.flight.metrics["tracking"]["whole"]["position_peak"] < 0.01
    assert out.flight.signals["imu.accel"].values.shape == (out.exchanged, 3)


TEAMS = [
    pytest.param(name, protocol, marks=[pytest.mark.slow] * (name.startswith("six") or protocol != "px4"))
    for name in ("three-dragonflies-circle", "six-dragonflies-box")
    for protocol in BOTH
]


@pytest.mark.parametrize(("name", "protocol"), TEAMS)
def test_teams_fly_in_step_and_twice_the_same(name: str, protocol: str) -> None:
    known = skyrig.load(name).with_overrides({"duration": 0.2})
    one, other = flown(known, protocol), flown(known, protocol)
    for out in (one, other):
        assert out.lost == "" and out.exchanged == round(0.2 * RATE[protocol])
        assert np.allclose(np.diff(out.flight.inputs.times), 1 / RATE[protocol], atol=1e-9)
        assert out.flight.metrics["tracking"]["whole"]["position_peak"] < 0.01
    assert np.array_equal(one.flight.payload.position, other.flight.payload.position), "to the last bit"
    assert np.array_equal(one.flight.inputs.thrust, other.flight.inputs.thrust)


LIFT = """
skyrig: 1
name: short-lift
description: A weight on the ground is lifted and set down.
rig: {mechanism: cables, vehicles: dragonfly, payload: point-mass, cables: {length: 0.6}}
world: {ground: {}}
start:
  payload: {position: [0.0, 0.0, 0.03]}
  vehicles: [{position: [0.3, 0.0, 0.025]}]
reference:
  type: sequence
  parts:
    - {type: takeoff, start: [0.0, 0.0, 0.03], height: 0.6, duration: 2.0}
    - {type: land, height: 0.03, duration: 2.0}
verdict: {ground: none}
"""


@pytest.mark.slow
def test_a_weight_is_lifted_from_the_ground_and_set_down(tmp_path) -> None:
    (tmp_path / "lift.yaml").write_text(LIFT)
    out = flown(skyrig.load(tmp_path / "lift.yaml"), "px4")
    assert out.lost == "" and out.flight is not None
    load, vehicle = out.flight.payload.position, out.flight.vehicles.position[:, 0]
    assert load[:, 2].max() > 0.3 and np.argmax(load[:, 2]) > np.argmax(load[:, 2] > 0.1)
    assert load[-1, 2] < 0.035 and vehicle[-1, 2] < 0.1, "both are down again"
    assert out.flight.inputs.commanded_thrust[-1, 0] < 0.5, "and the rotors are off"


@pytest.mark.parametrize("protocol", BOTH)
def test_a_paused_autopilot_pauses_physics_and_changes_nothing(
    scenario: skyrig.Scenario, calm: dict, protocol: str
) -> None:
    paused = []

    def pause(processes, now: float) -> None:
        if not paused:
            process = processes[0]
            process.send_signal(signal.SIGSTOP)
            threading.Timer(1.5, process.send_signal, [signal.SIGCONT]).start()
            paused.append(time.monotonic())
        elif len(paused) == 1:
            paused.append(time.monotonic())

    out = flown(scenario, protocol, pause)
    assert out.lost == "" and out.flight is not None
    assert paused[1] - paused[0] > 1.4, "physics waited"
    # the same seed gives the same flight, to the last bit
    assert np.array_equal(out.flight.payload.position, calm[protocol].flight.payload.position)
    assert np.array_equal(out.flight.inputs.thrust, calm[protocol].flight.inputs.thrust)


@pytest.mark.parametrize("protocol", BOTH)
def test_a_killed_autopilot_ends_the_flight_in_a_sentence(
    scenario: skyrig.Scenario, protocol: str, tmp_path
) -> None:
    killed = []

    def kill(processes, now: float) -> None:
        if now > 0.2 and not killed:
            processes[0].kill()
            processes[0].wait()
            killed.append(now)

    out = flown(scenario, protocol, kill)
    assert out.lost.startswith("vehicle 0 hung up")
    assert out.flight is not None and 0.2 < out.flight.duration < 0.5
    again = skyrig.Flight.load(out.flight.save(tmp_path / "cut.npz"))
    assert np.array_equal(again.payload.position, out.flight.payload.position)


def test_frames_turn_as_autopilots_have_them() -> None:
    east, up = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
    assert np.array_equal(frames.world(east), [0.0, 1.0, 0.0]) and np.array_equal(frames.world(up), -up)
    assert np.array_equal(frames.body(np.array([1.0, 2.0, 3.0])), [1.0, -2.0, -3.0])
    random = np.random.default_rng(0)
    turns = of_vector(random.uniform(-2, 2, (50, 3)))
    vectors = random.standard_normal((50, 3))
    # a vector of the body, turned in either pair of frames, is the same arrow
    assert np.allclose(
        frames.world(turn(turns, vectors)), turn(frames.attitude(turns), frames.body(vectors)), atol=1e-14
    )
    level_east = frames.attitude(np.array([1.0, 0.0, 0.0, 0.0]))  # nose to the east: a heading of 90 degrees
    assert np.allclose(level_east, [np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
    back = frames.attitude(frames.attitude(turns))
    assert np.allclose(np.abs((back * turns).sum(-1)), 1.0)
    assert np.allclose(multiply(turns, turns * [1, -1, -1, -1])[:, 0], 1.0)
