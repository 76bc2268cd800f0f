"""Whatever comes in from outside, a link goes on or ends with a sentence; nothing hangs or falls over."""

import json
import socket
import struct
import threading

import numpy as np
import pytest
from autopilots import free_port
from pymavlink.dialects.v20 import common

import skyrig
from skyrig.bridges.ardupilot import ArduPilotLink, servos
from skyrig.bridges.autopilot import AutopilotMoment, LinkLost
from skyrig.bridges.mavlink import Stream
from skyrig.bridges.offboard import PX4, Offboard
from skyrig.bridges.px4 import Px4Link
from skyrig.errors import InputError
from skyrig.sensing.registry import SENSORS
from skyrig.sensing.sensor import Carrier, Sensors, Truth
from skyrig.tracks import Track

GARBAGE = np.random.default_rng(7).bytes(3000)


@pytest.fixture(scope="module")
def moment() -> AutopilotMoment:
    still = Track(np.array([[1.0, 2.0, 3.0]]), np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)))
    truth = Truth(0.0, {"vehicles": still}, np.zeros(1), np.zeros((1, 3)), np.zeros(0))
    said = {name: SENSORS[name]() for name in ("imu", "gnss", "barometer", "magnetometer")}
    sensors = Sensors(said, Carrier([skyrig.airframe("dragonfly")], {"vehicles": 1}, (), 250.0), 0)
    return AutopilotMoment(4000, sensors.show(truth), truth)


@pytest.fixture
def px4():
    link = Px4Link([4], free_port(), patience=2.0)
    assert "127.0.0.1" in link.open()
    client = socket.create_connection(("127.0.0.1", link.port))
    link.connect()
    yield link, client
    client.close()
    link.close()


def answer(usec: int, controls=(0.5, 0.6, 0.7, 0.8), mode: int = 129) -> bytes:
    coder = common.MAVLink(None, srcSystem=1, srcComponent=1)
    return coder.hil_actuator_controls_encode(usec, [*controls, *[0.0] * 12], mode, 1).pack(coder)


def test_what_px4_is_told_is_what_the_sensors_read(px4, moment: AutopilotMoment) -> None:
    link, client = px4
    client.sendall(answer(4000))
    got = link.exchange(moment)
    assert np.allclose(got.controls, [[0.5, 0.6, 0.7, 0.8]]) and got.armed.all()
    coder = common.MAVLink(None)
    told = {it.get_type(): it for it in coder.parse_buffer(client.recv(65536))}
    assert list(told) == ["HIL_STATE_QUATERNION", "HIL_GPS", "HIL_SENSOR"], (
        "sensors last: they make PX4 go on"
    )
    sensed, place = told["HIL_SENSOR"], told["HIL_GPS"]
    assert (sensed.time_usec, sensed.id, sensed.fields_updated) == (4000, 0, 0x1FFF & ~0x400)
    accel = moment.readings["imu"].values["imu.accel"][0]
    assert np.allclose([sensed.xacc, sensed.yacc, sensed.zacc], accel * [1, -1, -1], rtol=1e-6)
    assert sensed.zacc == pytest.approx(-9.81, abs=0.3) and 900 < sensed.abs_pressure < 1000
    assert np.hypot(np.hypot(sensed.xmag, sensed.ymag), sensed.zmag) == pytest.approx(0.48, abs=0.02)
    # one metre east and two north of the origin, give or take the noise of 0.1 m
    assert (place.lat / 1e7 - 47.397742) * 111_200 == pytest.approx(2.0, abs=0.6)
    assert (place.lon / 1e7 - 8.545594) * 75_300 == pytest.approx(1.0, abs=0.6)
    assert place.alt / 1e3 == pytest.approx(491.0, abs=0.8)


