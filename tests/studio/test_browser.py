"""The studio in a real browser: what a person sees and does. Numbers are read off the page itself."""

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_page import ARTEFACTS, HOVER, Watched, opened
from offline import plays_offline
from PIL import Image

from skyrig.flight import Flight
from skyrig.runs import fly
from skyrig.scenario import load
from skyrig.studio.arrows import COLOURS

pytestmark = [pytest.mark.browser, pytest.mark.slow]

KINDS = ("drop-open-loop", "winch-reel-up", "three-mixed-links", "two-dragonflies-bar", "six-dragonflies-box")
"""A point mass, a winch, links, a bar, and a box under another number of cables."""


def test_play_flies_the_payload_along_its_reference(studio: str, open_page: Any) -> None:
    it = opened(studio, open_page, "three-dragonflies-circle")
    it.redraw()
    it.shoot("first-view")
    assert it.number("time") == 0.0 and it.number("x") == pytest.approx(1.0, abs=1e-3)
    it.press("Play")
    it.wait("time", "Number(it) > 4.5")
    it.press("Pause")
    it.wait("status", "it.startsWith('Paused')")
    it.redraw()  # the last numbers may come a moment after the words
    wanted = load("three-dragonflies-circle").motions.payload
    assert wanted is not None
    place = wanted.sample(it.number("time")).position[0]
    # the page's numbers follow five times a second, so they all belong to one drawing
    for k, axis in enumerate("xyz"):
        assert it.number(axis) == pytest.approx(place[k], abs=0.03)
    assert it.number("error") < 20
    it.shoot("circle")
    before = it.number("time")
    it.press("Step")
    it.wait("time", f"Number(it) > {before}")
    assert it.number("time") == pytest.approx(before + 0.01, abs=0.011)
    it.press("Reset")
    it.wait("time", "Number(it) === 0")
    assert it.complaints == []


def test_a_poke_makes_a_cable_slack_and_a_cut_is_seen(studio: str, open_page: Any) -> None:
    it = opened(studio, open_page)
    it.tab("Hands on")
    it.press("Play")
    it.wait("time", "Number(it) > 0.3")
    it.press("Poke")
    it.page.wait_for_selector('[data-readout="log"] [data-event="poke"]', state="attached")
    it.page.wait_for_selector('[data-readout="log"] [data-event="slack"]', state="attached")
    it.shoot("poke")
    it.pick("Cable", "2")
    it.press("Cut")
    it.page.wait_for_selector('[data-readout="log"] [data-event="cut"]', state="attached")
    it.wait("cable-2", "it === 'cut'")
    it.shoot("cut")
    assert it.complaints == []


def test_a_bad_parameter_is_told_and_the_simulation_goes_on(studio: str, open_page: Any) -> None:
    it = opened(studio, open_page)
    it.press("Play")
    it.wait("time", "Number(it) > 0.2")
    it.field("Mass (kg)", "-1")
    it.press("Apply")
    it.wait("message", "it.includes('rig.payload.mass must be above zero, not -1')")
    now = it.number("time")
    it.wait("time", f"Number(it) > {now + 0.5}")
    it.shoot("bad-parameter")
    it.field("Mass (kg)", "0.3")
    it.press("Apply")
    it.wait("message", "it === ''")
    it.wait("time", f"Number(it) < {now}")
    it.wait("tension-0", "Number(it) > 0.95")  # 0.91 N before
    assert it.complaints == []


def test_rigs_of_every_kind_open(studio: str, open_page: Any) -> None:
    it = opened(studio, open_page)
    for name in KINDS:
        it.pick("Scenario", name)
        it.wait("name", f"it === {name!r}")
        count = len(load(name).parts.tethers)
        it.page.wait_for_function(
            f"""() => document.querySelectorAll('[data-readout^="tension-"]').length === {count}"""
        )
        assert it.readout("message") == "" and it.number("z") > -1.0
    assert it.complaints == []


def test_a_recorded_flight_scrubs_and_another_lies_over_it(
    studio: str, open_page: Any, tmp_path: Path, browser: Any
) -> None:
    scenario = load(HOVER).with_overrides({"duration": 3.0})
    flight = fly(scenario)
    file = flight.save(tmp_path / "one")
    heavier = fly(scenario.with_overrides({"rig.payload.mass": 0.24}))
    other = heavier.save(tmp_path / "two")
    it = opened(studio, open_page)
    it.tab("Flights")
    it.field("Or a path", str(file))
    it.press("Open")
    it.page.get_by_text("A recorded flight").first.wait_for(state="attached")
    it.wait("time", "Number(it) === 0")
    slider = it.page.get_by_role("slider").first
    it.page.wait_for_function("() => Number(document.querySelector('[role=slider]').ariaValueMax) > 2.9")
    slider.focus()
    slider.press("End")
    it.wait("time", "Number(it) > 2.9")
    slider.press("Home")
    it.wait("time", "Number(it) === 0")
    it.field("Or a path", str(other))
    it.press("Overlay")
    it.press("Play")
    it.wait("time", "Number(it) > 2.2")
    it.page.wait_for_selector('[data-readout="log"] [data-event="slack"]', state="attached")
    it.shoot("flight")
    with it.page.expect_download() as waiting:
        it.press("Export HTML")
    waiting.value.save_as(tmp_path / "both.html")
    plays_offline(browser, tmp_path / "both.html", "overlaid", heavier)
    it.press("No overlay")
    it.field("Or a path", str(tmp_path / "nowhere"))
    it.press("Open")
    it.wait("message", "it.includes('cannot be read')")
    assert it.complaints == []


