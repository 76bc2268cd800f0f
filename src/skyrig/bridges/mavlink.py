"""MAVLink messages, coded by pymavlink: streams of bytes in, messages out, whatever the bytes are."""

from __future__ import annotations

import os
import struct
from typing import Any

from skyrig.errors import InputError

ARMED = 128
"""Flag of a mode in which rotors may turn."""
HEAD = struct.Struct("<7BHB")
"""Magic number, length, two flags, number, system, component and kind of a message of version 2."""
NONSENSE = 65536
"""Bytes without a single message after which a stream is no MAVLink."""


def dialect() -> Any:
    """The common messages of pymavlink, version 2 on the wire."""
    os.environ.setdefault("MAVLINK20", "1")
    try:
        from pymavlink.dialects.v20 import common
    except ImportError:
        raise InputError(
            "autopilots need pymavlink, which is not installed: pip install 'skyrig[px4]'."
        ) from None
    return common


def _checksum(raw: bytes) -> Any:
    from pymavlink.generator.mavcrc import x25crc

    return x25crc(raw)


class Stream:
    """Bytes to messages, and messages to bytes; bytes that are no message are passed over and counted."""

    def __init__(self, system: int = 1, component: int = 1) -> None:
        self._coder = dialect().MAVLink(None, srcSystem=system, srcComponent=component)
        self._coder.robust_parsing = True
        self.nonsense = 0
        """Bytes passed over since the last message."""

    @property
    def make(self) -> Any:
        """Has an encoder of every message: `make.heartbeat_encode(...)`."""
        return self._coder

    def bytes_of(self, message: Any) -> bytes:
        """A message as it goes over the wire."""
        raw = message.pack(self._coder)
        self._coder.seq = (self._coder.seq + 1) % 256
        return raw

    def plain(self, kind: Any, *numbers: float) -> bytes:
        """A message of one of the dialect's classes from its numbers in the order of the wire.

        The same bytes as `bytes_of` gives, in a tenth of the time: for those sent at every tick.
        """
        coder = self._coder
        body = kind.unpacker.pack(*numbers).rstrip(b"\0") or b"\0"
        who = (coder.seq, coder.srcSystem, coder.srcComponent, kind.id & 0xFFFF, kind.id >> 16)
        raw = HEAD.pack(0xFD, len(body), 0, 0, *who) + body
        coder.seq = (coder.seq + 1) % 256
        return raw + _checksum(raw[1:] + bytes([kind.crc_extra])).crc.to_bytes(2, "little")

    def datagram(self, raw: bytes) -> list[Any]:
        """The messages of a datagram, which begins anew whatever came before."""
        self._forget()
        return self.messages(raw)

    def _forget(self) -> None:
        """Begin anew, without what was left of a message."""
        coder = self._coder
        coder.buf, coder.buf_index, coder.expected_length = bytearray(), 0, dialect().HEADER_LEN_V1 + 2

    def messages(self, raw: bytes) -> list[Any]:
        """The messages that are whole with these bytes, in order."""
        try:
            found = self._coder.parse_buffer(raw) or []
        except Exception:  # whatever a parser trips over, it is nonsense that came from outside
            self._forget()
            self.nonsense += len(raw)
            return []
        good = [it for it in found if it.get_msgId() >= 0]
        self.nonsense = 0 if good else self.nonsense + len(raw)
        return good