def test_garbage_halves_and_repeated_answers_are_passed_over(px4, moment: AutopilotMoment) -> None:
    link, client = px4
    whole = answer(4000)
    client.sendall(GARBAGE + answer(10) + answer(10) + whole[:11])
    threading.Timer(0.2, client.sendall, [whole[11:]]).start()
    got = link.exchange(moment)
    while got is None:  # it takes a glance at a vehicle that has not talked yet
        got = link.exchange(moment)
    assert np.allclose(got.controls, [[0.5, 0.6, 0.7, 0.8]])


def test_numbers_that_no_rotor_has_are_brought_into_bounds(px4, moment: AutopilotMoment) -> None:
    link, client = px4
    client.sendall(answer(4000, (float("nan"), -3.0, 7.0, float("inf"))))
    assert np.array_equal(link.exchange(moment).controls, [[0.0, 0.0, 1.0, 0.0]])
    client.sendall(answer(4001, mode=1))
    link.exchange(AutopilotMoment(4001, moment.readings, moment.truth))
    assert not link._clients[0].controls.any(), "rotors stand still unless armed"


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        (answer(999_000_000), "answers for 999000000 us, but it is 4000 us"),
        (b"", "hung up"),
        (answer(4000)[:11], "hung up"),
    ],
)
def test_a_vehicle_out_of_step_or_gone_ends_the_link(
    px4, moment: AutopilotMoment, sent: bytes, sentence: str
) -> None:
    link, client = px4
    client.sendall(sent)
    if not len(sent) > 20:
        client.shutdown(socket.SHUT_RDWR)
    with pytest.raises(LinkLost, match=sentence):
        for _ in range(3):
            link.exchange(moment)


def test_a_vehicle_that_only_sends_nonsense_ends_the_link(px4, moment: AutopilotMoment) -> None:
    link, client = px4
    threading.Thread(target=lambda: client.sendall(b"\x00" * 300_000), daemon=True).start()
    with pytest.raises(LinkLost, match="no MAVLink"):
        for _ in range(100):
            link.exchange(moment)


def test_a_silent_vehicle_is_given_up(px4, moment: AutopilotMoment) -> None:
    link, client = px4
    link.patience = 0.1
    client.sendall(answer(4000))
    link.exchange(moment)
    with pytest.raises(LinkLost, match="vehicle 0 did not answer for 0.1 s"):
        link.exchange(AutopilotMoment(8000, moment.readings, moment.truth))


def test_a_second_client_is_refused_and_a_taken_port_told(px4) -> None:
    link, _ = px4
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", link.port), timeout=1.0)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} cannot be listened on"):
            Px4Link([4], port).open()


def test_nobody_who_connects_is_told_in_a_sentence() -> None:
    link = Px4Link([4], free_port(), patience=0.1)
    link.open()
    with pytest.raises(LinkLost, match="vehicle 0 did not connect"):
        link.connect()
    link.close()


@pytest.fixture
def ardupilot():
    link = ArduPilotLink(1, 4, free_port(), patience=2.0)
    link.open()
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.settimeout(2.0)
    client.connect(("127.0.0.1", link.port))
    yield link, client
    client.close()
    link.close()


def frame(count: int, pwm: int = 1500, magic: int = 18458) -> bytes:
    channels = 32 if magic == 29569 else 16
    return struct.pack(f"<HHI{channels}H", magic, 400, count, *[pwm] * channels)


def test_ardupilot_is_told_a_line_of_json_once_for_each_frame(ardupilot, moment: AutopilotMoment) -> None:
    link, client = ardupilot
    for sent in (GARBAGE[:500], b"", frame(5)[:-1], frame(5, magic=4), frame(0)):
        client.send(sent)
    link.connect()
    client.send(frame(0))  # again, as it does every second that it waits: told twice, it would lag for good
    client.send(frame(1, magic=29569, pwm=2500))
    assert np.array_equal(link.exchange(moment).controls, [[1.0] * 4])
    line = client.recv(65536)
    client.settimeout(0.1)
    with pytest.raises(TimeoutError):
        client.recv(65536)
    assert line.startswith(b"\n") and line.endswith(b"\n")
    told = json.loads(line)
    assert told["position"] == [2.0, 1.0, -3.0] and told["timestamp"] == 0.004
    assert told["imu"]["accel_body"][2] == pytest.approx(-9.81, abs=0.3)
    assert np.allclose(told["quaternion"], [np.sqrt(0.5), 0, 0, np.sqrt(0.5)])


