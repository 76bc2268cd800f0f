"""The handle dragged with a real mouse in a real browser: the payload goes where it is dragged."""

from typing import Any

import numpy as np
import pytest
from browser_page import HOVER, Watched, opened

from skyrig.flight.rig import rig_data
from skyrig.scenario import load
from skyrig.studio.camera import FOV, stand, surroundings
from skyrig.studio.live import Live
from skyrig.studio.tab_hands import HANDLE

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FAR = 0.4
"""How far the handle is dragged (m)."""
PLACES = (0.9, 0.8, 0.95, 0.85, 0.75)
"""Where an arrow is grasped, over its length: from one to the next until the handle comes along."""


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


def rest(it: Watched, seconds: float) -> None:
    """Wait until the flight is so much further, and drawn; the page has then heard all that came before."""
    now = it.number("time")
    it.wait("time", f"Number(it) > {now + seconds}")
    it.redraw()


@pytest.fixture
def hovering(studio: str, open_page: Any) -> Watched:
    """A page of a flight that does not come to its end."""
    it = opened(studio, open_page)
    it.tab("Scenario")
    it.field("Other changes", "duration=600")
    it.press("Apply")
    it.wait("name", "it.endsWith('changed')")
    it.ready()
    return it


def test_the_payload_is_pulled_with_the_mouse(hovering: Watched) -> None:
    it = hovering
    it.tab("View")
    it.press("Side")
    it.press("Play")
    rest(it, 0.5)
    sight = Sight(it, "Side")
    body = sight.first.place[0]
    before = it.number("z")
    start, end = sight.pixel(body), sight.pixel(body + [0.0, 0.0, 0.5])
    it.page.mouse.move(*start)
    it.page.keyboard.down("Control")
    it.page.mouse.down()
    it.page.mouse.move(*end, steps=8)
    it.wait("z", f"Number(it) > {before} + 0.06")  # it is held against its controller
    it.shoot("pulled")
    it.page.mouse.up()
    it.page.keyboard.up("Control")
    it.wait("z", f"Math.abs(Number(it) - {before}) < 0.03")
    assert it.complaints == []


def test_the_payload_goes_where_the_handle_is_dragged(hovering: Watched) -> None:
    it = hovering
    it.tab("Hands on")
    it.tick("Hover at the handle")
    it.tab("View")
    it.press("Play")
    rest(it, 0.5)
    sight = Sight(it, "Side")
    handle = sight.first.place[0]
    for axis, name in ((np.array([1.0, 0.0, 0.0]), "x"), (np.array([0.0, 0.0, 1.0]), "z")):
        begin = {each: it.number(each) for each in "xyz"}
        for place in PLACES:
            it.press("Side")  # a drag beside the arrow turns the view instead
            rest(it, 0.7)
            grasp = handle + place * HANDLE * axis
            it.drag(sight.pixel(grasp), sight.pixel(grasp + FAR * axis))
            rest(it, 2.0)
            if abs(it.number(name) - begin[name]) > 0.1:
                break
        rest(it, 6.0)  # it swings for a while
        it.shoot(f"dragged-{name}")
        for each in "xyz":
            moved = FAR if each == name else 0.0
            assert it.number(each) - begin[each] == pytest.approx(moved, abs=0.06)
        handle = handle + FAR * axis
    assert it.complaints == []
