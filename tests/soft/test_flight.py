"""A soft gripper in closed loop: it grasps, lifts and holds; what it tells is consistent."""

import numpy as np
import pytest

import skyrig
from skyrig import InputError
from skyrig.flight import Flight


@pytest.fixture(scope="module")
def flight() -> Flight:
    return skyrig.fly("soft-grasp")


@pytest.mark.slow
def test_a_can_is_grasped_lifted_and_held(flight: Flight) -> None:
    times, can, craft = flight.times, flight.payload.position, flight.vehicles.position[:, 0]
    assert can[-1, 2] > 0.3  # lifted by the reference's 0.4 m, less what soft fingers give way by
    held = np.asarray(flight.signals["object.held"])[:, 0]
    late = times > 3.0
    assert held[late].all() and not held[times < 1.2].any()
    within = can[late] - craft[late]
    assert np.ptp(within[times[late] > 4.0], axis=0).max() < 2e-3  # it stays where it is in the hand
    assert np.asarray(flight.signals["ground.force"])[late].max() == 0
    pressed = np.asarray(flight.signals["finger.force"])[late]
    assert (pressed > 0.02).all()
    weight = 0.05 * 9.81
    assert (1.2 * pressed.sum(1) > 0.9 * weight).all()  # friction can carry it
    length, pull = (np.asarray(flight.signals[f"tendon.{name}"]) for name in ("length", "tension"))
    assert length.min() >= 0.12 - 1e-9 and length.max() <= 0.19 + 1e-9 and pull.min() >= 0
    nodes = np.asarray(flight.signals["finger.nodes"]).reshape(len(times), -1, 3)
    assert np.linalg.norm(nodes - craft[:, None], axis=2).max() < 0.3  # fingers stay on the vehicle


@pytest.mark.slow
def test_what_happens_is_told(flight: Flight) -> None:
    """Four fingers touch, the can is grasped about t_g = 1.5 s, lifted soon after, and held to the end."""
    told = [it.kind for it in flight.events]
    assert told.count("touch") == 4 and told[-1] == "lifted"
    times = {it.kind: it.time for it in flight.events}
    assert 1.2 < times["grasped"] < 1.8 and times["grasped"] < times["lifted"] < 3.0
    assert "dropped" not in times and "released" not in times
    assert flight.metrics["events"]["lifted"] == 1


def test_what_cannot_be_grasped_is_said() -> None:
    known = skyrig.load("soft-grasp")
    for change, sentence in (
        ({"rig.finger.poisson": 0.5}, "poisson"),
        ({"rig.fingers": 9}, "fingers"),
        ({"rig.finger.elements": "H21"}, "elements"),
        ({"reference.grasp_time": 0.2}, "grasp_time"),
        ({"reference.approach": "wide"}, "approach"),
        ({"rig.vehicles": ["soft-drone", "soft-drone"]}, "vehicles"),
        ({"controller": "cables"}, "controller"),
    ):
        with pytest.raises(InputError, match=sentence):
            known.with_overrides(change)
