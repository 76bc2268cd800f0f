"""Whenever `skyrig fly` is killed, a flight file is either absent or whole."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from skyrig import Flight

pytestmark = pytest.mark.slow

SKYRIG = Path(sys.executable).with_name("skyrig")


def test_killing_it_at_any_moment_leaves_no_half_file(tmp_path: Path) -> None:
    command = [str(SKYRIG), "fly", "drop-open-loop", "--out", str(tmp_path), "--no-report"]
    file = tmp_path / "drop-open-loop" / "flight.npz"
    began = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    whole = time.monotonic() - began
    lengths = Flight.load(file).times
    file.unlink()
    rng = np.random.default_rng(0)
    found = 0
    # most of them near the end, when files are written
    for moment in [*rng.uniform(0, 0.7, 2), *rng.uniform(0.7, 1.05, 8)]:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moment * whole)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        if file.exists():
            found += 1
            np.testing.assert_array_equal(Flight.load(file).times, lengths)
            file.unlink()
    assert found < 10, "none was killed in time"


def test_a_write_that_is_killed_leaves_the_old_file(tmp_path: Path) -> None:
    """Killed between any two system calls of the write: the place holds the old content or the new."""
    script = """
import os, sys
from pathlib import Path
from skyrig.flight.storage import write_whole
left = int(sys.argv[2])
def count(name):
    real = getattr(os, name)
    def call(*args, **kwargs):
        global left
        left -= 1
        if left < 0:
            os._exit(9)
        return real(*args, **kwargs)
    setattr(os, name, call)
count("fsync"); count("replace")
write_whole(Path(sys.argv[1]), b"new" * 100000)
"""
    target = tmp_path / "file"
    for calls, content in ((0, b"old"), (1, b"old"), (2, b"new" * 100000)):
        target.write_bytes(b"old")
        subprocess.run([sys.executable, "-c", script, str(target), str(calls)], check=False)
        assert target.read_bytes() == content
