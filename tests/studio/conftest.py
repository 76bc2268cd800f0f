"""A studio and a browser that looks at it; tests that need the browser are skipped where there is none."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from browser_page import Watched

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))),
    None,
)
FLAGS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP evil.example 127.0.0.1",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if BROWSER is None:
        pytest.skip("needs Chromium: install the package chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a studio that runs as people run it; at last it is ended by Ctrl-C.

    It flies on while it runs, so it ends with its module and takes no time from other tests.
    """
    # tests that run in the background ignore Ctrl-C, and so would what they start
    heed = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    begin = f"import signal; from skyrig.cli import main; {heed}; main()"
    command = [
        sys.executable,
        "-c",
        begin,
        "studio",
        "three-dragonflies-poke",
        "--port",
        "0",
        "--no-open-page",
        "--open",
        str(tmp_path_factory.getbasetemp()),
    ]
    folder = tmp_path_factory.mktemp("studio")
    with (folder / "errors").open("wb") as errors:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("Studio: http://127.0.0.1:"), line
    yield line.split()[1]
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=300)
    assert process.returncode == 0 and rest == "Studio ended.\n"
    assert (folder / "errors").read_text() == ""


@pytest.fixture
def open_page(browser: Any) -> Iterator[Any]:
    pages = []

    def opened(address: str, **options: Any) -> Watched:
        # without a graphics card a page takes its time by the pixel
        options = {"device_scale_factor": 0.5, **options}
        page = browser.new_page(viewport={"width": 1300, "height": 760}, **options)
        pages.append(page)
        watched = Watched(page)
        page.goto(address)
        return watched

    yield opened
    for page in pages:
        page.close()
