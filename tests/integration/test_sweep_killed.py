"""A sweep that is killed and started again loses nothing, whoever flies it."""

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import until

pytestmark = pytest.mark.slow

ASK = [
    "sweep",
    "three-dragonflies-links",
    "--vary=controller.gains.damping=uniform(0.7,1.0)",
    "--vary=noise.position=uniform(0,0.01)",
    "--set=duration=0.2",
    "--samples=330",  # six parts, the last a small one
    "--workers=1",
]
RUN = "from skyrig.cli import main; main()"
KILLED = """
import os, signal
from pathlib import Path
from skyrig.flight import storage
from skyrig.runs import sweep

def killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

class Folder(sweep.Folder):
    def put(self, chunk, part):
        count = len(list((self.path / sweep.PARTS).glob("*.npz")))
        if count == {parts} and {writing}:
            storage.os.replace = killed  # the part is written, and not yet where it belongs
        super().put(chunk, part)
        if count + 1 == {parts} and not {writing}:
            killed()

sweep.Folder = Folder
"""
"""A sweep that kills itself as soon as there are so many parts, or while it writes the next."""


def command(folder: Path, *more: str, begin: str = "") -> list[str]:
    return [sys.executable, "-c", begin + RUN, *ASK, f"--out={folder}", *more]


def table(folder: Path) -> bytes:
    return (folder / "sweep.parquet").read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The table of a sweep that nobody disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    subprocess.run(command(folder), check=True, capture_output=True)
    return table(folder)


def test_killed_three_times_it_ends_with_the_same_table(tmp_path: Path, whole: bytes) -> None:
    parts, kept = tmp_path / "parts", {}
    for count, writing in ((1, False), (2, True), (4, False)):
        begin = KILLED.format(parts=count, writing=writing)
        ended = subprocess.run(command(tmp_path, begin=begin), capture_output=True, text=True)
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        assert not (tmp_path / "sweep.parquet").exists()
        assert len(list(parts.glob(".*.part"))) == writing
        found = {file.name: file.read_bytes() for file in parts.glob("*.npz")}
        assert len(found) == count and kept.items() <= found.items(), "a part was flown again"
        kept = found
    subprocess.run(command(tmp_path), check=True, capture_output=True)
    assert table(tmp_path) == whole
    found = {file.name: file.read_bytes() for file in parts.iterdir()}
    assert len(found) == 6 and kept.items() <= found.items()
    other = subprocess.run(command(tmp_path, "--seed=1"), capture_output=True, text=True)
    assert other.returncode == 2 and "differs in seed" in other.stderr and other.stderr.count("\n") == 1
    assert table(tmp_path) == whole


def test_processes_give_the_same_table(tmp_path: Path, whole: bytes) -> None:
    subprocess.run(command(tmp_path, "--engine=processes"), check=True, capture_output=True)
    assert table(tmp_path) == whole


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray comes with the extra [cluster]")
def test_a_ray_worker_that_is_killed_does_not_harm_the_table(tmp_path: Path, whole: bytes) -> None:
    process = subprocess.Popen(
        command(tmp_path, "--engine=ray"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )

    def one_is_killed() -> bool:
        assert process.poll() is None, "it ended before one could be killed"
        flying = [it for it in descendants(process.pid) if "ray::fly_rows" in name_of(it)]
        for worker in flying[:1]:
            os.kill(worker, signal.SIGKILL)
        return bool(flying)

    until(one_is_killed)
    assert process.wait() == 0
    assert table(tmp_path) == whole


def descendants(parent: int) -> list[int]:
    """All processes that `parent` or one of its own started."""
    started: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                above = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            started.setdefault(above, []).append(int(entry.name))
    found, left = [], [parent]
    while left:
        own = started.get(left.pop(), [])
        found += own
        left += own
    return found


def name_of(process: int) -> str:
    """How a process calls itself."""
    try:
        return (Path("/proc") / str(process) / "cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""
