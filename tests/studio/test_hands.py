"""Hands on a live flight without a browser: what the panel's widgets ask of the simulation."""

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from waiting import until

from skyrig.runs import fly
from skyrig.scenario import load
from skyrig.studio.app import Studio
from skyrig.studio.readouts import log, message, numbers, status

HOVER = "three-dragonflies-poke"
SOMEBODY: Any = SimpleNamespace(client=SimpleNamespace(), client_id=0)


@pytest.fixture(scope="module")
def studio() -> Iterator[Studio]:
    made = Studio(port=0)
    made.begin()
    yield made
    made.close()


@pytest.fixture
def flying(studio: Studio) -> Studio:
    studio.open(HOVER)
    until(lambda: studio.session.status == "ready" and studio.shown is not None)
    return studio


def press(studio: Studio, action: Any) -> str:
    """Do as a viewer's click does; what the page says about it."""
    studio.panel.trying(action)(SOMEBODY)
    return studio.session.message


def test_the_handle_moves_the_wanted_pose(flying: Studio) -> None:
    hands = flying.panel.hands
    hands.steer.value = True
    assert press(flying, hands._steer) == ""
    until(lambda: hands._handle is not None)
    hands._handle.position = (0.4, 0.1, 1.6)
    hands._command()
    now = flying.session.hands
    assert now is not None and now.pose is not None
    np.testing.assert_allclose(now.pose[0], [0.4, 0.1, 1.6])
    flying.session.skip(2.0)
    until(lambda: not flying.session.skipping)
    view = flying.session.view()
    assert view is not None and view.frame.wanted_position is not None
    np.testing.assert_allclose(view.frame.wanted_position[0], [0.4, 0.1, 1.6])
    assert view.frame.place[0, 0] > 0.1
    hands.steer.value = False
    assert press(flying, hands._steer) == ""
    until(lambda: hands._handle is None)
    assert flying.session.hands is not None and flying.session.hands.pose is None


def test_pushes_and_weak_rotors_last_until_they_are_taken_back(flying: Studio) -> None:
    hands = flying.panel.hands
    hands.vehicle.value, hands.share.value = "1", 0.7
    hands.force.value = (0.1, 0.0, 0.0)
    assert press(flying, hands._weaken) == press(flying, hands._push) == ""
    now = flying.session.hands
    assert now is not None and now.share is not None and now.force is not None
    np.testing.assert_allclose(now.share, [1.0, 0.7, 1.0])
    assert now.force[0] == pytest.approx(0.1)
    press(flying, hands._heal)
    press(flying, hands._stop)
    now = flying.session.hands
    assert now is not None and now.share is None and now.force is None


def test_what_cannot_be_touched_is_said(flying: Studio) -> None:
    hands = flying.panel.hands
    hands.impulse.value = (0.0, 0.0, 0.0)
    assert press(flying, hands._poke) == "The impulse must not be zero (N s)."
    hands.impulse.value = (0.0, 0.0, 0.08)
    assert press(flying, hands._poke) == ""
    flying.session.show(fly(load("drop-open-loop")))
    assert "open a scenario first" in press(flying, hands._cut)
    assert press(flying, lambda event: flying.open("nothing-like-it")).startswith(
        "'nothing-like-it' is neither"
    )


def test_a_recorded_flight_has_a_clock_of_its_own(studio: Studio) -> None:
    flight = fly(load("drop-open-loop"))
    studio.session.show(flight)
    studio.overlay(flight)
    studio.session.scrub(0.3)
    view = studio.session.view()
    assert view is not None and view.frame.times[0] == pytest.approx(0.3, abs=0.02)
    studio.session.step()
    later = studio.session.view()
    assert later is not None and later.frame.times[0] > view.frame.times[0]
    studio.session.play()
    until(lambda: not studio.session.playing)
    last = studio.session.view()
    assert last is not None and last.frame.times[0] == pytest.approx(0.6)
    drawn = studio.drawn
    until(lambda: studio.drawn > drawn + 3)
    studio.overlay(None)


def test_texts_of_the_page_are_escaped(flying: Studio) -> None:
    view = flying.session.view()
    assert view is not None
    words = [
        status(view, "<b>", "<i>"),
        message("<script>"),
        numbers(view, flying.shown, {0}),
        log(flying.session.events),
    ]
    assert not any("<b>" in text or "<i>" in text or "<script>" in text for text in words)
    assert "cut" in words[2]


def test_a_zero_has_no_minus(flying: Studio) -> None:
    view = flying.session.view()
    assert view is not None
    poses = view.frame.bodies["payload"]._replace(position=np.array([[[-1e-5, -0.0006, 1.5]]]))
    frame = replace(view.frame, bodies={**view.frame.bodies, "payload": poses})
    text = numbers(replace(view, frame=frame), flying.shown, set())
    assert ">0.000<" in text and ">-0.001<" in text and "-0.000" not in text


def test_every_single_step_is_seen(flying: Studio) -> None:
    for tick in range(1, 6):
        flying.session.step()
        until(lambda: not flying.session.skipping)
        view = flying.session.view()
        assert view is not None and view.span[1] == view.frame.times[0] == pytest.approx(tick / 100)
