"""Keys, links and the mouse in a real browser: what they do is read off the page itself.

Each test begins with a flight of its own that does not come to its end, paused at its start.
"""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from browser_page import HOVER, Watched, opened

from skyrig.flight.rig import rig_data
from skyrig.scenario import load
from skyrig.studio.camera import FOV, stand, surroundings
from skyrig.studio.live import Live

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def hovering(studio: str, open_page: Any) -> Watched:
    it = opened(studio, open_page)
    it.field("Other changes", "duration=600\nhappenings=[]")
    it.press("Apply")
    it.wait("name", "it.endsWith('changed')")
    it.ready()
    it.wait("time", "Number(it) === 0")
    return it


def leave_fields(it: Watched) -> None:
    """Take the keys from whatever has them: a field that one types in keeps its own."""
    it.page.bring_to_front()
    it.page.evaluate("document.activeElement.blur()")


def looking_from(it: Watched) -> tuple[dict[str, str], str]:
    """What a link says of what the page shows, and the link."""
    it.tab("Flights")
    box = it.page.locator('[data-readout="copy"]')
    # a link that stood there before is not read: something else stands there in between
    for button, is_link in (("Copy scenario", "false"), ("Copy link", "true")):
        it.press(button)
        shown = "document.querySelector('[data-readout=copy]')?.value ?? ''"
        it.page.wait_for_function(f"() => ({shown}) && ({shown}).startsWith('http') === {is_link}")
    link = box.input_value()
    return {name: values[-1] for name, values in parse_qs(urlsplit(link).query).items()}, link


def test_keys_play_look_back_reset_and_follow(hovering: Watched) -> None:
    it = hovering
    keys = it.page.keyboard
    leave_fields(it)
    keys.press("Space")
    it.wait("time", "Number(it) > 0.5")
    leave_fields(it)
    keys.press("Space")
    it.wait("status", "it.startsWith('Paused')")
    most = float(it.page.get_by_role("slider").first.get_attribute("aria-valuemax") or 0)
    keys.press("ArrowLeft")
    it.wait("status", "it.startsWith('Looking back')")
    keys.press("ArrowLeft")
    it.wait("time", f"Number(it) < {most} - 0.15 && Number(it) > {most} - 0.5")
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    it.wait("status", "it.startsWith('Paused')")  # at the present again
    keys.press("ArrowRight")  # past it, one control period is flown
    it.wait("time", f"Number(it) > {most}")
    it.tab("View")
    follows = it.box("Follow the payload")
    assert not follows.is_checked()
    leave_fields(it)
    keys.press("f")
    it.page.wait_for_function("box => box.checked", arg=follows)
    keys.press("f")
    it.page.wait_for_function("box => !box.checked", arg=follows)
    keys.press("r")
    it.wait("time", "Number(it) === 0")
    assert it.complaints == []


def test_a_link_opens_the_same_in_a_new_page(hovering: Watched, open_page: Any, studio: str) -> None:
    it = hovering
    it.page.get_by_text("Choose plots").click()
    it.page.get_by_text("Leave out", exact=True).wait_for()
    it.press("The usual plots")
    it.page.locator(".uplot", has_text="Vehicle 1").wait_for(state="detached")
    it.pick("Plot", "Vehicle 1, attitude")
    it.tab("View")
    if not it.box("Forces").is_checked():
        it.tick("Forces")
    it.press("Side")
    leave_fields(it)
    it.page.keyboard.press("Space")
    it.wait("time", "Number(it) > 0.3")
    leave_fields(it)
    it.page.keyboard.press("Space")
    it.wait("status", "it.startsWith('Paused')")
    it.redraw()
    told, link = looking_from(it)
    it.wait("time", f"Math.abs(Number(it) - {told['t']}) < 0.011")
    opened(studio, open_page, "drop-open-loop").page.close()  # now it shows something else
    new = open_page(link)
    new.wait("name", "it.startsWith('three-dragonflies-poke')")
    new.ready()
    new.wait("time", f"Math.abs(Number(it) - {told['t']}) < 0.011")
    new.page.locator(".uplot", has_text="Vehicle 1").wait_for(state="attached")
    new.tab("View")
    assert new.box("Forces").is_checked()
    again, _ = looking_from(new)
    assert places(again) == pytest.approx(places(told), abs=0.01)
    rest = [{name: it[name] for name in it if name != "t" and "Camera" not in name} for it in (again, told)]
    assert rest[0] == rest[1]
    new.page.wait_for_function("() => location.search === ''")  # coming again begins nothing anew
    new.tab("View")
    new.tick("Forces")
    assert it.complaints == new.complaints == []


def places(told: dict[str, str]) -> np.ndarray:
    """Where a link looks from, and at what (m)."""
    both = (told[f"initialCamera{name}"].split(",") for name in ("Position", "LookAt"))
    return np.array([float(number) for it in both for number in it])


def test_the_payload_is_pulled_with_the_mouse(hovering: Watched) -> None:
    it = hovering
    it.tab("View")
    it.press("Side")
    sight = Sight(it, "Side")
    assert seen_from(it) == pytest.approx(sight.eye, abs=0.01)
    it.tab("View")
    it.press("Play")
    it.wait("time", "Number(it) > 0.2")
    body = sight.first.place[0]
    before = it.number("x")
    start, end = sight.pixel(body), sight.pixel(body + [0.2, 0.0, 0.0])
    it.redraw()
    it.page.mouse.move(*start)
    it.page.keyboard.down("Control")
    it.page.mouse.down()
    it.page.mouse.move(*end, steps=8)
    it.wait("x", f"Number(it) > {before} + 0.03")  # it is held against its controller
    it.shoot("pulled")
    it.page.mouse.up()
    it.page.keyboard.up("Control")
    it.wait("x", f"Number(it) < {before} - 0.03")  # let go, it is driven back past where it was
    assert seen_from(it) == pytest.approx(sight.eye, abs=0.01)  # the view was not turned
    assert it.complaints == []


def seen_from(it: Watched) -> np.ndarray:
    """Where the page's camera is, once the studio has heard of it (m)."""
    it.redraw()
    told, _ = looking_from(it)
    return np.array([float(part) for part in told["initialCameraPosition"].split(",")])


class Sight:
    """Where points of the world are on a page whose camera stands at a preset."""

    def __init__(self, it: Watched, preset: str) -> None:
        scenario = load(HOVER)
        self.box = it.scene()
        self.first = Live(scenario.build()).start()
        centre, size = surroundings(self.first, rig_data(scenario.parts), None)
        self.eye = stand(preset, centre, size, self.box[2] / self.box[3])
        self.ahead = (centre - self.eye) / np.linalg.norm(centre - self.eye)

    def pixel(self, point: np.ndarray) -> tuple[float, float]:
        """Where on the page a point (m) is seen (pixels)."""
        left, top, wide, high = self.box
        right = np.cross(self.ahead, [0.0, 0.0, 1.0])
        right = right / np.linalg.norm(right)
        way = point - self.eye
        scale = high / 2 / np.tan(FOV / 2) / (way @ self.ahead)
        across, down = scale * (way @ right), -scale * (way @ np.cross(right, self.ahead))
        return left + wide / 2 + float(across), top + high / 2 + float(down)
