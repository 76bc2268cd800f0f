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
from skyrig.turns import euler_angles

NODE = Path(__file__).parents[1] / "support" / "ros_node.py"
DOMAIN = 20 + os.getpid() % 60


ALL = {
    "/clock": "rosgraph_msgs/msg/Clock",
    "/tf": "tf2_msgs/msg/TFMessage",
    "/payload/odometry": "nav_msgs/msg/Odometry",
    "/payload/pose": "geometry_msgs/msg/PoseStamped",
    "/vehicle0/odometry": "nav_msgs/msg/Odometry",
    "/vehicle0/pose": "geometry_msgs/msg/PoseStamped",
    "/vehicle0/imu": "sensor_msgs/msg/Imu",
    "/signals/cable/tension": "std_msgs/msg/Float64MultiArray",
    "/payload/reference": "geometry_msgs/msg/PoseStamped",
    "/payload/reference_velocity": "geometry_msgs/msg/Vector3Stamped",
    "/vehicle0/reference": "geometry_msgs/msg/PoseStamped",
    "/vehicle0/reference_velocity": "geometry_msgs/msg/Vector3Stamped",
    "/vehicle0/battery": "sensor_msgs/msg/BatteryState",
    "/markers": "visualization_msgs/msg/MarkerArray",
    "/events": "std_msgs/msg/String",
}
"""Every topic, and how often it is told: all but the last three at every tick."""
POKE = {"type": "poke", "time": 0.105, "impulse": [0.0, 0.0, 0.05]}
"""A push from below that takes the load off its cable for a moment."""


def session(duration: float = 0.2, **others) -> skyrig.Session:
    sensors = {"sensors.imu": {}, "sensors.battery": {}}
    changes = {"duration": duration, "loop.control_rate": 100.0, **sensors, **others}
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


def test_a_node_takes_a_reference_and_answers_with_attitude_and_thrust() -> None:
    flown, bridge = session(4.0, **{"reference.ramp": 4.0}), None
    most = skyrig.airframe("dragonfly").total_thrust_max / 4
    with node("steer", str(DOMAIN + 4), str(most)) as controller:
        try:
            bridge = Ros2(flown, "cmd_attitude", DOMAIN + 4, patience=40.0)
            assert bridge.fly() == ""
        finally:
            controller.kill()
    assert bridge.answered == 400 == flown.tick
    flight, reference = flown.flight, flown.flight.reference
    assert np.linalg.norm(reference.position[-1] - reference.position[0]) > 1.0, "there is a way to go"
    gap = np.linalg.norm(flight.payload.position - reference.position, axis=1)
    assert gap.max() < 0.2, "the load follows, on a vehicle that knows nothing of the cable"
    bridge.close()


def test_a_planner_sends_places_and_yaws_and_says_when_it_is_enough() -> None:
    flown, bridge = session(5.0), None
    with node("lead", str(DOMAIN + 5)) as planner:
        try:
            bridge = Ros2(flown, "cmd_pose", DOMAIN + 5, patience=40.0)
            assert bridge.fly() == ""
        finally:
            planner.kill()
    assert 2.0 <= flown.time < 2.5, "it was stopped, not flown to its end"
    flight, rise = flown.flight, np.array([0.0, 0.0, 0.5])
    assert np.allclose(flight.vehicles.position[-1] - flight.vehicles.position[0], rise, atol=0.05)
    assert np.allclose(flight.payload.position[-1] - flight.payload.position[0], rise, atol=0.05)
    assert euler_angles(flight.vehicles.attitude[-1, 0])[2] == pytest.approx(np.pi / 2, abs=0.05)
    bridge.close()


def test_what_happens_is_told_while_it_happens() -> None:
    flown, told = session(0.6, happenings=[POKE]), []
    while not flown.done:
        flown.step()
        told += [(flown.tick, it.kind, it.time) for it in flown.happened()]
    kinds = [it[1] for it in told]
    assert kinds[:4] == ["taut", "poke", "slack", "impact"]
    assert [(it.kind, it.time) for it in flown.flight.events] == [it[1:] for it in told]
    assert all((tick - 1) * 0.01 <= time <= tick * 0.01 + 1e-9 for tick, _, time in told)


