"""What goes wrong in ordinary use of other studios, tried in a real browser: one short test for each."""

from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from browser_page import HOVER, PATIENCE, Watched, opened
from PIL import Image

from skyrig.flight.rig import rig_data
from skyrig.scenario import Scenario, load
from skyrig.studio.camera import FOV
from skyrig.studio.live import Live

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WINDOWS = ((1280, 800), (1920, 1080), (3840, 2160), (390, 844))
"""Width and height: a laptop's, a desk's, a large one, and a phone's."""

CRASH = """duration=20
reference={type: hover, start: [0.0, 0.0, 0.03], duration: 20.0}
happenings=[{type: poke, time: 0.3, impulse: [0.0, 0.0, -2.0], point: [0.0, 0.0, 0.0]}]"""
"""A load just above the ground is poked down."""


def picture(it: Watched) -> np.ndarray:
    """The scene on the page, without what its library says of graphics cards, (height, width, 3)."""
    it.page.bring_to_front()  # what is behind another page may not be painted
    it.page.add_style_tag(content=".mantine-Notifications-root { display: none }")
    it.redraw()
    left, top, wide, high = it.scene()
    clip = {"x": left, "y": top, "width": wide, "height": high}
    shot = it.page.screenshot(clip=clip, timeout=PATIENCE)
    return np.asarray(Image.open(BytesIO(shot)).convert("RGB"), float)


def begun(studio: str, open_page: Any, changes: str = "") -> Watched:
    """A page of the hovering team with changes, one a line."""
    it = opened(studio, open_page)
    if changes:
        it.field("Other changes", changes)
        it.press("Apply")
        it.wait("name", "it.endsWith('changed')")
        it.ready()
    return it


def slide(it: Watched, key: str) -> None:
    """Press a key at the slider of time."""
    slider = it.page.get_by_role("slider").first
    slider.focus()
    slider.press(key)


def test_another_scenario_is_drawn_as_a_new_page_draws_it(studio: str, open_page: Any) -> None:
    # a page that was slow for a while draws more coarsely from then on, unless it is told how finely
    studio = f"{studio}/?fixedDpr=0.5"
    old = opened(studio, open_page, "three-dragonflies-circle")
    old.press("Play")
    old.wait("time", "Number(it) > 3")  # all lean by now
    old.pick("Scenario", HOVER)
    old.ready(HOVER)
    old.wait("time", "Number(it) === 0")
    new = open_page(studio)
    new.ready(HOVER)
    apart = 255.0
    for _ in range(20):
        apart = min(apart, np.abs(picture(old) - picture(new)).mean())
        if apart > 0.5:  # pages fade in
            new.page.wait_for_timeout(500)
    old.shoot("another-scenario")
    new.shoot("another-scenario-anew")
    assert apart < 0.5
    assert old.complaints == new.complaints == []
    new.page.close()


def test_ends_and_crashes_are_said_and_one_goes_back(studio: str, open_page: Any) -> None:
    it = begun(studio, open_page, "duration=0.3\nhappenings=[]")
    it.press("Play")
    it.wait("status", "it.includes('The scenario')")
    assert it.number("time") == pytest.approx(0.3)
    it.press("Play")
    it.wait("time", "Number(it) > 0.6")  # flown on
    it.tick("Solid floor")
    it.field("Other changes", CRASH)
    it.press("Apply")  # it plays already
    it.wait("verdict", "it.startsWith('Crashed') && it.includes('Drag the time back')")
    it.shoot("verdict")
    slide(it, "Home")
    it.page.wait_for_selector('[data-readout="verdict"]', state="detached")
    it.press("Step")
    it.wait("time", "Number(it) > 0 && Number(it) < 0.1")
    assert it.readout("status").startswith("Paused")
    assert it.complaints == []


def test_nothing_that_is_pressed_does_nothing(studio: str, open_page: Any) -> None:
    it = begun(studio, open_page, "duration=60")
    it.tab("Hands on")
    it.press("Poke")
    it.wait("status", "it.includes('1 to be done then')")
    it.pick("Cable", "1")
    it.press("Play")
    it.press("Cut")
    it.wait("cable-1", "it === 'cut'")
    it.press("Cut")
    it.wait("message", "it === 'Cable 1 is cut already.'")
    it.press("Undo")
    it.wait("cable-1", "it !== 'cut'")
    assert it.readout("message") == ""
    it.tab("Scenario")
    mass = it.box("Mass (kg)").input_value()
    it.field("Mass (kg)", "")
    assert it.box("Mass (kg)").input_value() == mass
    it.pick("Scenario", HOVER)  # again
    it.wait("name", f"it === {HOVER!r}")
    it.ready()
    assert it.number("time") == 0.0
    assert it.complaints == []


