"""What the studio claims, measured here and now: `python benchmarks/studio.py [--minutes 60]`.

Six vehicles and a box fly at real time while the scene is drawn 30 times a second for nobody, then for one
real browser (Chromium without a window, if there is one), then for three more bare websocket clients. Printed
are the simulation's pace, the processor time that a second of flight takes, the time it gave up because it
could not keep pace, how often the scene was drawn, how long the first view took, the pace at 10x, and the
memory of the process over some minutes with twenty bare clients.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import viser
import websockets
from rich.console import Console
from rich.table import Table

from skyrig.errors import InputError
from skyrig.scenario import load
from skyrig.studio import pictures
from skyrig.studio.app import Studio

SCENARIO = "six-dragonflies-box"
MANY = 20
"""Viewers while memory is watched."""
console = Console()


def resident() -> float:
    """Memory of this process (MiB)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


class Listeners:
    """Websocket clients that take all messages and draw nothing."""

    def __init__(self, address: str, count: int) -> None:
        self.received = [0] * count
        self._over = False
        self._thread = threading.Thread(target=lambda: asyncio.run(self._all(address, count)), daemon=True)

    def __enter__(self) -> Listeners:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._thread.join(timeout=10)

    async def _all(self, address: str, count: int) -> None:
        await asyncio.gather(*(self._one(address, k) for k in range(count)))

    async def _one(self, address: str, k: int) -> None:
        protocol: Any = f"viser-v{viser.__version__}"
        async with websockets.connect(
            address.replace("http", "ws"), subprotocols=[protocol], max_size=None, compression=None
        ) as socket:
            while not self._over:
                try:
                    self.received[k] += len(await asyncio.wait_for(socket.recv(), 1.0))
                except TimeoutError:
                    continue


def measured(studio: Studio, seconds: float) -> tuple[float, float, float, float]:
    """Over `seconds`: pace, processor time a second of flight, time given up (s), and drawings a second."""
    session = studio.session
    view = session.view()
    assert view is not None
    began, drawn, lag, flown = time.perf_counter(), studio.drawn, session.lag, view.span[1]
    worked = time.process_time()
    time.sleep(seconds)
    view = session.view()
    assert view is not None
    passed = time.perf_counter() - began
    far = view.span[1] - flown
    worked = (time.process_time() - worked) / max(far, 1e-9)
    return far / passed, worked, session.lag - lag, (studio.drawn - drawn) / passed


def first_view(address: str) -> float | None:
    """How long a page of a new browser takes until it shows the rig's numbers (s); None without a browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    found = next((path for name in pictures.BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        return None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(pictures._FLAGS[1:]))
        page = browser.new_page(viewport={"width": 1280, "height": 800}, device_scale_factor=0.5)
        taken = []
        for _ in range(2):  # the first fetches what the second has
            began = time.perf_counter()
            page.goto(address)
            page.wait_for_selector('[data-readout="time"]', state="attached", timeout=120_000)
            page.wait_for_selector("canvas", timeout=120_000)
            taken.append(time.perf_counter() - began)
        browser.close()
    return taken[-1]


def viewer(studio: Studio) -> Any:
    """A browser that draws the page, or nothing where there is none."""
    try:
        browser = pictures.viewer(studio)
        browser.__enter__()
        return browser
    except InputError as error:
        console.print(f"No browser: {error}")
        return nullcontext()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long memory is watched")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long each pace is measured")
    options = parser.parse_args()
    studio = Studio(port=0)
    studio.begin()
    studio.session.open(load(SCENARIO).with_overrides({"duration": 3600.0}))
    studio.session.repeat = True  # else it stops at its end
    while studio.session.status != "ready":
        time.sleep(0.1)
    studio.session.play()
    time.sleep(2.0)
    heads = ("viewers", "simulated / real time", "CPU s / s of flight", "given up (s)", "drawings a second")
    table = Table(*heads, box=None)
    seen = first_view(studio.address)
    console.print("no browser" if seen is None else f"first view, warm: {seen:.2f} s")
    table.add_row("nobody", *(f"{value:.3f}" for value in measured(studio, options.seconds)))
    watching = viewer(studio)
    time.sleep(5.0)
    table.add_row("a browser", *(f"{value:.3f}" for value in measured(studio, options.seconds)))
    with Listeners(studio.address, 3) as listeners:
        time.sleep(3.0)
        row = measured(studio, options.seconds)
    table.add_row("a browser and three bare clients", *(f"{value:.3f}" for value in row))
    console.print(f"[bold]{SCENARIO} at 1x[/bold]")
    console.print(table)
    console.print(f"each bare client took {np.mean(listeners.received) / 2**20:.1f} MiB")
    studio.session.set_speed(10.0)
    time.sleep(1.0)
    fast, cost, *_ = measured(studio, options.seconds)
    console.print(f"asked for 10x: {fast:.2f}x real time, {cost:.3f} CPU s / s of flight")
    studio.session.set_speed(1.0)
    memory = []
    with Listeners(studio.address, MANY):
        for minute in range(round(options.minutes * 2) + 1):
            memory.append(resident())
            console.print(f"memory after {minute / 2:.1f} min with {MANY} viewers: {memory[-1]:.0f} MiB")
            if minute < round(options.minutes * 2):
                time.sleep(30.0)
        pace, _, lag, _ = measured(studio, 5.0)
    later = memory[len(memory) // 2 :]
    console.print(f"second half: {max(later) - min(later):.1f} MiB between least and most; pace {pace:.3f}")
    console.print(f"given up in all: {studio.session.lag:.2f} s, lately {lag:.2f} s")
    watching.__exit__(None, None, None)
    studio.close()


if __name__ == "__main__":
    main()
