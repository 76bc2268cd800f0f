"""A live flight is the flight that `fly` flies, and hands do what they say."""

from dataclasses import replace

import numpy as np
import pytest

from skyrig.flight.frames import Frames, from_parts
from skyrig.runs import fly
from skyrig.scenario import Scenario, load
from skyrig.sim import Cut, Poke, chunked
from skyrig.studio import engine
from skyrig.studio.hands import Hands
from skyrig.studio.live import Live
from skyrig.studio.session import StudioSession


def flown(live: Live, seconds: float) -> tuple[Frames, list]:
    """Fly on for a while; all frames and events."""
    frames, found = [], []
    until = live.tick + round(seconds * live.rate)
    while live.tick < until:
        more, new = live.advance(until - live.tick)
        frames.append(more)
        found += new
    whole = {name: np.concatenate([it.parts[name] for it in frames]) for name in frames[0].parts}
    return from_parts(whole, frames[0].units), found


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, changes",
    [
        ("three-dragonflies-poke", {"duration": 2.4, "happenings[0].time": 1.2345}),
        (
            "six-dragonflies-thrust-loss",
            {"duration": 1.2, "happenings[0].time": 0.5037, "happenings[0].until": 0.9},
        ),
        ("winch-reel-up", {"duration": 3.2}),
        ("drop-open-loop", {}),
        ("three-dragonflies-links", {"duration": 1.0, "noise.position": 0.001}),
    ],
)
def test_a_live_flight_is_the_same_flight(name: str, changes: dict) -> None:
    scenario = load(name).with_overrides(changes)
    whole = fly(scenario)
    frames, found = flown(Live(scenario.build()), scenario.duration)
    rows = np.searchsorted(whole.times, frames.times - 1e-7)
    noisy = "noise.position" in changes  # other random numbers
    near = 0.02 if noisy else 1e-9
    np.testing.assert_allclose(frames.place, whole.payload.position[rows], atol=near)
    np.testing.assert_allclose(
        frames.bodies["vehicles"].attitude, whole.vehicles.attitude[rows], atol=10 * near
    )
    if not noisy:
        for signal in whole.signals.values():
            assert signal.held or signal.unit in frames.units.values()
        for signal, values in frames.signals.items():
            np.testing.assert_allclose(values, whole.signals[signal][rows], atol=1e-7)
        assert [(event.kind, event.cable) for event in found] == [
            (event.kind, event.cable) for event in whole.events
        ]
        np.testing.assert_allclose([it.time for it in found], [it.time for it in whole.events], atol=1e-9)


@pytest.fixture(scope="module")
def hovering() -> Scenario:
    return load("three-dragonflies-poke").with_overrides({"happenings": []})


def test_it_goes_on_after_its_end_and_compiles_nothing_anew(hovering: Scenario) -> None:
    live = Live(hovering.with_overrides({"duration": 0.1}).build())
    flown(live, 0.2)
    before = len(chunked._program._known), len(chunked._program._flat)
    heavier = Live(hovering.with_overrides({"duration": 0.1, "rig.payload.mass": 0.3, "seed": 3}).build())
    heavier.hands = Hands(force=np.array([0.1, 0.0, 0.0]), share=np.array([1.0, 0.9, 1.0]))
    heavier.advance(1, [Poke(0.0, np.array([0.0, 0.0, 0.01]), np.zeros(3))])
    frames, _ = flown(heavier, 0.5)
    assert (len(chunked._program._known), len(chunked._program._flat)) == before
    assert frames.times[-1] == pytest.approx(0.51) and np.isfinite(frames.place).all()


def test_a_poke_loosens_a_cable_and_a_cut_is_for_good(hovering: Scenario) -> None:
    live = Live(hovering.build())
    flown(live, 0.1)
    corner = hovering.parts.points[1]
    _, found = live.advance(4, [Poke(0.0, np.array([0.0, 0.0, 0.08]), corner)])
    assert [(event.kind, event.cable) for event in found] == [("poke", None), ("slack", 1)]
    assert found[0].time == pytest.approx(0.1) and found[0].impulse == pytest.approx(0.08)
    _, found = live.advance(4, [Cut(0.0, 2)])
    assert ("cut", 2) in [(event.kind, event.cable) for event in found]
    frames, _ = flown(live, 0.3)
    assert not frames.signals["cable.taut"][:, 2].any() and frames.place[-1, 2] < 1.5


def test_a_commanded_pose_is_gone_to_and_left_again(hovering: Scenario) -> None:
    live = Live(hovering.build())
    live.hands = Hands(pose=(np.array([0.5, 0.2, 1.7]), np.array([0.0, 0.0, 0.4])))
    frames, _ = flown(live, 6.0)
    assert frames.wanted_position is not None and frames.wanted_attitude is not None
    np.testing.assert_allclose(frames.wanted_position[-1], [0.5, 0.2, 1.7])
    np.testing.assert_allclose(frames.place[-1], [0.5, 0.2, 1.7], atol=0.02)
    assert np.linalg.norm(np.diff(frames.wanted_position, axis=0), axis=1).max() * live.rate < 4.5
    live.hands = replace(live.hands, pose=None)
    frames, _ = flown(live, 5.0)
    np.testing.assert_allclose(frames.place[-1], [0.0, 0.0, 1.5], atol=0.03)


def test_a_steady_push_leans_on_the_payload(hovering: Scenario) -> None:
    still, pushed = Live(hovering.build()), Live(hovering.build())
    pushed.hands = Hands(force=np.array([0.2, 0.0, 0.0]))
    (calm, _), (moved, _) = flown(still, 0.4), flown(pushed, 0.4)
    assert moved.place[-1, 0] > calm.place[-1, 0] + 1e-3


def test_the_start_is_what_is_built(hovering: Scenario) -> None:
    built = hovering.build()
    first = Live(built).start()
    assert built.hover is not None
    np.testing.assert_allclose(first.signals["cable.tension"][0], built.hover.tension)
    np.testing.assert_allclose(first.place[0], [0.0, 0.0, 1.5])
    assert first.error[0] == pytest.approx(0.0)


def test_what_was_too_much_is_not_done_and_told_until_something_is(
    hovering: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "MOST_BEHIND", np.inf)  # however slow the machine, all of it is flown
    session = StudioSession()  # without its threads: here it is this one that flies
    session.open(hovering)
    session._make()
    session.status = "ready"
    session.play()
    push = Hands(force=np.array([0.1, 0.0, 0.0]))
    session.hold(lambda _: push)
    session.do(Poke(0.0, np.full(3, 1e9), np.zeros(3)))
    session.do(Cut(0.0, 1))
    session._fly_on(4.5 / 100)
    assert session.message.startswith("That was too much, so it was not done: ")
    assert [it.kind for it in session.events] == ["taut"] * 3
    assert session.hands is push, "a poke is no reason to let go"
    session._fly_on(1.6 / 100)  # two periods: less is not flown by itself
    assert session.message == "" and ("cut", 1) in [(it.kind, it.cable) for it in session.events]
    session.hold(lambda _: Hands(force=np.full(3, 1e12)))
    session.do(Cut(0.0, 2))
    session._fly_on(4.5 / 100)
    words = "That was too much, so it was not done and all hands are off: "
    assert session.message.startswith(words) and session.hands == Hands() and session.status == "ready"
    assert session.view().span[1] == pytest.approx(0.1)
