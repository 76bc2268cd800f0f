"""A sweep that is killed and started again loses nothing, whoever flies it."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SKYRIG = Path(sys.executable).with_name("skyrig")
ASK = [
    "sweep",
    "three-dragonflies-links",
    "--vary=controller.gains.damping=uniform(0.7,1.0)",
    "--vary=noise.position=uniform(0,0.01)",
    "--set=duration=0.2",
    "--samples=2000",
    "--workers=1",
]


def command(folder: Path, *more: str) -> list[str]:
    return [str(SKYRIG), *ASK, f"--out={folder}", *more]


def table(folder: Path) -> bytes:
    return (folder / "sweep.parquet").read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The table of a sweep that nobody disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    subprocess.run(command(folder), check=True, capture_output=True)
    return table(folder)


def test_killed_three_times_it_ends_with_the_same_table(tmp_path: Path, whole: bytes) -> None:
    parts = tmp_path / "parts"
    for wanted in (2, 9, 20):
        process = subprocess.Popen(command(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 120
        while len(list(parts.glob("*.npz"))) < wanted and time.monotonic() < until:
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not (tmp_path / "sweep.parquet").exists()
    before = {file.name: file.read_bytes() for file in parts.glob("*.npz")}
    assert len(before) >= 20
    subprocess.run(command(tmp_path), check=True, capture_output=True)
    assert table(tmp_path) == whole
    assert all((parts / name).read_bytes() == content for name, content in before.items())
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
    killed, until = 0, time.monotonic() + 240
    while process.poll() is None and time.monotonic() < until:
        if not killed:
            for worker in descendants(process.pid):
                if "ray::fly_rows" in name_of(worker):
                    os.kill(worker, signal.SIGKILL)
                    killed += 1
                    break
        time.sleep(0.02)
    assert process.wait(timeout=1) == 0 and killed == 1
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
