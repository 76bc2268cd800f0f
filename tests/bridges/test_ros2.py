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


HEARD = ("/clock", "/tf", "/vehicle0/imu", "/vehicle0/odometry", "/payload/odometry")


def _matched(bridge: Ros2, topics: tuple[str, ...] = HEARD) -> bool:
    """Whether the listener has found all topics that it listens to."""
    return all(bridge._writers[it].get_matched_subscriptions() for it in topics)


ALL = {
    "/clock": "rosgraph_msgs/msg/Clock",
    "/tf": "tf2_msgs/msg/TFMessage",
    "/payload/odometry": "nav_msgs/msg/Odometry",
    "/payload/pose": "geometry_msgs/msg/PoseStamped",
    "/vehicle0/odometry": "nav_msgs/msg/Odometry",
    "/vehicle0/pose": "geometry_msgs/msg/PoseStamped",
    "/vehicle0/imu": "sensor_msgs/msg/Imu",
    "/signals/cable/tension": "std_msgs/msg/Float64MultiArray",
    "/vehicle0/battery": "sensor_msgs/msg/BatteryState",
    "/markers": "visualization_msgs/msg/MarkerArray",
}
"""Every topic, and how often it is told: the first eight at every tick."""


@pytest.fixture(scope="module")
def listener(tmp_path_factory) -> Path:
    """A program on Fast DDS, which Debian has as libfastrtps-dev."""
    source = NODE.with_name("fastdds_listener.cpp")
    made = tmp_path_factory.mktemp("fastdds") / "listener"
    command = ["g++", "-std=c++17", "-w", str(source), "-o", str(made), "-lfastrtps", "-lfastcdr"]
    if not Path("/usr/include/fastdds/dds/domain/DomainParticipant.hpp").exists():
        pytest.skip("needs Fast DDS: Debian's libfastrtps-dev and g++")
    subprocess.run(command, check=True)
    return made


@pytest.mark.slow
def test_fast_dds_reads_every_topic_without_loss(listener: Path) -> None:
    # another implementation of DDS receives, a third codec (rosbags) reads, ROS 2's own definitions in hand
    from rosbags.typesys import Stores, get_typestore

    store, flown, ticks = get_typestore(Stores.ROS2_HUMBLE), session(), 21
    words = []
    for topic, kind in ALL.items():
        package, _, name = kind.split("/")
        words.append(f"rt{topic}={package}::msg::dds_::{name}_")
    told: dict[str, list] = {}
    with subprocess.Popen(
        [str(listener), str(DOMAIN + 3), str(ticks), *words], stdout=subprocess.PIPE, text=True
    ) as heard:
        try:
            bridge = Ros2(flown, None, DOMAIN + 3)
            bridge.tell()
            end = time.monotonic() + 40
            while not _matched(bridge, tuple(ALL)) and time.monotonic() < end:
                time.sleep(0.05)
            assert bridge.fly() == ""
            lines, _ = heard.communicate(timeout=60)
        finally:
            heard.kill()
        for line in lines.splitlines():
            topic, raw = line.removeprefix("rt").split(" ")
            told.setdefault(topic, []).append(store.deserialize_cdr(bytes.fromhex(raw), ALL[topic]))
        bridge.close()
    assert set(told) == set(ALL)
    wanted = [round(k * 0.01 * 1e9) for k in range(ticks)]
    for topic in list(ALL)[:8]:
        stamps = [_stamp(it) for it in told[topic]]
        assert None in stamps or stamps == wanted, topic
        assert len(stamps) == ticks, topic
    rows = np.searchsorted(flown.flight.times, np.array(wanted) / 1e9 - 1e-9)
    place = [[it.pose.position.x, it.pose.position.y, it.pose.position.z] for it in told["/vehicle0/pose"]]
    assert np.array_equal(place, flown.flight.vehicles.position[rows, 0]), "to the last bit"
    assert [it.data[0] for it in told["/signals/cable/tension"]][1:] == pytest.approx(
        flown.flight.signals["cable.tension"][rows[1:], 0]
    )
    assert {it.ns for them in told["/markers"] for it in them.markers} == {"vehicle0", "payload", "cables"}
    lines = [it for them in told["/markers"] for it in them.markers if it.ns == "cables"]
    length = np.linalg.norm(np.diff([[p.x, p.y, p.z] for p in lines[0].points], axis=0))
    assert len(lines) == 7 and length == pytest.approx(flown.flight.signals["cable.length"][0, 0], abs=1e-9)
    assert not told["/vehicle0/battery"][0].present


def _stamp(message) -> int | None:
    """Of a message (ns); None if it bears none."""
    first = message.transforms[0] if hasattr(message, "transforms") else message
    stamp = getattr(first, "clock", None) or getattr(getattr(first, "header", None), "stamp", None)
    return None if stamp is None else stamp.sec * 10**9 + stamp.nanosec


def test_silence_ends_in_a_sentence_and_nonsense_is_refused() -> None:
    flown = session()
    bridge = Ros2(flown, "cmd_attitude", DOMAIN + 2, patience=0.3)
    assert bridge.fly() == "/vehicle0/cmd_attitude had nothing for 0.3 s."
    bridge.close()
    with pytest.raises(InputError, match="--wait-for must be cmd_wrench or cmd_attitude"):
        Ros2(flown, "/vehicle0/cmd_vel")
