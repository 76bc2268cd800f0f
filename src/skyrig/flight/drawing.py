"""Pictures drawn by processes of their own, which get ready while the flight is flown.

Importing Matplotlib takes as long as a flight, and drawing again as long. On other cores the wait is short.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import IO

from skyrig.flight.flight import Flight

NAMES = ("path", "sequence", "error", "tensions", "impact", "attitudes", "thrusts", "signals")
"""Of the pictures, in the order in which a report shows them."""
DRAWERS = 2
"""Processes that draw, where there are as many cores."""


class Drawers:
    """Processes that draw, to be used in a `with` statement; they start at once."""

    def __enter__(self) -> Drawers:
        command = [sys.executable, "-m", "skyrig.flight.drawing"]
        count = min(DRAWERS, os.cpu_count() or 1)
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        self._each: list[subprocess.Popen[bytes]] = []
        with contextlib.suppress(OSError):  # without them the pictures are drawn here
            for _ in range(count):
                self._each.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=null))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._each:
            process.kill()
            process.communicate()

    def draw_all(self, flight: Flight, saved: Path) -> dict[str, bytes]:
        """Every picture of `flight` that shows something, by name, as PNG; `saved` is where its file lies."""
        try:
            shares = [NAMES[k :: len(self._each)] for k in range(len(self._each))]
            for process, names in zip(self._each, shares, strict=True):
                assert process.stdin is not None
                process.stdin.write(f"{' '.join(names)} {saved.resolve()}\n".encode())
                process.stdin.flush()
            drawn: dict[str, bytes] = {}
            for process, names in zip(self._each, shares, strict=True):
                assert process.stdout is not None
                for name in names:
                    drawn[name] = _received(process.stdout)
        except (OSError, ValueError, EOFError):
            drawn = {}
        if not drawn:
            from skyrig.flight.plots import draw_all

            return draw_all(flight)
        return {name: drawn[name] for name in NAMES if drawn[name]}


def _received(stream: IO[bytes]) -> bytes:
    """One picture; nothing where there is nothing to show."""
    head = stream.readline()
    if not head:
        raise EOFError
    size = int(head)
    content = stream.read(size)
    if len(content) < size:
        raise EOFError
    return content


def _work() -> None:
    """Draw what is asked for, line by line."""
    os.nice(10)  # getting ready must not hold up the flight
    from skyrig.flight.plots import draw

    for line in sys.stdin:
        words = line.rstrip("\n").split(" ")
        names = [word for word in words if word in NAMES]
        flight = Flight.load(Path(" ".join(words[len(names) :])))
        for name in names:
            image = draw(flight, name) or b""
            sys.stdout.buffer.write(f"{len(image)}\n".encode() + image)
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        _work()
