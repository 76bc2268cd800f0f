"""Flights as logs and logs as flights: every number survives, and what is no log is told in a sentence."""

import json
import struct
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from made_flight import made
from mcap.reader import make_reader
from mcap_ros2.reader import read_ros2_messages

import skyrig
from skyrig.bridges import frames, mjcf
from skyrig.bridges import ros_messages as ros
from skyrig.bridges.log_import import import_flight
from skyrig.bridges.mcap_export import topic_of, write_mcap
from skyrig.cli import main
from skyrig.errors import InputError
from skyrig.flight.compare import apart
from skyrig.flight.rig import rig_data
from skyrig.tracks import Track
from skyrig.turns import of_vector


def read(path: Path, topic: str) -> list:
    return [it.ros_msg for it in read_ros2_messages(str(path), topics=[topic])]


def xyz(thing) -> list[float]:
    return [thing.x, thing.y, thing.z]


def test_an_mcap_file_holds_the_flight_to_the_last_bit(tmp_path: Path) -> None:
    flight = made()
    path, layout = write_mcap(flight, tmp_path / "flight.mcap")
    assert json.loads(layout.read_text())["configById"]
    assert [it.data[0] for it in read(path, "/flight/time")] == flight.times.tolist()
    for name, track in (("payload", flight.payload), ("vehicle1", flight.vehicles.one(1))):
        poses = [it.pose.pose for it in read(path, f"/{name}/odometry")]
        assert [xyz(it.position) for it in poses] == track.position.tolist()
        turned = [[it.orientation.w, *xyz(it.orientation)] for it in poses]
        assert turned == track.attitude.tolist()
        assert [xyz(it.vector) for it in read(path, f"/{name}/velocity")] == track.velocity.tolist()
        assert [xyz(it.twist.twist.angular) for it in read(path, f"/{name}/odometry")] == track.rate.tolist()
    for name, signal in flight.signals.items():
        values = np.array([it.data for it in read(path, topic_of(name))])
        assert np.array_equal(values, signal.values.astype(float)), name
    for topic, thrust, moment in (
        ("command", flight.inputs.commanded_thrust, flight.inputs.commanded_moment),
        ("wrench", flight.inputs.thrust, flight.inputs.moment),
    ):
        given = [it.wrench for it in read(path, f"/vehicle0/{topic}")]
        assert [it.force.z for it in given] == thrust[:, 0].tolist()
        assert [xyz(it.torque) for it in given] == moment[:, 0].tolist()
    assert flight.reference is not None
    goals = [xyz(it.pose.position) for it in read(path, "/payload/reference")]
    assert goals == flight.reference.position.tolist()
    assert [json.loads(it.data)["kind"] for it in read(path, "/events")] == ["poke", "impact"]
    frames_told = [it.child_frame_id for it in read(path, "/tf")[0].transforms]
    assert frames_told == ["payload", "vehicle0", "vehicle1"]


def test_the_scene_is_there_for_foxglove(tmp_path: Path) -> None:
    path, _ = write_mcap(made(), tmp_path / "flight.mcap")
    with path.open("rb") as stream:
        reader = make_reader(stream)
        summary = reader.get_summary()
        kinds = {it.topic: summary.schemas[it.schema_id] for it in summary.channels.values()}
        assert kinds["/scene/bodies"].name == kinds["/scene/cables"].name == "foxglove.SceneUpdate"
        assert {it.name for it in reader.iter_attachments()} == {"scenario.yaml", "metrics.json"}
        drawn = [raw for _, channel, raw in reader.iter_messages(topics=["/scene/cables"])]
    assert len(drawn) == 5 and all(b"cable1" in it.data and b"map" in it.data for it in drawn)