def violet(picture: bytes) -> int:
    """How many pixels have nearly the colour of what fingers push with."""
    seen = np.asarray(Image.open(BytesIO(picture)).convert("RGB"), dtype=float)
    return int((np.abs(seen - COLOURS["push"]).max(2) < 30).sum())


def test_pushes_of_fingers_are_seen_when_they_are_asked_for(
    studio: str, open_page: Any, tmp_path: Path
) -> None:
    held = fly(load("soft-grasp").with_overrides({"rig.finger.elements": "rod"})).save(tmp_path / "held")
    it = open_page(studio, device_scale_factor=1)
    it.page.wait_for_selector('[data-readout="name"]', state="attached")
    it.tab("Flights")
    it.field("Or a path", str(held))
    it.press("Open")
    it.page.get_by_text("A recorded flight").first.wait_for(state="attached")
    it.page.wait_for_function("() => Number(document.querySelector('[role=slider]').ariaValueMax) > 4")
    slider = it.page.get_by_role("slider").first
    slider.focus()
    slider.press("End")
    it.wait("time", "Number(it) > 4")
    it.tab("View")
    it.press("Front")
    left, top, wide, high = it.scene()
    scene = {"x": left, "y": top, "width": min(wide, 800), "height": high}
    it.redraw()
    before = violet(it.page.screenshot(clip=scene))
    it.tick("Forces")
    after = before
    for _ in range(50):
        it.redraw()
        after = violet(it.page.screenshot(clip=scene))
        if after > before + 10:
            break
    it.shoot("pushes")
    assert after > before + 10
    it.tick("Forces")
    assert it.complaints == []


def test_the_exported_page_plays_with_the_network_off(
    studio: str, open_page: Any, tmp_path: Path, browser: Any
) -> None:
    it = opened(studio, open_page)
    it.press("Play")
    it.wait("time", "Number(it) > 2.4")
    it.press("Pause")
    it.tab("Flights")
    with it.page.expect_download() as waiting:
        it.press("Export HTML")
    file = tmp_path / "flight.html"
    waiting.value.save_as(file)
    assert "http://" not in file.read_text() and "https://" not in file.read_text()
    plays_offline(browser, file, "exported")
    with it.page.expect_download() as waiting:
        it.press("Save picture")
    waiting.value.save_as(ARTEFACTS / "saved-picture.png")
    assert (ARTEFACTS / "saved-picture.png").read_bytes().startswith(b"\x89PNG")
    before = it.number("time")
    it.field("Film (s)", "0.5")
    it.press("Play")
    with it.page.expect_download() as waiting:
        it.press("Save film")
    waiting.value.save_as(ARTEFACTS / "saved-film.gif")
    assert (ARTEFACTS / "saved-film.gif").read_bytes().startswith(b"GIF89a")
    it.wait("time", f"Number(it) > {before}")  # it flew on meanwhile
    with it.page.expect_download() as waiting:
        it.press("Save flight")
    waiting.value.save_as(tmp_path / "live.npz")
    assert Flight.load(tmp_path / "live.npz").times[-1] > before


def test_viewers_share_one_flight_and_leaving_ends_nothing(studio: str, open_page: Any) -> None:
    one = opened(studio, open_page)
    two = open_page(studio)
    two.ready(HOVER)
    one.tick("Repeat")  # however slow the machine, it does not end while pages open and close
    one.press("Play")
    two.wait("time", "Number(it) > 0.5")
    one.page.close()
    now = two.number("time")
    two.wait("time", f"Math.abs(Number(it) - {now}) > 0.5")
    two.tick("Repeat")
    assert two.complaints == []


def test_a_phone_begins_with_the_panel_folded_and_keeps_the_numbers(
    studio: str, browser: Any, open_page: Any
) -> None:
    opened(studio, open_page)  # whatever was flown before
    page = browser.new_page(viewport={"width": 390, "height": 844}, device_scale_factor=1)
    it = Watched(page)
    page.goto(studio)
    it.ready()
    head, tab = (
        page.get_by_text(re.compile(r"\d\.\d s, error \d+ mm")),
        page.get_by_role("tab", name="Scenario"),
    )
    tab.wait_for(state="hidden")
    it.shoot("phone-folded")
    head.click()
    tab.wait_for()
    assert head.is_visible()
    it.shoot("phone")
    assert it.complaints == []
    page.close()


def test_dark_looks_labels_and_cameras(studio: str, open_page: Any) -> None:
    it = opened(studio, open_page, "six-dragonflies-box")
    it.tab("View")
    it.tick("Dark")
    it.tick("Tensions at the cables")
    it.tick("Follow the payload")
    it.press("Front")
    it.press("Play")
    it.wait("time", "Number(it) > 3")
    it.shoot("dark")
    it.tick("Dark")
    it.tick("Tensions at the cables")
    assert it.complaints == []
