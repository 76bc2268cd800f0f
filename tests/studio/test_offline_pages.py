"""Reports and players in a real browser: pages of their own, without a studio or a network."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_page import HOVER, PATIENCE, Watched
from made_anything import made_anything
from offline import plays_offline
from PIL import Image

from skyrig.flight import playback
from skyrig.flight.frames import of_flight
from skyrig.flight.report import write_report
from skyrig.runs import fly
from skyrig.scenario import load

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of the poked team."""
    flight = fly(load(HOVER).with_overrides({"duration": 3.0}))
    return write_report(flight, tmp_path_factory.mktemp("report") / "report.html")


def test_the_report_plays_with_the_network_off(browser: Any, report: Path) -> None:
    plays_offline(browser, report, "report")


def test_the_report_prints_a_light_still_in_place_of_the_player(browser: Any, report: Path) -> None:
    context = browser.new_context(color_scheme="dark", viewport={"width": 1100, "height": 800})
    it = Watched(context.new_page())
    it.page.goto(report.as_uri())
    it.wait("time", "it === '0.00'")
    canvas, bar = it.page.locator(".player canvas:visible"), it.page.locator(".player .bar")
    looks = []
    for event in ("afterprint", "beforeprint", "afterprint"):
        it.page.evaluate("it => dispatchEvent(new Event(it))", event)
        it.redraw()
        looks.append(float(np.mean(Image.open(BytesIO(canvas.screenshot(timeout=PATIENCE))).convert("L"))))
    assert looks[0] < 90 and looks[1] > 180 and looks[2] < 90
    assert bar.is_visible()
    it.page.emulate_media(media="print")
    assert not bar.is_visible() and canvas.is_visible()
    shape = "document.querySelector('canvas')"
    assert it.page.evaluate(f"getComputedStyle({shape}).objectFit") == "contain"  # as it was, not stretched
    described = [image.get_attribute("alt") for image in it.page.locator("img").all()]
    assert described and all(len(text) > 15 for text in described)
    assert it.page.pdf().startswith(b"%PDF")
    assert it.complaints == []
    context.close()


def test_a_rig_that_nobody_knows_plays_offline(browser: Any, tmp_path: Path) -> None:
    flight = made_anything()
    file = tmp_path / "anything.html"
    file.write_text(playback.page(of_flight(flight, 30.0), flight.rig, flight.events, "anything"))
    context = browser.new_context(offline=True, viewport={"width": 900, "height": 600})
    it = Watched(context.new_page())
    it.page.goto(file.as_uri())
    it.wait("band-1", "it.includes('2.00 N')")
    still = it.page.locator("canvas").screenshot(timeout=PATIENCE)
    it.page.evaluate(
        """() => { const s = document.querySelector('[data-player="time"]'); s.value = 1.5;
        s.dispatchEvent(new Event('input')); }"""
    )
    it.wait("time", "it === '1.50'")
    it.wait("band-1", "it.includes('cut')")
    it.wait("band-0", "it.includes('3.50 N')")
    assert it.number("z") == pytest.approx(1.15, abs=2e-3)
    assert it.page.locator("canvas").screenshot(timeout=PATIENCE) != still
    it.shoot("anything")
    assert it.complaints == []
    context.close()
