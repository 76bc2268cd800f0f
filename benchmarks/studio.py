"""What the studio claims, measured here and now: `python benchmarks/studio.py [--minutes 10]`.

Six vehicles and a box fly at real time while the scene is drawn 30 times a second for one real browser
(Chromium without a window, if there is one), then for three more bare websocket clients. Printed are the
simulation's pace, the time it gave up because it could not keep pace, how often the scene was drawn, and the
memory of the process over some minutes.
"""

from __future__ import annotations

import argparse
import asyncio
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
from skyrig.studio import pictures
from skyrig.studio.app import Studio

SCENARIO = "six-dragonflies-box"
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


def measured(studio: Studio, seconds: float) -> tuple[float, float, float]:
    """Pace of the simulation (1), time it gave up (s), and drawings a second, over `seconds`."""
    session = studio.session
    view = session.view()
    assert view is not None
    began, drawn, lag, flown = time.perf_counter(), studio.drawn, session.lag, view.span[1]
    time.sleep(seconds)
    view = session.view()
    assert view is not None
    passed = time.perf_counter() - began
    return (view.span[1] - flown) / passed, session.lag - lag, (studio.drawn - drawn) / passed


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
    studio.open(SCENARIO)
    while studio.session.status != "ready":
        time.sleep(0.1)
    studio.session.play()
    time.sleep(2.0)
    table = Table("viewers", "simulated / real time", "given up (s)", "drawings a second", box=None)
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
    memory = []
    for minute in range(round(options.minutes * 2) + 1):
        memory.append(resident())
        console.print(f"memory after {minute / 2:.1f} min: {memory[-1]:.0f} MiB")
        if minute < round(options.minutes * 2):
            time.sleep(30.0)
    pace, lag, _ = measured(studio, 5.0)
    later = memory[len(memory) // 2 :]
    console.print(f"second half: {max(later) - min(later):.1f} MiB between least and most; pace {pace:.3f}")
    console.print(f"given up in all: {studio.session.lag:.2f} s, lately {lag:.2f} s")
    watching.__exit__(None, None, None)
    studio.close()


if __name__ == "__main__":
    main()