def test_one_goes_on_from_any_moment_and_takes_back(studio: str, open_page: Any) -> None:
    it = begun(studio, open_page, "duration=60")
    it.press("Play")
    it.wait("time", "Number(it) > 2.2")  # the scenario's poke is over
    it.press("Pause")
    it.wait("status", "it.startsWith('Paused')")
    slide(it, "Home")
    it.wait("time", "Number(it) === 0")
    it.press("Step")
    it.wait("time", "Number(it) > 0 && Number(it) < 0.1")
    most = "Number(document.querySelector('[role=slider]').ariaValueMax)"
    it.page.wait_for_function(f"() => {most} < 0.1")  # what came later is forgotten
    assert it.page.locator('[data-readout="log"] [data-event="poke"]').count() == 0
    it.tab("Hands on")
    it.press("Poke")
    it.press("Step")
    it.page.wait_for_selector('[data-readout="log"] [data-event="poke"]', state="attached")
    it.press("Undo")
    it.page.wait_for_selector('[data-readout="log"] [data-event="poke"]', state="detached")
    assert it.complaints == []


def test_any_signal_is_plotted_with_values_at_a_cursor(studio: str, open_page: Any) -> None:
    it = begun(studio, open_page)
    it.press("Play")
    it.wait("time", "Number(it) > 1")
    it.press("Pause")
    it.page.get_by_text("Choose plots").click()
    it.page.get_by_text("Leave out", exact=True).wait_for()
    it.pick("Plot", "Vehicle 1, attitude")
    plot = it.page.locator(".uplot", has_text="Vehicle 1, attitude (deg)")
    plot.scroll_into_view_if_needed()
    plot.locator(".u-over").hover()
    values = plot.locator(".u-value").all_inner_texts()
    assert len(values) >= 4 and all(float(text) == float(text) for text in values[:4])
    it.shoot("signals")
    it.press("The usual plots")
    it.page.locator(".uplot", has_text="Vehicle 1").wait_for(state="detached")
    assert it.complaints == []


def test_a_changed_scenario_is_taken_away_and_films_are_mp4(
    studio: str, open_page: Any, tmp_path: Path
) -> None:
    it = begun(studio, open_page, "duration=600")
    it.tab("Flights")
    with it.page.expect_download() as waiting:
        it.press("Save scenario")
    waiting.value.save_as(tmp_path / "kept.yaml")
    assert Scenario.load(tmp_path / "kept.yaml").duration == 600.0
    it.press("Play")
    it.wait("time", "Number(it) > 0.6")
    it.field("Film (s)", "0.5")
    it.pick("Film as", "MP4")
    with it.page.expect_download() as waiting:
        it.press("Save film")
    waiting.value.save_as(tmp_path / "film.mp4")
    assert b"ftyp" in (tmp_path / "film.mp4").read_bytes()[:16]
    it.wait("status", "it.startsWith('Playing')")  # all the while
    it.pick("Film as", "GIF")
    assert it.complaints == []


def test_the_first_view_fits_every_window(studio: str, open_page: Any, browser: Any) -> None:
    opened(studio, open_page).page.close()
    for wide, high in WINDOWS:
        page = browser.new_page(
            viewport={"width": wide, "height": high}, device_scale_factor=min(1.0, 1000 / wide)
        )
        it = Watched(page)
        page.goto(studio)
        it.ready()
        left, top, width, height = it.scene()
        assert left >= 0 and top >= 0 and left + width <= wide + 1 and top + height <= high + 1
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        it.shoot(f"window-{wide}")
        if wide < 500:
            page.get_by_text("error").first.click()  # a phone's panel is folded
        it.tab("Flights")
        it.press("Copy link")
        told = parse_qs(urlsplit(page.locator('[data-readout="copy"]').input_value()).query)
        eye, centre = (
            np.array([float(it) for it in told[f"initialCamera{name}"][0].split(",")])
            for name in ("Position", "LookAt")
        )
        seen = across(corners(), eye, centre, width / height)
        assert np.abs(seen).max() < 1.0  # all of the rig
        assert np.ptp(seen, axis=0).max() > 0.35  # and large
        assert it.complaints == []
        page.close()


def corners() -> np.ndarray:
    """Corners of a box around the hovering rig at its start (m)."""
    scenario = load(HOVER)
    frame, rig = Live(scenario.build()).start(), rig_data(scenario.parts)
    places = np.concatenate([it.position[0] for it in frame.bodies.values()])
    low, high = places.min(0) - rig.vehicle_radius.max(), places.max(0) + rig.vehicle_radius.max()
    return np.stack(np.meshgrid(*np.stack([low, high], axis=1)), axis=-1).reshape(-1, 3)


def across(points: np.ndarray, eye: np.ndarray, centre: np.ndarray, shape: float) -> np.ndarray:
    """Where points (m) are seen: across and up, from -1 to 1 inside the picture."""
    ahead = (centre - eye) / np.linalg.norm(centre - eye)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right = right / np.linalg.norm(right)
    way = points - eye
    scale = 1 / np.tan(FOV / 2) / (way @ ahead)
    return np.stack([scale * (way @ right) / shape, scale * (way @ np.cross(right, ahead))], axis=1)
