"""Every control of the page shows what is so, whatever was done before: one state, rendered."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from made_flight import made
from studio_viewer import Viewer

from skyrig.flight.flight import Flight
from skyrig.scenario import load
from skyrig.studio.app import Studio
from skyrig.studio.engine import BROKEN, COMPILING, ENDED, READY
from skyrig.studio.hands import Hands
from skyrig.studio.readouts import status
from skyrig.studio.tab_hands import NOBODY
from skyrig.studio.tab_scenario import PICK

NAMES = ("three-dragonflies-circle", "three-dragonflies-poke", "drop-open-loop")


def check(viewer: Viewer) -> None:
    """Compare every control with what is so."""
    session, panel, view = viewer.session, viewer.panel, viewer.session.view()
    assert view is not None and session.status in (READY, ENDED, BROKEN)
    hands = session.hands or Hands()
    tab = panel.hands
    assert tab.steer.value == (hands.pose is not None) == (tab._handle is not None)
    if hands.pose is not None:
        np.testing.assert_allclose(tab._handle.position, hands.pose[0])
    weak = hands.share is not None and tab.vehicle.value != NOBODY
    assert tab.share.value == (hands.share[int(tab.vehicle.value)] if weak else 1.0)
    for field, push in ((tab.force, hands.force), (tab.torque, hands.torque)):
        np.testing.assert_array_equal(field.value, np.zeros(3) if push is None else push)
    assert panel.speed.value == f"{session.speed:g}x" and panel.repeat.value == session.repeat
    assert panel.scrub.min == view.span[0] and panel.scrub.max == pytest.approx(
        max(view.span[1], view.span[0] + 0.02)
    )
    assert panel.scrub.value == pytest.approx(float(view.frame.times[0]), abs=0.0101)
    for name, box in panel.view.boxes.items():
        assert box.value == getattr(viewer.studio.look, name)
    check_scenario(viewer, view)
    check_scene(viewer, view)


def check_scenario(viewer: Viewer, view: Any) -> None:
    session, tab = viewer.session, viewer.panel.scenario
    name = session.flight.name if session.flight is not None else session.scenario.name
    assert f">{name}" in viewer.panel.status.content and status(view, name, "").count("status") == 2
    if session.scenario is None:
        assert tab.pick.value == PICK
        return
    assert tab.pick.value == (PICK if session.scenario.text is None else name)
    assert (", changed" in viewer.panel.status.content) == (session.scenario.text is None)
    assert tab.mass.value == session.scenario.parts.payload.mass
    assert tab.count.value == session.scenario.parts.count
    assert tab.motion.value == PICK


def check_scene(viewer: Viewer, view: Any) -> None:
    rig, frame = viewer.studio.rig, view.frame
    assert rig is not None and rig.rig.count == frame.thrust.shape[1]
    for group, poses in frame.bodies.items():
        for node, at, how in zip(rig._bodies[group], poses.position[0], poses.attitude[0], strict=True):
            np.testing.assert_allclose(
                node.position, at, rtol=2e-5, atol=1e-6
            )  # viser leaves out smaller moves
            np.testing.assert_allclose(node.wxyz, how, rtol=2e-5, atol=1e-6)
    shown = [plot.visible for _, _, plot in viewer.studio.charts._plots]
    flown = viewer.session.lately(float(frame.times[0]), 20.0, 240)
    assert any(shown) <= (flown is not None and len(flown) > 1)
    if any(shown):
        assert all(
            np.isfinite(column).all() for _, _, plot in viewer.studio.charts._plots for column in plot.data
        )
    wanted = viewer.studio.path
    if viewer.session.scenario is not None and wanted is not None:
        start = np.asarray(viewer.session.scenario.motions.payload.sample(np.zeros(1)).position)[0, 0]
        np.testing.assert_allclose(wanted[0], start)


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    studio = Studio(port=0)
    yield Viewer(studio)
    studio.close()


@pytest.fixture(scope="module")
def flight() -> Flight:
    return made()


def acts(viewer: Viewer, chance: random.Random, flight: Flight) -> dict[str, Callable[[], None]]:
    """What anybody might do, by name."""
    panel, session = viewer.panel, viewer.session
    hands, scenario = panel.hands, panel.scenario

    def moved() -> None:
        if hands._handle is not None:
            hands._handle.position = np.array([chance.uniform(-1, 1), 0.2, 1.3])
            hands._command()
            viewer.settle()

    def number(field: Any, low: float, high: float) -> None:
        viewer.put(field, round(chance.uniform(low, high), 3))

    def shown() -> None:
        session.show(flight)
        viewer.settle()

    def applied() -> None:
        number(scenario.mass, 0.1, 0.3)
        viewer.press("Apply")

    def templated() -> None:
        viewer.put(scenario.motion, "hover")
        viewer.press("Apply")

    return {
        "play": lambda: viewer.press("Play"),
        "pause": lambda: viewer.press("Pause"),
        "step": lambda: viewer.press("Step"),
        "reset": lambda: viewer.press("Reset"),
        "fly": lambda: viewer.settle(0.1),
        "fly more": lambda: viewer.settle(0.2),
        "undo": lambda: viewer.press("Undo"),
        "speed": lambda: viewer.put(panel.speed, chance.choice(("0.5x", "1x", "5x"))),
        "repeat": lambda: viewer.put(panel.repeat, not panel.repeat.value),
        "scrub": lambda: viewer.put(panel.scrub, round(chance.uniform(panel.scrub.min, panel.scrub.max), 2)),
        "pick": lambda: viewer.put(scenario.pick, chance.choice(NAMES)),
        "apply": applied,
        "template": templated,
        "record": shown,
        "steer": lambda: viewer.put(hands.steer, not hands.steer.value),
        "drag": moved,
        "poke": lambda: viewer.press("Poke"),
        "cut": lambda: viewer.press("Cut"),
        "vehicle": lambda: viewer.put(hands.vehicle, chance.choice(hands.vehicle.options)),
        "weaken": lambda: viewer.put(hands.share, chance.choice((0.7, 0.9, 1.0))),
        "heal": lambda: viewer.press("All back to full"),
        "push": lambda: viewer.put(hands.force, (0.1, 0.0, 0.0)),
        "turn": lambda: viewer.put(hands.torque, (0.0, 0.0, 0.002)),
        "no push": lambda: viewer.press("No push"),
        "look": lambda: viewer.put(chance.choice(list(panel.view.boxes.values())), chance.random() < 0.5),
    }


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_a_walk_of_two_hundred_acts(viewer: Viewer, flight: Flight, seed: int) -> None:
    chance = random.Random(seed)
    viewer.session.open(load(NAMES[0]))
    viewer.settle()
    check(viewer)
    done = []
    known = acts(viewer, chance, flight)
    for _ in range(200):
        done.append(chance.choice(list(known)))
        known[done[-1]]()
        try:
            check(viewer)
        except AssertionError as error:
            raise AssertionError(f"after {done[-6:]}: {error}") from error
    assert viewer.session.branched > 0 and viewer.session.status != COMPILING
