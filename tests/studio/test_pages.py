"""Pages of studios of their own: one that is lost and comes back, and what statics shows."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@contextmanager
def served(folder: Path, *command: str) -> Iterator[str]:
    """The address of a page that a command serves until it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "skyrig", *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield next(line.split()[1] for line in process.stdout if line.startswith("Studio: "))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_lost_studio_is_told_and_comes_back(browser: Any, open_page: Any, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = ("studio", "drop-open-loop", "--port", port, "--no-open-page")
    with served(tmp_path, *command) as address:
        it = open_page(address)
        it.wait("name", "it === 'drop-open-loop'")
        it.page.wait_for_selector('[data-readout="lost"]', state="attached")
        assert it.readout("lost") == ""
    it.wait("lost", "it.includes('does not answer')")
    it.shoot("lost")
    other = ("studio", "one-dragonfly-hover", *command[2:])
    with served(tmp_path, *other):
        it.wait("lost", "it === ''")
        it.wait("name", "it === 'one-dragonfly-hover'")


@pytest.mark.parametrize(("what", "said"), [("stability", "mode 1: "), ("direct", "stable equilibrium 1")])
def test_statics_is_shown_in_the_browser(
    browser: Any, open_page: Any, tmp_path: Path, what: str, said: str
) -> None:
    with served(tmp_path, "statics", what, "three-dragonflies-circle", "--studio") as address:
        it = open_page(address)
        it.wait("name", "it === 'three-dragonflies-circle'")
        it.wait("time", "Number(it) > 0.2")
        it.wait("log", f"it.includes({said!r})")
        it.wait("tension-0", "Math.abs(Number(it) - 0.91) < 0.011")
        assert it.page.get_by_text("nobody flew it").count() == 1
        assert it.page.locator('[data-readout="verdict"]').count() == 0
        it.shoot(f"statics-{what}")
        assert it.complaints == []
