"""Two Ctrl-C end the studio, whatever it waits for."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bare_client import Bare, bare
from waiting import SAFETY, until

pytestmark = pytest.mark.slow

WAITS = """
import signal, time
from skyrig import files
from skyrig.cli import main
def never(*_, **__):
    print("waiting", flush=True)
    time.sleep(1e6)
signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it would be ignored
files.open_regular = never  # as on a disk that does not answer
main()
"""
"""A studio whose files never open."""


def _answer(client: Bare) -> str:
    """What the page says a while after Open was pressed once more.

    Earlier answers come in any order, and what was said before the first flight was ready is taken back.
    """
    client.put("Open", True)
    time.sleep(0.5)
    return client.said


def test_two_interrupts_end_it_though_files_never_open(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WAITS, "studio", "drop-open-loop", "--port", "0", "--no-open-page"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[1]
        with bare(address) as client:
            until(lambda: "Or a path" in client.fields and "Open" in client.fields)
            client.put("Or a path", "flights/some")
            for _ in range(40):
                client.put("Open", True)
            assert process.stdout.readline() == "waiting\n"
            until(lambda: "is being opened or saved already" in _answer(client))
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=SAFETY) in (0, -signal.SIGINT)
    finally:
        process.kill()
        process.communicate()


def test_a_pipe_among_the_flights_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "flights" / "pipe").mkdir(parents=True)
    os.mkfifo(tmp_path / "flights" / "pipe" / "flight.npz")
    begin = WAITS.replace("files.open_regular = never", "pass")
    command = [sys.executable, "-c", begin, "studio", "drop-open-loop", "--port", "0", "--no-open-page"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        with bare(process.stdout.readline().split()[1]) as client:
            until(lambda: "Or a path" in client.fields and "Open" in client.fields)
            client.put("Or a path", "flights/pipe")
            for _ in range(40):
                client.put("Open", True)
            until(lambda: "it is not a regular file" in _answer(client))
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=SAFETY) == 0
            assert process.stdout.read() == "Studio ended.\n"
    finally:
        process.kill()
        process.communicate()