def test_another_process_hears_every_sample_of_every_topic() -> None:
    flown, ticks = session(1.0, happenings=[POKE], **{"loop.control_rate": 250.0}), 251
    with node("listen", str(DOMAIN + 1), str(ticks)) as listener:
        try:
            bridge = Ros2(flown, None, DOMAIN + 1)
            bridge.tell()
            end = time.monotonic() + 40
            while not _matched(bridge, tuple(ALL)) and time.monotonic() < end:
                time.sleep(0.05)
            assert bridge.fly() == ""
            told, _ = listener.communicate(timeout=60)
        finally:
            listener.kill()
    bridge.close()
    got, flight = json.loads(told), flown.flight
    wanted = [round(k * 0.004 * 1e9) for k in range(ticks)]
    assert set(got["stamps"]) == set(ALL)
    for topic in list(ALL)[:-3]:  # at every tick; the first may have been heard twice
        stamps = got["stamps"][topic]
        assert len(stamps) in (ticks, ticks + 1), topic
        assert None in stamps or stamps[-ticks:] == wanted, topic
    rows = np.searchsorted(flight.times, np.array(wanted) / 1e9 - 1e-9)
    assert np.array_equal(got["places"][-ticks:], flight.payload.position[rows]), "to the last bit"
    assert np.allclose(got["tension"][2 - ticks :], flight.signals["cable.tension"].values[rows[2:]])
    assert got["events"] == [it.kind for it in flight.events] and "slack" in got["events"]
    assert got["drawn"] == ["cables", "payload", "vehicle0"]
    assert all(there and 10 < volts < 12.6 and amperes < 0 for there, volts, amperes in got["power"])


def _matched(bridge: Ros2, topics: tuple[str, ...]) -> bool:
    """Whether the listener has found all topics that it listens to."""
    return all(bridge.wire.heard(it) for it in topics)


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

    store, flown, ticks = get_typestore(Stores.ROS2_HUMBLE), session(happenings=[POKE]), 21
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
    for topic in list(ALL)[:-3]:
        stamps = [_stamp(it) for it in told[topic]]
        assert len(stamps) in (ticks, ticks + 1), f"{topic}: the first tick may have been heard twice"
        assert None in stamps or stamps[-ticks:] == wanted, topic
    rows = np.searchsorted(flown.flight.times, np.array(wanted) / 1e9 - 1e-9)
    place = [
        [it.pose.position.x, it.pose.position.y, it.pose.position.z] for it in told["/vehicle0/pose"][-ticks:]
    ]
    assert np.array_equal(place, flown.flight.vehicles.position[rows, 0]), "to the last bit"
    assert [it.data[0] for it in told["/signals/cable/tension"][-ticks:]][1:] == pytest.approx(
        flown.flight.signals["cable.tension"][rows[1:], 0]
    )
    assert {it.ns for them in told["/markers"] for it in them.markers} == {"vehicle0", "payload", "cables"}
    lines = [it for them in told["/markers"] for it in them.markers if it.ns == "cables"]
    length = np.linalg.norm(np.diff([[p.x, p.y, p.z] for p in lines[0].points], axis=0))
    assert len(lines) >= 5 and length == pytest.approx(flown.flight.signals["cable.length"][0, 0], abs=1e-9)
    battery = told["/vehicle0/battery"][0]
    assert battery.present and battery.current < 0 and 10 < battery.voltage < 12.6
    goals = [[it.pose.position.x, it.pose.position.y] for it in told["/payload/reference"][-ticks:]]
    assert np.allclose(goals, flown.flight.reference.position[rows, :2], atol=1e-12)
    assert [json.loads(it.data)["kind"] for it in told["/events"]][:3] == ["taut", "poke", "slack"]


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
    with pytest.raises(InputError, match="--wait-for must be cmd_wrench, cmd_attitude or cmd_pose"):
        Ros2(flown, "/vehicle0/cmd_vel")
