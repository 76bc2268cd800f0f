"""Companions ask vehicles to arm and take off when these are ready, and listen on this machine alone."""

import socket

import numpy as np
import pytest
from autopilots import free_port
from pymavlink.dialects.v20 import common

from skyrig.bridges.offboard import ARDUPILOT, PX4, Offboard
from skyrig.errors import InputError

GARBAGE = np.random.default_rng(7).bytes(200)


def test_companions_listen_here_alone_and_heed_heartbeats() -> None:
    port = free_port()
    own = Offboard(np.zeros((1, 3)), ARDUPILOT, port)
    assert own._sockets[0].getsockname()[0] == "127.0.0.1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as it:
        it.bind(("127.0.0.1", 0))
        it.sendto(GARBAGE, ("127.0.0.1", port))
        own.listen()
        assert not own.complete
        it.settimeout(5.0)
        coder = common.MAVLink(None, srcSystem=1, srcComponent=1)
        asked = []
        for mode in (1, 129):  # disarmed, then armed
            it.sendto(coder.heartbeat_encode(2, 12, mode, 0, 4).pack(coder), ("127.0.0.1", port))
            it.sendto(
                coder.statustext_encode(2, b"Arm: Need Position Estimate").pack(coder), ("127.0.0.1", port)
            )
            own.listen()
            assert own.complete and own.armed.all() == (mode == 129)
            own.begin()
            asked.append(
                [coder.parse_buffer(it.recv(65536))[0].command for _ in range(2 if mode == 1 else 1)]
            )
        assert asked == [[176, 400], [22]], "a mode and to arm, then to take off"
        assert own.said(0) == " (it says: Arm: Need Position Estimate)"
    with pytest.raises(InputError, match=f"UDP port {port} cannot be listened on"):
        Offboard(np.zeros((1, 3)), PX4, port)
    own.close()


def test_px4_is_armed_when_it_knows_where_it_is_and_says_where() -> None:
    port, coder = free_port(), common.MAVLink(None, srcSystem=1, srcComponent=1)
    own = Offboard(np.zeros((1, 3)), PX4, port)
    here, wild = (0.1, 0.2, -0.3), (float("nan"), 1e9, 0.0)
    there = {1: wild, 1 | 2: here, 1 | 2 | 8 | 16: here}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as it:
        it.bind(("127.0.0.1", 0))
        it.settimeout(0.2)
        for flags, heard in ((1, False), (1 | 2, False), (1 | 2 | 8 | 16, True)):
            for message in (
                coder.heartbeat_encode(2, 12, 1, 0, 4),
                coder.estimator_status_encode(0, flags, *[0.0] * 8),
                coder.local_position_ned_encode(0, *there[flags], 0.0, 0.0, 0.0),
            ):
                it.sendto(message.pack(coder), ("127.0.0.1", port))
            own.listen()
            own.begin()
            assert np.allclose(own.believed, 0.0 if flags == 1 else [[0.2, 0.1, 0.3]]), "nonsense is not"
            if heard:
                assert coder.parse_buffer(it.recv(65536))[0].command == 176
            else:
                with pytest.raises(TimeoutError):
                    it.recv(65536)
    own.close()
