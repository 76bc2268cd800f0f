"""What a page that plays a flight offline holds: the flight, and a second one laid over it."""

import base64
import json
import re
from typing import Any

import numpy as np
import pytest

from skyrig.flight import meshes, playback
from skyrig.flight.flight import FlightEvent
from skyrig.flight.frames import Frames, of_payload
from skyrig.flight.rig import rig_data
from skyrig.scenario import load

RIG = rig_data(load("three-dragonflies-poke").parts)
FOUR = rig_data(load("drop-open-loop").parts)


def frames(times: np.ndarray, east: float, count: int = 3) -> Frames:
    """A rig that climbs by 1 m/s, `east` (m) of the origin."""
    n = len(times)
    place = np.stack([np.full(n, east), np.zeros(n), times], axis=1)
    return of_payload(
        times=times,
        payload=(place, np.tile([1.0, 0, 0, 0], (n, 1))),
        vehicles=(
            np.tile(place[:, None] + [0.0, 0.0, 1.0], (1, count, 1)),
            np.tile([1.0, 0, 0, 0], (n, count, 1)),
        ),
        thrust=np.ones((n, count)),
        signals={
            "cable.tension": np.ones((n, count)),
            "cable.taut": np.ones((n, count), bool),
            "cable.length": np.ones((n, count)),
        },
    )


def recorded(page: str) -> dict[str, Any]:
    """The scene that a page plays."""
    found = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def track(scene: dict[str, Any], name: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(scene["tracks"][name]), "<f4")


def test_a_page_without_an_overlay_has_none() -> None:
    page = playback.page(frames(np.arange(0, 2, 0.1), 0.0), RIG)
    assert "overlay" not in recorded(page) and "overlay-x" not in page.split("<script")[0]


def test_an_overlaid_flight_is_in_the_page_in_violet_by_the_same_clock() -> None:
    first = frames(np.arange(0, 2.01, 0.1), 0.0)
    cut = FlightEvent(1.0, "cut", "cable", 1)
    second = playback.Overlay(frames(np.arange(0, 5, 0.02), 3.0), RIG, (cut,), "<other>")
    page = playback.page(first, RIG, overlay=second)
    scene = recorded(page)
    over = scene["overlay"]
    assert tuple(over["tint"]) == meshes.OVERLAY and over["opacity"] == meshes.OVERLAY_OPACITY
    assert len(over["bodies"]) == 4 and [line["cut"] for line in over["tethers"]] == [None, 1.0, None]
    assert [line["cut"] for line in scene["tethers"]] == [None] * 3
    times = track(over, "times")
    assert times[0] == 0.0 and times[-1] == pytest.approx(2.0, abs=1e-5)  # no more than the clock shows
    places = track(over, "position").reshape(-1, 4, 3)[:, over["main"]]
    np.testing.assert_allclose(places, np.c_[np.full(len(times), 3.0), 0 * times, times], atol=1e-6)
    # both are in view
    np.testing.assert_allclose(scene["box"]["centre"], [1.5, 0.0, 1.5], atol=1e-6)
    assert "overlaid: &lt;other&gt;" in page and "<other>" not in page


@pytest.mark.parametrize(("begin", "end"), [(7.0, 9.0), (0.0, 0.4)])
def test_an_overlay_that_the_clock_misses_stands_still(begin: float, end: float) -> None:
    second = playback.Overlay(frames(np.arange(1.0, 2.01, 0.5), 0.5), RIG)
    over = recorded(playback.page(frames(np.array([begin, end]), 0.0), RIG, overlay=second))["overlay"]
    assert track(over, "times").tolist() == [2.0 if begin > 2 else 1.0]


def test_a_long_overlay_is_thinned_out_and_may_be_another_rig() -> None:
    times = np.linspace(0, 100, 2 * playback.MOST_FRAMES + 1)
    second = playback.Overlay(frames(times, 0.0, FOUR.count), FOUR)
    over = recorded(playback.page(frames(times[::100], 0.0), RIG, overlay=second))["overlay"]
    assert len(over["bodies"]) == 1 + FOUR.count and len(track(over, "times")) <= playback.MOST_FRAMES
