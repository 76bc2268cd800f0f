"""Contenders of several simulators that take turns, each simulator in a process of its own if it must.

Needs nothing but Python, so that other simulators' environments can run it too.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Entry:
    """What one contender does in one call."""

    who: str
    flies: str
    """The rig: vehicles, load, cables."""
    controller: str
    step: str
    """Of the physics, and how it integrates."""
    flights: int
    """Flown at once."""
    seconds: float
    """Simulated in each (s)."""


Call = Callable[[], object]
Contender = tuple[Entry, Call] | tuple[Entry, Call, Call]
"""What is done, the call that does it, and a shorter call that warms it up, if there is one."""


def cpu_seconds_of(call: Call) -> float:
    """CPU seconds of a call, all threads of this process."""
    start = time.process_time()
    call()
    return time.process_time() - start


class Here:
    """Contenders in this process, warmed up."""

    def __init__(self, contenders: list[Contender]) -> None:
        self.entries = [it[0] for it in contenders]
        self._calls = [it[1] for it in contenders]
        for it in contenders:
            it[-1]()

    def measure(self, index: int) -> float:
        """CPU seconds of one call of a contender."""
        return cpu_seconds_of(self._calls[index])

    def close(self) -> None:
        """Nothing to close."""


class Elsewhere:
    """Contenders in a process of their own: a script that calls `serve`.

    Args:
        python: The interpreter that has the simulator.
        script: What it runs.
        more: Variables of its environment that differ from this process's.
    """

    def __init__(self, python: Path, script: Path, more: Mapping[str, str] | None = None) -> None:
        # skyrig's defaults of JAX are not theirs; its option of XLA is, for it makes their loops faster too
        theirs = {name: it for name, it in os.environ.items() if not name.startswith("JAX_")}
        theirs.update(more or {})
        self._told = tempfile.TemporaryFile("w+")  # noqa: SIM115  as long as the process
        self._room = tempfile.TemporaryDirectory()  # simulators leave logs where they run
        self._process = subprocess.Popen(
            [str(python.absolute()), str(script.absolute())],
            cwd=self._room.name,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._told,
            text=True,
            env=theirs,
        )
        self.entries = [Entry(**entry) for entry in self._answer("entries")]

    def measure(self, index: int) -> float:
        """CPU seconds of one call of a contender."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{index}\n")
        self._process.stdin.flush()
        return self._answer("cpu_seconds")

    def close(self) -> None:
        """Let the process end."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it may have ended already
            self._process.stdin.close()
        self._process.wait(timeout=60)
        self._room.cleanup()

    def _answer(self, key: str):
        assert self._process.stdout is not None
        for line in self._process.stdout:
            # simulators print things of their own
            if line.startswith("{") and key in (said := json.loads(line)):
                return said[key]
        self._process.wait(timeout=60)
        self._told.seek(0)
        last = (self._told.read().strip().splitlines() or ["no reason was given"])[-1]
        raise RuntimeError(last)


def serve(contenders: list[Contender]) -> None:
    """Be the other end of `Elsewhere`: warm up, say what there is, then run what each line asks for."""
    here = Here(contenders)
    print(json.dumps({"entries": [asdict(entry) for entry in here.entries]}), flush=True)
    for line in sys.stdin:
        print(json.dumps({"cpu_seconds": here.measure(int(line))}), flush=True)
