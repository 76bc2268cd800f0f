"""What is kept of a live flight, plotted, overlaid, linked to and pulled at; without a browser."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from made_flight import made
from studio_viewer import Viewer

from skyrig.errors import InputError
from skyrig.flight import Flight
from skyrig.flight.frames import of_flight
from skyrig.runs import fly
from skyrig.scenario import load
from skyrig.studio import links
from skyrig.studio.app import Studio
from skyrig.studio.hands import Hands, Pull
from skyrig.studio.live import Live
from skyrig.studio.traces import rates, traces

POKED = load("three-dragonflies-poke").with_overrides({"duration": 2.4})


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    studio = Studio(port=0, folders=[tmp_path_factory.mktemp("flights")])
    yield Viewer(studio)
    studio.close()


@pytest.fixture
def flown(viewer: Viewer) -> Flight:
    """All of the scenario, flown in the studio, whatever was there before."""
    viewer.session.open(POKED, until=2.4)
    viewer.settle()
    assert viewer.session.view().frame.times[0] == pytest.approx(2.4)
    return viewer.session.flown()


def now(viewer: Viewer) -> float:
    view = viewer.session.view()
    assert view is not None
    return float(view.frame.times[0])


@pytest.mark.slow
def test_a_live_flight_is_saved_as_fly_records_it(flown: Flight, tmp_path: Path) -> None:
    asked = fly(POKED)
    at = np.searchsorted(asked.times, flown.times - 1e-9)
    np.testing.assert_allclose(asked.times[at], flown.times, atol=1e-12)
    early = flown.times <= 1.9  # before the poke, after which rounding grows
    for group, track in flown.bodies.items():
        for mine, theirs in zip(vars(track).values(), vars(asked.bodies[group]).values(), strict=True):
            np.testing.assert_allclose(mine[early], theirs[at][early], atol=1e-9)
    assert flown.payload.position[-1] == pytest.approx(asked.payload.position[-1], abs=5e-3)
    assert [(it.kind, it.index) for it in flown.events] == [(it.kind, it.index) for it in asked.events]
    assert len(flown.impacts) == len(asked.impacts) > 0
    np.testing.assert_array_equal(flown.inputs.times, asked.inputs.times)
    assert set(flown.signals) == set(asked.signals) and flown.verdict == asked.verdict
    again = Flight.load(flown.save(tmp_path))
    np.testing.assert_array_equal(again.payload.position, flown.payload.position)
    assert again.scenario == asked.scenario


@pytest.mark.slow
def test_only_what_was_flown_up_to_the_moment_shown_is_kept(viewer: Viewer, flown: Flight) -> None:
    viewer.session.scrub(1.0)
    kept = viewer.session.flown()
    assert kept.times[-1] == pytest.approx(1.0, abs=0.05) and kept.times[0] == 0.0
    viewer.session.step()  # from there on it is another flight
    viewer.settle()
    assert viewer.session.flown().times[-1] == pytest.approx(kept.times[-1] + 0.01, abs=0.005)
    viewer.press("Overlay what was flown")
    assert [it.name for it in viewer.studio.overlays] == [POKED.name]
    viewer.press("No overlay")


@pytest.mark.slow
def test_any_signal_of_any_body_is_plotted_with_events_and_others_beside(
    viewer: Viewer, flown: Flight
) -> None:
    studio, signals = viewer.studio, viewer.panel.signals
    viewer.put(signals.more, "Vehicle 1, attitude")
    viewer.put(signals.more, "Thrust")
    assert studio.plotted[:2] == ("Thrust", "Vehicle 1, attitude") and "Tracking error" in studio.plotted
    viewer.put(signals.less, "Heights")
    assert "Heights" not in studio.plotted and "Heights" in signals.more.options
    for _ in range(2):
        studio.overlay(flown)
    viewer.settle()
    plots = {plot.title: plot for _, _, plot in studio.charts._plots}
    thrust = plots["Thrust (N)"]
    labels = [it["label"] for it in thrust.series]
    assert labels[:4] == ["t (s)", "0", "1", "2"] and labels[-2] == "events"
    assert sum(POKED.name in it for it in labels) == 6  # of two others, three vehicles each
    assert {tuple(it.get("dash", ())) for it in thrust.series} == {(), (4, 3), (1, 3)}
    times, spikes = thrust.data[0], thrust.data[-2]
    marked = times[spikes > spikes.min() + 1e-12]
    assert {round(it.time, 6) for it in viewer.session.events} - {0.0} == {
        round(float(it), 6) for it in marked
    }
    # the flight that lies over it is the same one, so its lines are the same and nothing is apart
    error = plots["Tracking error (mm)"]
    both = np.isfinite(error.data[2])
    assert both.sum() > 50
    np.testing.assert_allclose(error.data[2][both], error.data[1][both], atol=2.0)
    assert 'data-readout="apart-1-payload"' in viewer.panel.numbers.content
    viewer.press("No overlay")
    viewer.press("The usual plots")
    assert studio.plotted == ("Tracking error", "Tensions", "Heights")


def test_traces_are_what_their_names_say() -> None:
    flight = made()
    frames = of_flight(flight)
    known = traces(frames[:1], flight.rig)
    for it in known.values():
        assert np.shape(it.read(frames)) == (len(frames), len(it.lines))
    np.testing.assert_array_equal(
        known["Vehicle 1, position"].read(frames), frames.bodies["vehicles"].position[:, 1]
    )
    rotor = known["Rotor speed, mean of each vehicle"].read(frames)
    frame = flight.rig.airframes[0]
    given = rotor[:, 0] ** 2 * frame.thrust_coefficient * frame.rotor_count
    np.testing.assert_allclose(given, np.maximum(frames.thrust[:, 0], 0.0))
    line = np.linspace(0, 1, 7)[:, None] * [1.0, 2.0, 3.0]
    np.testing.assert_allclose(rates(np.linspace(0, 0.5, 7), line), np.tile([2.0, 4.0, 6.0], (7, 1)))


@pytest.mark.slow
def test_a_link_opens_the_same_thing(viewer: Viewer, flown: Flight) -> None:
    studio, session = viewer.studio, viewer.session
    studio.choose(["Thrust", "Heights"])
    studio.dress(replace(studio.look, dark=True, forces=True))
    session.scrub(1.5)
    client: Any = SimpleNamespace(camera=SimpleNamespace(position=np.ones(3), look_at=np.zeros(3)))
    address = links.link(studio, client)
    assert address.startswith(f"{studio.address}/?") and "initialCameraPosition=1.000" in address
    viewer.session.open(load("drop-open-loop"))
    studio.dress(replace(studio.look, dark=False, forces=False))
    studio.choose(None)
    viewer.settle()
    studio.follow(urlsplit(address).query)
    viewer.settle()
    assert session.scenario is not None and session.scenario.to_yaml() == POKED.to_yaml()
    assert now(viewer) == pytest.approx(1.5) and session.message == ""
    assert studio.plotted == ("Thrust", "Heights") and studio.look.dark and studio.look.forces
    bundled = load("drop-open-loop")
    session.open(bundled)
    viewer.settle()
    assert "open=drop-open-loop" in links.link(studio) and "yaml" not in links.link(studio)
    studio.choose(None)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("open=nothing-such", "names no bundled scenario"),
        ("open=../../etc/passwd", "names no bundled scenario"),
        ("yaml=AAAA", "is not whole"),
        ("yaml=%21%21", "is not whole"),
        ("open=drop-open-loop&t=nan", "must be from 0"),
        ("open=drop-open-loop&t=soon", "must be a number"),
        ("flight=/etc/passwd", "Only files in the folders"),
    ],
)
def test_a_link_that_leads_nowhere_says_so(viewer: Viewer, query: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        links.follow(viewer.studio, query)


def test_a_pull_is_a_damped_spring_at_a_point_of_the_body() -> None:
    live = Live(load("three-dragonflies-circle").build())
    at = live._motion["payload"].position[0]
    pull = Pull("payload", 0, np.array([0.1, 0.0, 0.0]), at + [0.1, 0.0, 0.3], 0.3)
    force, torque = pull.wrench(live._motion["payload"])
    np.testing.assert_allclose(force, [0.0, 0.0, 0.3 * 25 * 0.3], atol=1e-9)
    np.testing.assert_allclose(torque, [0.0, -0.1 * force[2], 0.0], atol=1e-9)
    far = replace(pull, goal=at + [0.0, 0.0, 1e6])
    assert np.linalg.norm(far.wrench(live._motion["payload"])[0]) == pytest.approx(0.3 * 9.81, rel=1e-3)
    assert not Hands(pull=pull).idle


@pytest.mark.slow
def test_the_mouse_pulls_bodies_and_lets_go(viewer: Viewer, flown: Flight) -> None:
    studio, session = viewer.studio, viewer.session
    session.open(POKED)
    viewer.settle()
    assert studio.rig is not None
    heard = studio.pulling._heard("payload", 0)
    start = session.view().frame.bodies["payload"].position[0, 0].copy()

    def drag(phase: str, who: int, up: float) -> None:
        event = SimpleNamespace(
            phase=phase, client_id=who, start_position=tuple(start), end_position=tuple(start + [0, 0, up])
        )
        asyncio.run(heard(event))

    drag("start", 1, 0.0)
    drag("update", 1, 0.4)
    drag("update", 2, 9.0)  # somebody else's does nothing
    pull = session.hands.pull
    assert pull is not None and pull.goal[2] == pytest.approx(start[2] + 0.4)
    session.skip(0.4)
    viewer.settle()
    moved = session.view().frame.bodies["payload"].position[0, 0]
    assert moved[2] > start[2] + 0.01 and session.message == ""
    assert studio.rig._arrows._nodes["pull"].visible
    drag("end", 2, 0.0)
    assert session.hands.pull is not None
    drag("end", 1, 0.0)
    assert session.hands.idle
    session.undo()  # all of the drag is one thing
    assert now(viewer) == pytest.approx(0.0) and session.hands.idle


@pytest.mark.slow
def test_keys_play_look_back_reset_and_follow(viewer: Viewer, flown: Flight) -> None:
    session, keys = viewer.session, viewer.panel.keys
    press = {it.label: it for it in viewer.studio.server.gui._command_handle_from_uuid.values()}
    assert {it.hotkey for it in press.values()} == {"space", "arrowleft", "arrowright", "R", "F", "Z"}

    def key(label: str) -> None:
        for callback in press[label]._impl.trigger_cb:
            callback(SimpleNamespace(client=SimpleNamespace(), client_id=0))
        viewer.settle()

    session.open(POKED)
    viewer.settle()
    key("Play or pause")
    assert session.playing
    while now(viewer) < 0.2:  # however slow the machine
        viewer.settle(0.05)
    key("Play or pause")
    before = now(viewer)
    assert not session.playing
    key("Back in time")
    assert now(viewer) == pytest.approx(before - 0.1, abs=0.03)
    key("Forward in time")
    key("Forward in time")  # past the present it flies
    assert now(viewer) > before
    key("Follow the payload")
    assert viewer.studio.look.follow and viewer.panel.view.boxes["follow"].value
    key("Follow the payload")
    key("Reset")
    assert now(viewer) == 0.0 and keys.studio is viewer.studio