def test_an_ardupilot_that_did_not_hear_is_told_again(ardupilot, moment: AutopilotMoment) -> None:
    link, client = ardupilot
    client.send(frame(0))
    link.connect()
    threading.Timer(0.6, client.send, [frame(0)]).start()
    threading.Timer(0.8, client.send, [frame(1)]).start()
    link.exchange(moment)
    assert client.recv(65536) == client.recv(65536)


def test_an_ardupilot_that_is_gone_is_told_of(ardupilot, moment: AutopilotMoment) -> None:
    link, client = ardupilot
    client.send(frame(0))
    link.connect()
    client.close()
    link.patience = 30.0
    with pytest.raises(LinkLost, match="vehicle 0 hung up"):
        link.exchange(moment)


def test_another_sender_is_passed_over_and_a_jump_ends_the_link(ardupilot, moment: AutopilotMoment) -> None:
    link, client = ardupilot
    client.send(frame(0))
    link.connect()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.sendto(frame(1, pwm=2000), ("127.0.0.1", link.port))
        client.send(frame(1, pwm=1250))
        assert np.array_equal(link.exchange(moment).controls, [[0.25] * 4])
    client.send(frame(0))
    with pytest.raises(LinkLost, match="went from frame 1 to 0"):
        link.exchange(moment)


def test_ten_thousand_fuzzed_messages_end_nothing(px4, moment: AutopilotMoment) -> None:
    random = np.random.default_rng(11)
    stream, good = Stream(), [answer(4000), GARBAGE[:40]]
    coder = common.MAVLink(None)
    good += [
        coder.heartbeat_encode(2, 12, 129, 0, 4).pack(coder),
        coder.command_long_encode(1, 1, 400, 0, 1, 0, 0, 0, 0, 0, 0).pack(coder),
    ]
    for _ in range(10_000):
        raw = bytearray(good[random.integers(len(good))])
        for place in random.integers(len(raw), size=random.integers(1, 6)):
            raw[place] = random.integers(256)
        raw = bytes(raw[: random.integers(1, len(raw) + 1)])
        stream.messages(raw)
        servos(raw)
    for _ in range(2000):
        stream.messages(bytes(300))  # whatever length the last bytes promised, it is over now
        if stream.messages(answer(4000)):
            break
    else:
        raise AssertionError("a good message after the nonsense is not heard")


def test_ten_thousand_fuzzed_datagrams_end_nothing(ardupilot, moment: AutopilotMoment) -> None:
    link, _ = ardupilot
    random, port, coder = np.random.default_rng(12), free_port(), common.MAVLink(None, srcComponent=1)
    own, ended = Offboard(np.zeros((1, 3)), PX4, port), 0
    good = [frame(0), frame(0, magic=29569), coder.heartbeat_encode(2, 12, 129, 0, 4).pack(coder)]
    good += [coder.statustext_encode(2, b"Arm: no").pack(coder), GARBAGE[:80]]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as it:
        for _ in range(10_000):
            raw = bytearray(good[random.integers(len(good))])
            for place in random.integers(len(raw), size=random.integers(1, 6)):
                raw[place] = random.integers(256)
            raw = bytes(raw[: random.integers(1, len(raw) + 1)])
            it.sendto(raw, ("127.0.0.1", port))
            it.sendto(raw, ("127.0.0.1", link.port))
            own.listen()
            try:
                link._vehicles[0].receive()
            except LinkLost as error:  # a frame that is whole but out of turn: a sentence, as it should be
                assert str(error).startswith("vehicle 0 went from frame")
                ended += 1
    own.close()
    assert 0 < ended < 5000
