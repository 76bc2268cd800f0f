"""ROS 2's wire without ROS: another process hears every sample, and flies the load in lockstep."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import skyrig
from skyrig.bridges.ros2 import Ros2
from skyrig.errors import InputError

NODE = Path(__file__).parents[1] / "support" / "ros_node.py"
DOMAIN = 20 + os.getpid() % 60


def session(duration: float = 0.2) -> skyrig.Session:
    changes = {"duration": duration, "loop.control_rate": 100.0, "sensors.imu": {}}
    return skyrig.Session(skyrig.load("one-dragonfly-circle").with_overrides(changes))


def node(*words: str) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, str(NODE), *words], stdout=subprocess.PIPE, text=True)


def test_a_node_of_its_own_flies_the_load_in_lockstep() -> None:
    flown, bridge = session(), None
    with node("fly", str(DOMAIN)) as controller:
        try:
            bridge = Ros2(flown, "/vehicle0/cmd_wrench", DOMAIN, patience=40.0)
            assert bridge.fly() == ""
        finally:
            controller.kill()
    assert bridge.answered == 20 == flown.tick
    flight = flown.flight
    assert np.abs(flight.vehicles.position[:, 0] - flight.vehicles.position[0, 0]).max() < 0.01
    assert flight.inputs.commanded_thrust.min() > 2.5, "vehicle and load weigh 3.1 N"
    bridge.close()


def test_another_process_hears_every_sample() -> None:
    flown, ticks = session(), 21
    with node("listen", str(DOMAIN + 1), str(ticks)) as listener:
        try:
            bridge = Ros2(flown, None, DOMAIN + 1)
            bridge.tell()
            end = time.monotonic() + 40
            while not _matched(bridge) and time.monotonic() < end:
                time.sleep(0.05)
            assert bridge.fly() == ""
            told, _ = listener.communicate(timeout=60)
        finally:
            listener.kill()
    got = json.loads(told)["stamps"]
    wanted = [round(k * 0.01 * 1e9) for k in range(ticks)]
    for topic, stamps in got.items():
        assert sorted(set(stamps)) == wanted, topic
        assert stamps == sorted(stamps), topic
    bridge.close()


def _matched(bridge: Ros2) -> bool:
    """Whether the listener has found all topics that it listens to."""
    topics = ("/clock", "/tf", "/vehicle0/imu", "/vehicle0/odometry", "/payload/odometry")
    return all(bridge._writers[it].get_matched_subscriptions() for it in topics)


def test_silence_ends_in_a_sentence_and_nonsense_is_refused() -> None:
    flown = session()
    bridge = Ros2(flown, "cmd_attitude", DOMAIN + 2, patience=0.3)
    assert bridge.fly() == "/vehicle0/cmd_attitude had nothing for 0.3 s."
    bridge.close()
    with pytest.raises(InputError, match="--wait-for must be cmd_wrench or cmd_attitude"):
        Ros2(flown, "/vehicle0/cmd_vel")
