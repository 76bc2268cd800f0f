"""What can be opened and where can be listened, found out before it is done."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

from skyrig.errors import InputError

TRIES = 50
"""Ports looked at, one after the other."""


def is_flight(what: str | Path) -> bool:
    """Whether `what` names a recorded flight rather than a scenario."""
    path = Path(what)
    with contextlib.suppress(OSError):
        return path.suffix == ".npz" or (path.is_dir() and (path / "flight.npz").exists())
    return False


def free_port(host: str, port: int) -> int:
    """The first port from `port` on that can be listened on at `host`; 0 stays 0, any free one.

    Raises:
        InputError: If `host` is no address of this machine, or all the ports are taken.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise InputError(f"--host must be an address of this machine, not {host!r}.") from None
    reason = "all are taken"
    for each in [0] if port == 0 else range(port, min(port + TRIES, 65536)):
        with socket.socket(family, kind) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((address[0], each, *address[2:]))
            except OSError as error:
                reason = error.strerror or "it cannot be used"
                if error.errno in (98, 48, 10048, 13):  # taken, or not for this user
                    continue
                raise InputError(f"--host {host!r} cannot be listened on: {reason}.") from None
        return each
    raise InputError(f"--port {port} and those after it cannot be listened on: {reason}.")
