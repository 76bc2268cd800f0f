"""Ways from pose to pose around an obstacle: skyrig's planner next to OMPL's RRT-Connect.

    python benchmarks/planning.py [--pairs 50]

Both look for a way in the same space (pose and pulls), with the same check of every piece of it, between the
same random poses of three Hummingbirds with a frame, a ball in between. OMPL (https://ompl.kavrakilab.org, in
the extra `plan`) gets the path that its own simplifier makes shorter.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from ompl import base, geometric, util

import skyrig
from skyrig.statics import Limits, Pose, Team, inverse
from skyrig.statics.path import Grasp, PathRules, Stop, along, apart
from skyrig.statics.trees import STRIDE, connect
from skyrig.turns import multiply

ROOM = (2.0, 0.3, 0.3)
"""How far beyond its ends a way may lead: metres, radians, weights."""


class Chart:
    """States as plain vectors: position, rotation vector from a middle attitude, pulls."""

    def __init__(self, middle: np.ndarray, count: int) -> None:
        """Around an attitude, with so many numbers for the pulls."""
        self.middle, self.size = middle, 6 + count

    def vector(self, stop: Stop) -> np.ndarray:
        """(6 + d,)."""
        w, *xyz = multiply(stop.attitude, self.middle * [1, -1, -1, -1])
        sine = np.linalg.norm(xyz)
        angle = 2 * np.arctan2(sine, abs(w)) * np.sign(w or 1.0)
        turned = np.array(xyz) * (angle / sine if sine > 1e-12 else 2.0)
        return np.concatenate([stop.position, turned, stop.z])

    def stop(self, state: Any) -> Stop:
        """Of anything that has numbers by their index."""
        x = np.array([state[k] for k in range(self.size)])
        angle = np.linalg.norm(x[3:6])
        half = np.append(np.cos(angle / 2), x[3:6] * np.sinc(angle / 2 / np.pi) / 2)
        return Stop(x[:3], multiply(half, self.middle), x[6:])


class Motions(base.MotionValidator):
    """OMPL's question whether a piece is allowed, answered by the course."""

    def __init__(self, information: Any, course: PathRules, chart: Chart) -> None:
        """For one search."""
        super().__init__(information)
        self.course, self.chart = course, chart

    def checkMotion(self, first: Any, last: Any, *_: Any) -> bool:
        """Whether the straight way is allowed."""
        return self.course.passable(self.chart.stop(first), self.chart.stop(last))


class States(base.StateValidityChecker):
    """The same for a single state."""

    def __init__(self, information: Any, course: PathRules, chart: Chart) -> None:
        """For one search."""
        super().__init__(information)
        self.course, self.chart = course, chart

    def isValid(self, state: Any) -> bool:
        """Whether it is allowed."""
        return bool(self.course.room(self.chart.stop(state)) > -1e-6)


def by_ompl(course: PathRules, first: Stop, last: Stop, seconds: float = 10.0) -> list[Stop] | None:
    """A way by OMPL, or None if it found none in time."""
    if course.passable(first, last):
        return [first, last]
    chart = Chart(along(first, last, np.array([0.5])).attitude[0], len(first.z))
    ends = np.stack([chart.vector(first), chart.vector(last)])
    space, bounds = base.RealVectorStateSpace(chart.size), base.RealVectorBounds(chart.size)
    wide = np.repeat(ROOM, [3, 3, len(first.z)])
    for k in range(chart.size):
        bounds.setLow(k, float(ends[:, k].min() - wide[k]))
        bounds.setHigh(k, float(ends[:, k].max() + wide[k]))
    space.setBounds(bounds)
    information = base.SpaceInformation(space)
    information.setStateValidityChecker(States(information, course, chart))
    information.setMotionValidator(Motions(information, course, chart))
    information.setup()
    begin, goal = space.allocState(), space.allocState()
    for k in range(chart.size):
        begin[k], goal[k] = (float(end[k]) for end in ends)
    problem = base.ProblemDefinition(information)
    problem.setStartAndGoalStates(begin, goal)
    planner = geometric.RRTConnect(information)
    planner.setRange(STRIDE)
    planner.setProblemDefinition(problem)
    planner.setup()
    if not planner.solve(seconds):
        return None
    path, simplifier = problem.getSolutionPath(), geometric.PathSimplifier(information)
    simplifier.reduceVertices(path, 60)
    simplifier.partialShortcutPath(path, 60)
    return [chart.stop(path.getState(k)) for k in range(path.getStateCount())]


def long(way: list[Stop]) -> float:
    """Of all pieces together (m, rad, weights)."""
    return sum(apart(first, last) for first, last in zip(way, way[1:], strict=False))


def main() -> None:
    """Print a row for each planner."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=50)
    pairs = parser.parse_args().pairs
    util.setLogLevel(util.LOG_NONE)
    team, rng = Team.of_parts(skyrig.load("three-hummingbirds-frame").parts), np.random.default_rng(1)
    limits = Limits(separation=0.8).filled(team)
    planners = {
        "skyrig": lambda course, *ends: connect(course, *ends, np.random.default_rng(0)),
        "OMPL": by_ompl,
    }
    rows: dict[str, list[tuple[float, float]]] = {name: [] for name in planners}
    for _ in range(pairs):
        ball = [0.0, rng.uniform(-0.5, 0.5), 3.5, 0.6]
        course = PathRules(Grasp(team), limits, np.array([ball]))
        ends = []
        for side in (-3.0, 3.0):
            place = rng.uniform(-1, 1, 3) * [1.0, 2.0, 0.5] + [side, 0.0, 3.0]
            pose = Pose.turned(*rng.uniform(-0.3, 0.3, 2), rng.uniform(-1, 1), place)
            ends.append(course.grasp.stop(inverse(team, pose, "effort", limits)))
        if course.passable(*ends):
            continue  # nothing to plan
        for name, planner in planners.items():
            start = time.process_time()
            way = planner(course, *ends)
            taken = time.process_time() - start
            rows[name].append((taken, np.nan if way is None else long(way) / apart(*ends)))
    for name, found in rows.items():
        taken, ratio = np.array(found).T
        print(
            f"{name:7s} {len(found)} barred pairs: CPU median {np.median(taken):.2f} s, "
            f"most {taken.max():.2f} s; "
            f"length over the straight way {np.nanmedian(ratio):.3f}; {int(np.isnan(ratio).sum())} not found"
        )


if __name__ == "__main__":
    main()
