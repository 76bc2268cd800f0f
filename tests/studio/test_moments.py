"""Ends, crashes, and going on from an earlier moment."""

from collections.abc import Iterator

import msgspec
import numpy as np
import pytest
from made_flight import made
from studio_viewer import Viewer

from skyrig.runs import fly
from skyrig.scenario import load
from skyrig.studio.app import Studio
from skyrig.studio.readouts import status

HOVER = load("three-dragonflies-poke")


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    studio = Studio(port=0)
    yield Viewer(studio)
    studio.close()


def opened(viewer: Viewer, **changes: object) -> Viewer:
    viewer.session.open(HOVER.with_overrides({"happenings": [], **changes}))
    viewer.settle()
    return viewer


def flown(viewer: Viewer, seconds: float) -> None:
    viewer.press("Play")
    for _ in range(round(seconds / 0.1)):
        viewer.settle(0.1)


def now(viewer: Viewer) -> float:
    view = viewer.session.view()
    assert view is not None
    return float(view.frame.times[0])


def words(viewer: Viewer) -> str:
    return status(viewer.session.view(), "name", "about")


def test_the_end_stops_the_flight_and_play_flies_on(viewer: Viewer) -> None:
    opened(viewer, duration=0.3)
    flown(viewer, 0.6)
    assert now(viewer) == pytest.approx(0.3) and not viewer.session.playing
    assert "end" in words(viewer)
    flown(viewer, 0.2)
    assert now(viewer) == pytest.approx(0.5) and viewer.session.playing
    viewer.press("Reset")
    viewer.put(viewer.panel.repeat, True)
    flown(viewer, 0.5)
    assert now(viewer) < 0.3 and viewer.session.playing
    viewer.put(viewer.panel.repeat, False)


def test_an_open_loop_begins_anew_at_its_end(viewer: Viewer) -> None:
    viewer.session.open(load("drop-open-loop"))
    viewer.settle()
    flown(viewer, 1.0)
    assert now(viewer) == pytest.approx(0.6) and "end" in words(viewer)
    assert "begin anew" in viewer.press("Step")
    viewer.press("Play")
    assert now(viewer) < 0.1 and viewer.session.playing


def test_a_crash_is_said_once_and_one_goes_back_to_before(viewer: Viewer) -> None:
    opened(viewer, duration=20.0)
    for vehicle in "012":
        viewer.put(viewer.panel.hands.vehicle, vehicle)
        viewer.put(viewer.panel.hands.share, 0.0)
    flown(viewer, 2.0)
    verdict = viewer.session.verdict
    assert verdict is not None and verdict.word in ("crashed", "collided") and not viewer.session.playing
    assert verdict.time is not None and now(viewer) == pytest.approx(verdict.time, abs=0.05)
    assert verdict.reason.split(" at t")[0] in words(viewer) and "Drag the time back" in words(viewer)
    viewer.put(viewer.panel.scrub, round(verdict.time - 0.3, 2))
    assert verdict.reason.split(" at t")[0] not in words(viewer)
    viewer.press("Step")
    assert viewer.session.verdict is None and now(viewer) == pytest.approx(verdict.time - 0.3, abs=0.06)
    flown(viewer, 1.0)
    again = viewer.session.verdict
    assert again is not None and again.time is not None
    assert again.time == pytest.approx(verdict.time, abs=0.05)
    flown(viewer, 0.2)  # who plays on has seen it
    assert now(viewer) > again.time + 0.1


def test_a_branch_is_the_same_flight_until_something_else_is_done(viewer: Viewer) -> None:
    opened(viewer, **{"noise.position": 0.002, "duration": 20.0})
    flown(viewer, 1.0)
    viewer.press("Pause")
    frames = viewer.session.lately(1.0, 1.0, 1000)
    assert frames is not None
    viewer.put(viewer.panel.scrub, 0.5)
    flown(viewer, 0.5)
    viewer.press("Pause")
    again = viewer.session.lately(1.0, 1.0, 1000)
    assert again is not None and viewer.session.branched > 0
    common = np.intersect1d(frames.times, again.times)
    assert len(common) > 20 and common[-1] > 0.9
    for one, other in zip(frames.bodies.values(), again.bodies.values(), strict=True):
        a, b = (it.position[np.isin(run.times, common)] for it, run in ((one, frames), (other, again)))
        np.testing.assert_array_equal(a, b)


def test_undo_takes_a_poke_and_a_cut_back(viewer: Viewer) -> None:
    opened(viewer, duration=20.0)
    assert "could be taken back" in viewer.press("Undo")
    flown(viewer, 0.4)
    viewer.press("Pause")
    before = now(viewer)
    viewer.press("Poke")
    assert "1 to be done then" in words(viewer)
    viewer.press("Step")
    assert [it.kind for it in viewer.session.events].count("poke") == 1
    viewer.press("Cut")
    viewer.press("Step")
    assert viewer.press("Cut") == "Cable 0 is cut already."
    viewer.press("Undo")
    assert [it.kind for it in viewer.session.events].count("cut") == 0
    viewer.press("Undo")
    assert now(viewer) == pytest.approx(before)
    assert {it.kind for it in viewer.session.events} == {"taut"}
    viewer.put(viewer.panel.hands.force, (0.2, 0.0, 0.0))
    viewer.press("Undo")
    assert viewer.session.hands is not None and viewer.session.hands.force is None
    assert tuple(viewer.panel.hands.force.value) == (0.0, 0.0, 0.0)


def test_a_recording_that_holds_its_scenario_is_flown_again_by_apply(viewer: Viewer) -> None:
    viewer.session.show(fly(load("drop-open-loop").with_overrides({"duration": 0.2})))
    viewer.settle()
    viewer.put(viewer.panel.scenario.mass, 0.05)
    assert viewer.press("Apply") == ""
    assert viewer.session.flight is None and viewer.session.scenario is not None
    assert viewer.session.scenario.parts.payload.mass == 0.05
    viewer.session.show(made())
    viewer.settle()
    assert "no scenario to change" in viewer.press("Apply")


def test_what_a_field_does_not_take_is_taken_back_on_the_page(viewer: Viewer) -> None:
    sent = []
    viewer.panel.mirror._send = sent.append
    opened(viewer)
    share = viewer.panel.hands.share
    message = {"type": "GuiUpdateMessage", "uuid": share._impl.uuid, "updates": {"value": float("nan")}}
    assert viewer.studio.inbox.look(msgspec.msgpack.encode(message)) is None
    assert sent == [share] and "finite" in viewer.session.message
