"""Two trees of states that grow towards each other (RRT-Connect, Kuffner and LaValle 2000), cuts, corners."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skyrig.checks import Numbers
from skyrig.statics.path import PathRules, Stop, along, apart
from skyrig.turns import multiply

ROUNDS = 1500
"""Samples at most."""
STRIDE = 0.4
"""Length of a branch (m, rad, weights)."""
CUTS = 60
"""Straight cuts that are tried."""
CORNERS, SHARES = 3, (0.25, 0.12, 0.06)
"""How often every corner is cut off (Chaikin 1974), and how much of its sides, the first that is allowed."""
SPARE = 0.12
"""How much farther from obstacles a way is looked for, so that its corners can be cut off (m)."""


class SearchTree:
    """States, each with the one it grew from."""

    def __init__(self, root: Stop) -> None:
        """Only the root."""
        self.states, self.parents = [root], [-1]

    def nearest(self, to: Stop) -> int:
        """Index of the state nearest to another."""
        positions = np.stack([it.position for it in self.states])
        attitudes = np.stack([it.attitude for it in self.states])
        zs = np.stack([it.z for it in self.states])
        turned = 2 * np.arccos(np.clip(np.abs(attitudes @ to.attitude), 0, 1))
        far = ((positions - to.position) ** 2).sum(1) + turned**2 + ((zs - to.z) ** 2).sum(1)
        return int(far.argmin())

    def grow(self, course: PathRules, to: Stop, whole: bool) -> tuple[int, bool]:
        """Grow towards a state, one stride or, if `whole`, as far as can be; where it ended, and if there."""
        at = self.nearest(to)
        while True:
            here = self.states[at]
            left = apart(here, to)
            if left < 1e-9:
                return at, True
            step = along(here, to, np.array([min(1.0, STRIDE / left)]))
            new = Stop(*(each[0] for each in step))
            if not course.passable(here, new):
                return at, False
            self.states.append(new)
            self.parents.append(at)
            at = len(self.states) - 1
            if left <= STRIDE or not whole:
                return at, left <= STRIDE

    def back(self, at: int) -> list[Stop]:
        """From a state to the root."""
        way = []
        while at >= 0:
            way.append(self.states[at])
            at = self.parents[at]
        return way


def connect(course: PathRules, first: Stop, last: Stop, rng: np.random.Generator) -> list[Stop] | None:
    """Allowed states from one to another, straight between each two; None if none were found."""
    if course.passable(first, last):
        return [first, last]
    wider = replace(course, obstacles=course.obstacles + [0.0, 0.0, 0.0, SPARE])
    if min(wider.room(first), wider.room(last)) > 0:
        way = _grown(wider, first, last, rng)
        if way is not None:
            return _rounded(course, way)
    way = _grown(course, first, last, rng)
    return None if way is None else _rounded(course, way)


def _grown(course: PathRules, first: Stop, last: Stop, rng: np.random.Generator) -> list[Stop] | None:
    """What two trees find, cut short."""
    trees, swapped = (SearchTree(first), SearchTree(last)), False
    for _ in range(ROUNDS):
        one, other = trees
        at, _ = one.grow(course, _drawn(course, first, last, rng), whole=False)
        end, met = other.grow(course, one.states[at], whole=True)
        if met:
            way = [*reversed(one.back(at)), *other.back(end)[1:]]
            return _cut(course, way[::-1] if swapped else way, rng)
        trees, swapped = (other, one), not swapped
    return None


def _drawn(course: PathRules, first: Stop, last: Stop, rng: np.random.Generator) -> Stop:
    """A state around the straight way, wider with luck."""
    middle = along(first, last, rng.uniform(0.0, 1.0, 1))
    wide = float(rng.choice([0.3, 1.0, 2.5]))
    long = float(course.grasp.team.length.mean())
    turned: Numbers = rng.normal(size=3) * 0.15 * wide
    half = np.append(1.0, turned / 2)
    return Stop(
        middle.position[0] + rng.normal(size=3) * long * wide,
        multiply(half / np.linalg.norm(half), middle.attitude[0]),
        middle.z[0] + rng.normal(size=middle.z.shape[1]) * 0.15 * wide,
    )


def _cut(course: PathRules, way: list[Stop], rng: np.random.Generator) -> list[Stop]:
    """Shorter by straight cuts between states, and between points on the way."""
    for _ in range(CUTS):
        if len(way) < 3:
            break
        i, j = sorted(rng.choice(len(way), 2, replace=False))
        if j - i > 1 and course.passable(way[i], way[j]):
            way = way[: i + 1] + way[j:]
        elif j - i == 1 and j + 1 < len(way):
            before, after = (
                Stop(*(x[0] for x in along(way[a], way[a + 1], rng.uniform(0.2, 0.8, 1)))) for a in (i, j)
            )
            if course.passable(before, after):
                shorter = way[: i + 1] + [before, after] + way[j + 1 :]
                way = shorter if len(shorter) < 40 else way
    k = 1
    while k < len(way) - 1:
        if course.passable(way[k - 1], way[k + 1]):
            way = way[:k] + way[k + 1 :]
        else:
            k += 1
    return way


def _rounded(course: PathRules, way: list[Stop]) -> list[Stop]:
    """Without sharp corners: each gives way to two blunter ones, where the way between these is allowed."""
    for _ in range(CORNERS):
        new = [way[0]]
        for before, corner, after in zip(way, way[1:], way[2:], strict=False):
            new += _blunted(course, before, corner, after)
        way = [*new, way[-1]]
    return way


def _blunted(course: PathRules, before: Stop, corner: Stop, after: Stop) -> list[Stop]:
    """Two stops in place of a corner, or the corner if nothing else is allowed."""
    for share in SHARES:
        first, last = (
            Stop(*(each[0] for each in along(corner, end, np.array([share])))) for end in (before, after)
        )
        if course.passable(first, last):
            return [first, last]
    return [corner]
