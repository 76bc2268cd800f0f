"""What statics found, to be looked at: the flight that is shown has bodies where statics has them."""

from types import SimpleNamespace

import numpy as np
from teams import frame

from skyrig import load
from skyrig.flight.frames import of_flight
from skyrig.flight.rig import rig_data
from skyrig.runs.stills import still_flight
from skyrig.statics import Limits, Pose, direct, stability, stories, three, workspace
from skyrig.studio.marks import draw_marks

POSE = Pose.turned(position=(0.0, 0.0, 1.0))
SCENARIO = load("three-hummingbirds-frame")


def test_equilibria_one_after_another() -> None:
    team = frame()
    found = direct(team, three(team, POSE, (0.2, 0.2, 0.2)).hooks, starts=32)
    flight = still_flight(SCENARIO, stories.equilibria(found))
    assert [event.kind.split(",")[0] for event in flight.events][0] == "stable equilibrium 1"
    assert len(flight.events) == len(found)
    for k, it in enumerate(found):
        frame_ = of_flight(flight).at((k + 0.5) * stories.REST)
        np.testing.assert_allclose(frame_.bodies["payload"].position[0, 0], it.pose.position)
        ends = [frame_.end(tether.start) - frame_.end(tether.end) for tether in flight.rig.tethers]
        spans = np.linalg.norm(ends, axis=1)
        np.testing.assert_allclose(spans[it.taut], team.length[it.taut], atol=1e-6)


def test_modes_swing_at_their_frequencies_and_keep_the_cables_long() -> None:
    team = frame()
    held = three(team, POSE, (-0.2724, -0.3054, -0.3054))
    story = stories.modes(held)
    begins = [time for time, _ in story.chapters]
    known = stability(held)
    np.testing.assert_allclose(np.diff(begins), stories.SWINGS / known.frequencies[:2], atol=2 / stories.RATE)
    for position, attitude in zip(story.position, story.attitude, strict=True):
        points = team.points(Pose(position, attitude))
        # to first order: a swing of a quarter of a metre bends cables by some centimetres
        assert np.abs(np.linalg.norm(held.hooks - points, axis=1) - team.length).max() < 0.08
    assert still_flight(SCENARIO, story).duration > 3 / known.frequencies.max()


def test_ways_to_hold_a_pose_are_marked() -> None:
    team = frame()
    found = workspace(team, POSE, Limits(tension_max=0.5 * team.weight, separation=1.0), 3000)
    story = stories.ways(found)
    flight = still_flight(SCENARIO, story)
    assert len(flight.rig.marks) == 3 * found.valid.sum() and flight.rig.shades.max() == 1.0
    np.testing.assert_allclose(
        np.linalg.norm(flight.rig.marks.reshape(-1, 3, 3) - team.points(POSE), axis=2), 1.0, atol=1e-9
    )
    drawn = []
    scene = SimpleNamespace(add_point_cloud=lambda *given, **others: drawn.append(given) or "node")
    assert draw_marks(scene, "/rig0", flight.rig) == "node" and len(drawn[0][1]) == len(flight.rig.marks)
    assert draw_marks(scene, "/rig0", rig_data(SCENARIO.parts)) is None
