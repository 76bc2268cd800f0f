"""What a grasp's signals say happened."""

import numpy as np

from skyrig.rigs.gripper.events import grasp_events

TIMES = np.arange(0.0, 5.0, 0.01)


def signals(
    pressing: list[tuple[float, float]], standing: list[tuple[float, float]]
) -> dict[str, np.ndarray]:
    """Of three fingers, two of which press in spans of time, and of an object that stands in others."""
    within = []
    for spans in (pressing, standing):
        flags = np.zeros(len(TIMES), dtype=bool)
        for begin, end in spans:
            flags[(begin <= TIMES) & (end > TIMES)] = True
        within.append(flags)
    force = np.stack([0.2 * within[0], 0.3 * within[0], 0.0 * within[0]], 1)
    return {"finger.force": force, "ground.force": 0.5 * within[1][:, None]}


def kinds(told: dict[str, np.ndarray]) -> list[tuple[str, float]]:
    return [(it.kind, round(it.time, 2)) for it in grasp_events(TIMES, told)]


def test_grasp_lift_set_down_release() -> None:
    told = kinds(signals([(1.0, 4.0)], [(0.0, 1.5), (3.5, 5.0)]))
    assert told == [("touch", 1.0), ("touch", 1.0), ("grasped", 1.0), ("lifted", 1.5), ("released", 4.0)]


def test_lost_in_the_air_is_dropped_and_may_be_grasped_again() -> None:
    told = kinds(signals([(1.0, 2.0), (3.0, 5.0)], [(0.0, 1.2), (2.3, 5.0)]))[2:]
    assert told == [("grasped", 1.0), ("lifted", 1.2), ("dropped", 2.0), ("grasped", 3.0)]


def test_a_moments_touch_is_no_grasp() -> None:
    told = kinds(signals([(1.0, 1.05)], [(0.0, 5.0)]))
    assert told == [("touch", 1.0), ("touch", 1.0)]
    assert kinds(signals([], [(0.0, 5.0)])) == []