@pytest.fixture(scope="module")
def flown() -> tuple[skyrig.Scenario, skyrig.Flight]:
    """A vehicle and its load on a smooth course, with nothing flown for it."""
    scenario = skyrig.load("one-dragonfly-circle")
    times = np.arange(0, 3, 0.005)
    path = np.stack([np.sin(times), np.cos(times), 1 + 0.1 * times], axis=1)
    turned = of_vector(np.stack([0.2 * np.sin(3 * times), 0 * times, 2 * times], axis=1))
    speed = np.stack([np.cos(times), -np.sin(times), 0.1 + 0 * times], axis=1)

    def track(up: float) -> Track:
        return Track((path + [0, 0, up])[:, None], speed[:, None], turned[:, None], 0 * path[:, None])

    flight = made()
    keep = {"signals": {}, "events": (), "impacts": (), "references": {}, "measured": {}, "metrics": {}}
    inputs = replace(flight.inputs, **{k: v[:, :1] for k, v in vars(flight.inputs).items() if k != "times"})
    bodies = {"payload": track(0.0), "vehicles": track(0.5)}
    return scenario, replace(
        flight, times=times, bodies=bodies, rig=rig_data(scenario.parts), inputs=inputs, **keep
    )


def check_like(flown, back: skyrig.Flight) -> None:
    for name, gap, unit in apart(back, flown[1])[:2]:
        assert gap < 1e-4 and unit == "m", name
    fast = np.abs(back.payload.velocity[5:-5] - np.gradient(back.payload.position, 0.01, axis=0)[5:-5]).max()
    assert fast < 1e-6 and back.duration == pytest.approx(2.99, abs=0.02)
    assert np.linalg.norm(back.vehicles.rate[:, 0], axis=1).mean() == pytest.approx(2.1, abs=0.1)


def test_mcap_comes_back_as_a_flight(flown, tmp_path: Path) -> None:
    scenario, flight = flown
    path, _ = write_mcap(flight, tmp_path / "flight.mcap")
    back = import_flight(scenario, {"payload": str(path), "vehicle0": f"{path}:/vehicle0/odometry"})
    check_like(flown, back)
    again = skyrig.Flight.load(back.save(tmp_path / "back.npz"))
    assert np.array_equal(again.payload.position, back.payload.position)


def test_a_ros_2_bag_comes_back_as_a_flight(flown, tmp_path: Path) -> None:
    from rosbags.rosbag2 import Writer

    scenario, flight = flown
    with Writer(tmp_path / "bag", version=9) as bag:
        for name, track in (("load", flight.payload), ("drone", flight.vehicles.one())):
            kind = "geometry_msgs/msg/PoseStamped"
            topic = bag.add_connection(f"/{name}/pose", kind, typestore=ros.store())
            for time, place, turned in zip(flight.times, track.position, track.attitude, strict=True):
                message = ros.pose_stamped(float(time) + 100.0, place, turned)
                bag.write(topic, ros.nanoseconds_of(float(time)), ros.coded(message))
    bag_folder = tmp_path / "bag"
    where = {"payload": f"{bag_folder}:/load/pose", "vehicle0": f"{bag_folder}:/drone/pose"}
    check_like(flown, import_flight(scenario, where))
    with pytest.raises(InputError, match="has no poses in /nobody/pose"):
        import_flight(scenario, {**where, "payload": f"{bag_folder}:/nobody/pose"})


def ulog(track: Track, times: np.ndarray) -> bytes:
    """A ULog of a vehicle, written by hand after the format's description: north, east, down."""

    def message(kind: bytes, content: bytes) -> bytes:
        return struct.pack("<HB", len(content), kind[0]) + content

    raw = b"ULog\x01\x12\x35\x01" + struct.pack("<Q", 0) + message(b"B", bytes(40))
    raw += message(b"F", b"vehicle_local_position:uint64_t timestamp;float x;float y;float z;")
    raw += message(b"F", b"vehicle_attitude:uint64_t timestamp;float[4] q;")
    raw += message(b"A", struct.pack("<BH", 0, 1) + b"vehicle_local_position")
    raw += message(b"A", struct.pack("<BH", 0, 2) + b"vehicle_attitude")
    places, turns = frames.world(np.asarray(track.position)), frames.attitude(np.asarray(track.attitude))
    for time, place, turned in zip(times, places, turns, strict=True):
        usec = round(time * 1e6)
        raw += message(b"D", struct.pack("<HQ3f", 1, usec, *place))
        raw += message(b"D", struct.pack("<HQ4f", 2, usec, *turned))
    return raw


