"""Whenever writing is killed, a file is either as it was or whole."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from skyrig import Flight

pytestmark = pytest.mark.slow

LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Linux kills whoever writes more into a file than this
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
"""


def test_killed_while_it_writes_it_leaves_the_old_flight_or_none(tmp_path: Path) -> None:
    begin = "from skyrig.cli import main; main()"
    command = ["fly", "drop-open-loop", "--out", str(tmp_path), "--no-report"]
    subprocess.run([sys.executable, "-c", begin, *command], check=True, capture_output=True)
    place = tmp_path / "drop-open-loop"
    whole = {file.name: file.read_bytes() for file in place.iterdir()}
    for file in (place / "flight.npz", place / "metrics.json"):
        limited = [sys.executable, "-c", LIMITED + begin, str(len(whole[file.name]) // 2), *command]
        killed = subprocess.run(limited, capture_output=True, text=True)
        assert killed.returncode == -signal.SIGXFSZ, killed.stderr
        assert {file.name: file.read_bytes() for file in place.iterdir()} == whole
    flight = Flight.load(place)
    place.rename(tmp_path / "before")
    killed = subprocess.run(limited, capture_output=True)
    assert killed.returncode == -signal.SIGXFSZ and not place.exists()
    # and one that is saved by itself
    save = "from skyrig import Flight; Flight.load(sys.argv[1]).save(sys.argv[2])"
    limited = [
        sys.executable,
        "-c",
        LIMITED + save,
        "5000",
        str(tmp_path / "before"),
        str(tmp_path / "one.npz"),
    ]
    assert subprocess.run(limited, capture_output=True).returncode == -signal.SIGXFSZ
    assert not (tmp_path / "one.npz").exists()
    flight.save(tmp_path / "one.npz")
    assert subprocess.run(limited, capture_output=True).returncode == -signal.SIGXFSZ
    np.testing.assert_array_equal(Flight.load(tmp_path / "one.npz").times, flight.times)


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
