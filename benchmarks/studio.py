"""What the studio claims, measured here and now: `python benchmarks/studio.py [--minutes 60]`.

Six vehicles and a box fly at real time while the scene is drawn 30 times a second for nobody, then for one
real browser (Chromium without a window, if there is one; --pages 0 does without), then for light viewers too,
four in all. Printed are the simulation's pace, the processor time that a second of flight takes, the time it
gave up because it could not keep pace, how often the scene was drawn, how long first views took by the page's
own clock, the same at 10x, and the memory of the process over some minutes with twenty viewers.
"""

from __future__ import annotations

import argparse
import shutil
import time
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.table import Table
from studio_viewers import viewers

from skyrig.errors import InputError
from skyrig.scenario import load
from skyrig.studio import pictures
from skyrig.studio.app import Studio

SCENARIO = "six-dragonflies-box"
FEW, MANY = 4, 20
"""Viewers while the pace is measured, and while memory is watched."""
console = Console()


def resident() -> float:
    """Memory of this process (MiB)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


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


MARKS = """() => {
    const marks = window.marks = {}, draw = WebGL2RenderingContext.prototype.drawElements;
    const mark = (name) => { marks[name] ??= performance.now() / 1000; };
    WebGL2RenderingContext.prototype.drawElements = function (...all) {
        mark("drawing");
        draw.apply(this, all);
    };
    let last = 0.0;
    const look = () => {
        const now = performance.now() / 1000;
        if (!marks.view || now - last > 0.3) marks.settled = now;
        last = now;
        if (document.querySelector('[data-readout="time"]')) {
            if (marks.numbers && marks.drawing) mark("view");  // a frame after both
            mark("numbers");
        }
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""
"""Has a page note when it begins to draw, has the rig's numbers, has painted both, and stalls no more (s)."""


def first_view(address: str) -> list[dict[str, float]]:
    """How long pages of a new browser take until they show the rig and its numbers, stage by stage (s).

    By the page's own clock, from when it was asked for; nothing without a browser.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return []
    found = next((path for name in pictures.BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        return []
    taken = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(pictures._FLAGS[1:]))
        context = browser.new_context(viewport={"width": 1280, "height": 800}, device_scale_factor=0.5)
        context.add_init_script(f"({MARKS})()")
        for _ in range(4):  # the first starts what the others find
            page = context.new_page()
            page.goto(address)
            page.wait_for_function("() => window.marks.view", timeout=120_000)
            page.wait_for_timeout(4000)
            loaded = "performance.getEntriesByType('navigation')[0].responseEnd / 1000"
            taken.append(page.evaluate(f"() => ({{fetched: {loaded}, ...window.marks}})"))
            page.close()
        browser.close()
    return taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long memory is watched")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long each pace is measured")
    parser.add_argument("--pages", type=int, default=1, help="how many viewers are real pages in Chromium")
    options = parser.parse_args()
    studio = Studio(port=0)
    studio.begin()
    studio.session.open(load(SCENARIO).with_overrides({"duration": 3600.0}))
    studio.session.repeat = True  # else it stops at its end
    while studio.session.status != "ready":
        time.sleep(0.1)
    studio.session.play()
    for kind, stages in zip(("cold", "warm", "warm", "warm"), first_view(studio.address), strict=False):
        said = ", ".join(f"{name} {at:.2f}" for name, at in sorted(stages.items(), key=lambda it: it[1]))
        console.print(f"first view, {kind} (s): {said}")
    heads = ("viewers", "simulated / real time", "CPU s / s of flight", "given up (s)", "drawings a second")
    table = Table(*heads, box=None, title=SCENARIO)
    with ExitStack() as pages:

        def row(viewed: str) -> None:
            time.sleep(3.0)
            table.add_row(viewed, *(f"{value:.3f}" for value in measured(studio, options.seconds)))

        row("nobody")
        real = looking(studio, options.pages, pages)
        if real:
            row(f"{real} real")
        with viewers(studio.address, FEW - real):
            row(f"{FEW}, {real} real")
            studio.session.set_speed(10.0)
            row(f"{FEW}, {real} real, 10x asked for")
            studio.session.set_speed(1.0)
        console.print(table)
        watch(studio, options.minutes, real)
    studio.close()


def looking(studio: Studio, count: int, pages: ExitStack) -> int:
    """Open so many real pages, and say how many there are: none without a browser."""
    try:
        for _ in range(count):
            pages.enter_context(pictures.viewer(studio))
    except InputError as error:
        console.print(f"No real page: {error}")
        return 0
    return count


def watch(studio: Studio, minutes: float, pages: int) -> None:
    """Print how much memory is used while many look."""
    memory, halves = [], round(minutes * 2)
    with viewers(studio.address, MANY - pages):
        for half in range(halves + 1):
            memory.append(resident())
            console.print(
                f"memory after {half / 2:.1f} min, {MANY} viewers, {pages} real: {memory[-1]:.0f} MiB"
            )
            if half < halves:
                time.sleep(30.0)
        pace, _, lag, _ = measured(studio, 5.0)
    later = memory[len(memory) // 2 :]
    console.print(f"second half: {max(later) - min(later):.1f} MiB between least and most; pace {pace:.3f}")
    console.print(f"given up in all: {studio.session.lag:.2f} s, lately {lag:.2f} s")


if __name__ == "__main__":
    main()