def test_ulogs_come_back_as_a_flight(flown, tmp_path: Path) -> None:
    scenario, flight = flown
    for name, track in (("payload", flight.payload), ("vehicle0", flight.vehicles.one())):
        (tmp_path / f"{name}.ulg").write_bytes(ulog(track, flight.times))
    where = {name: str(tmp_path / f"{name}.ulg") for name in ("payload", "vehicle0")}
    check_like(flown, import_flight(scenario, where))


def test_what_is_no_log_is_told_in_a_sentence(flown, tmp_path: Path, capsys) -> None:
    scenario, flight = flown
    path, _ = write_mcap(flight, tmp_path / "flight.mcap")
    bad = tmp_path / "bad.mcap"
    bad.write_bytes(b"\x89MCAP0\r\n" + np.random.default_rng(0).bytes(500))
    (tmp_path / "bad.ulg").write_bytes(np.random.default_rng(1).bytes(500))
    whole = {"payload": str(path), "vehicle0": str(path)}
    for change, sentence in (
        ({"vehicle1": str(path)}, "'vehicle1' is no body of one-dragonfly-circle"),
        ({"payload": "nowhere.mcap"}, "nowhere.mcap cannot be read: there is no such file"),
        ({"payload": str(bad)}, "bad.mcap cannot be read"),
        ({"payload": str(tmp_path / "bad.ulg")}, "bad.ulg cannot be read"),
        ({"payload": f"{path}:/events"}, "has no poses"),
        ({"payload": str(tmp_path)}, "cannot be read"),
    ):
        with pytest.raises(InputError, match=sentence):
            import_flight(scenario, {**whole, **change})
    with pytest.raises(InputError, match="--body vehicle0=LOG:TOPIC is missing"):
        import_flight(scenario, {"payload": str(path)})
    with pytest.raises(SystemExit) as ended:
        main(["import", "one-dragonfly-circle", "--body", "payload"])
    assert ended.value.code == 2 and "--body must be" in capsys.readouterr().err
    # cut off anywhere, a file is either read as far as it goes or told of
    raw = path.read_bytes()
    for share in (0.01, 0.3, 0.7, 0.99):
        bad.write_bytes(raw[: int(share * len(raw))])
        with pytest.raises(InputError):
            import_flight(scenario, {"payload": str(bad), "vehicle0": str(bad)})


@pytest.mark.parametrize(
    "name", ["three-dragonflies-circle", "two-dragonflies-bar", "three-dragonflies-links"]
)
def test_an_exported_rig_hangs_in_mujoco_as_here(name: str) -> None:
    scenario = skyrig.load(name)
    model = mujoco.MjModel.from_xml_string(mjcf.model(scenario))
    data, hover = mujoco.MjData(model), scenario.build().hover
    assert hover is not None
    parts = scenario.parts
    assert model.body_mass.sum() == pytest.approx(parts.mass, rel=1e-12)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    start = data.qpos.copy()
    for _ in range(300):
        mujoco.mj_step(model, data)
    assert np.abs(data.qpos - start).max() < 1e-6, "nothing moves"
    if len(hover.tension):
        assert np.allclose(data.efc_force, hover.tension, rtol=1e-3)
    # and without thrust it falls
    data.ctrl[:] = 0
    for _ in range(300):
        mujoco.mj_step(model, data)
    assert data.qpos[2] < start[2] - 0.3


def test_a_rig_without_a_hover_is_refused() -> None:
    with pytest.raises(InputError, match="start must be a hover"):
        mjcf.model(skyrig.load("drop-open-loop"))
