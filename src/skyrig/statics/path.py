"""From pose to pose within the valid set: payload poses and pulls on the way, and how vehicles fly them.

A state is a pose and the coordinates z of the pulls in the payload's frame, where what may be added to the
least pulls does not depend on the pose. Between two states poses and coordinates go straight; every
configuration on the way balances exactly, and is looked at with the limits of `skyrig.statics.inverse`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skyrig.checks import Numbers
from skyrig.errors import InputError
from skyrig.statics.configuration import Configuration
from skyrig.statics.inverse import Limits, inverse, room
from skyrig.statics.stability import across
from skyrig.statics.team import Pose, Team
from skyrig.turns import between, turn

FINE = 0.04
"""How far apart configurations are looked at on the way (m, rad, weights)."""


class Stop(NamedTuple):
    """A state on the way."""

    position: Numbers
    """(..., 3) of the payload (m)."""
    attitude: Numbers
    """(..., 4)."""
    z: Numbers
    """(..., d) coordinates of the pulls in the payload's frame, over its weight."""


class Grasp:
    """How pulls hold a team's payload, in its own frame."""

    def __init__(self, team: Team) -> None:
        """Look at the attachments once.

        Raises:
            InputError: If the attachments lie on one line: then poses cannot be chosen freely.
        """
        n, f = team.count, team.freedoms
        grasp = np.concatenate([np.tile(np.eye(3), (1, n)), np.hstack(list(across(team.attachment)))])[:f]
        if np.linalg.matrix_rank(grasp, tol=1e-9) < f:
            raise InputError("the attachments must not lie on one line to move from pose to pose.")
        self.team = team
        self.least = np.linalg.pinv(grasp)
        self.free = np.linalg.svd(grasp)[2][f:].T

    def configuration(self, at: Stop) -> Configuration:
        """The configuration of a state, or of many."""
        team, f = self.team, self.team.freedoms
        back = at.attitude * [1.0, -1.0, -1.0, -1.0]
        load = -team.load(at.attitude)
        local = np.concatenate([turn(back, load[..., :3]), turn(back, load[..., 3:])], axis=-1)[..., :f]
        flat = local @ self.least.T + team.weight * at.z @ self.free.T
        force = turn(at.attitude[..., None, :], flat.reshape(*flat.shape[:-1], team.count, 3))
        return Configuration(team, Pose(at.position, at.attitude), force)

    def stop(self, held: Configuration) -> Stop:
        """The state of a configuration."""
        back = held.pose.attitude * [1.0, -1.0, -1.0, -1.0]
        local = turn(back[None], held.force).ravel()
        return Stop(held.pose.position, held.pose.attitude, local @ self.free / self.team.weight)


def along(first: Stop, last: Stop, share: Numbers) -> Stop:
    """(k,) states a share of the way from one to another: straight, turning evenly the shorter way."""
    s = share[:, None]
    end = last.attitude if first.attitude @ last.attitude >= 0 else -last.attitude
    angle = float(np.arccos(np.clip(first.attitude @ end, -1, 1)))
    if angle < 1e-9:
        attitude = np.tile(first.attitude, (len(share), 1))
    else:
        attitude = (np.sin((1 - s) * angle) * first.attitude + np.sin(s * angle) * end) / np.sin(angle)
    mixed = [(1 - s) * a + s * b for a, b in ((first.position, last.position), (first.z, last.z))]
    return Stop(mixed[0], attitude / np.linalg.norm(attitude, axis=1, keepdims=True), mixed[1])


def apart(first: Stop, last: Stop) -> float:
    """How far one state is from another: metres, radians and weights alike."""
    turned = float(between(first.attitude[None], last.attitude[None])[0])
    moved = np.concatenate([first.position - last.position, first.z - last.z])
    return float(np.sqrt((moved**2).sum() + turned**2))


@dataclass(frozen=True, eq=False)
class PathRules:
    """What states must keep to on the way."""

    grasp: Grasp
    limits: Limits
    obstacles: Numbers
    """(k, 4) balls to stay clear of: centre and radius, world (m)."""

    def room(self, at: Stop) -> Numbers:
        """(...,) the least room in any limit; below zero where a state is not allowed."""
        found = self.grasp.configuration(at)
        least = np.min([values.min(axis=-1) for values in room(found, self.limits).values()], axis=0)
        return np.asarray(
            least if not len(self.obstacles) else np.minimum(least, _clear(found, self.obstacles))
        )

    def passable(self, first: Stop, last: Stop) -> bool:
        """Whether all states on the straight way are allowed."""
        count = max(int(np.ceil(apart(first, last) / FINE)) + 1, 3)
        return bool((self.room(along(first, last, np.linspace(0.0, 1.0, count))) > -1e-6).all())


def _clear(found: Configuration, balls: Numbers) -> Numbers:
    """(...,) least room between balls and vehicles, cables or payload (a ball around it) (m)."""
    team = found.team
    low, high = team.points(found.pose)[..., None, :], found.hooks[..., None, :]
    span, away = high - low, balls[:, :3] - low
    share = np.clip((away * span).sum(-1) / (span**2).sum(-1), 0.0, 1.0)
    cable = np.linalg.norm(away - share[..., None] * span, axis=-1)
    craft = np.linalg.norm(found.vehicles[..., None, :] - balls[:, :3], axis=-1) - team.radius[:, None]
    load = np.linalg.norm(found.pose.position[..., None, :] - balls[:, :3], axis=-1) - team.scale
    return np.asarray((np.minimum(np.minimum(cable, craft).min(-2), load) - balls[:, 3]).min(-1))


@dataclass(frozen=True, eq=False)
class Path:
    """A way from pose to pose: straight pieces between states, with rests at the poses asked for."""

    grasp: Grasp
    stops: tuple[Stop, ...]
    rests: tuple[int, ...]
    """Which of the stops are poses that were asked for."""

    def configuration(self, place: float) -> Configuration:
        """The configuration at a place on the way: 0 at the first stop, 1 at the second, and so on."""
        k = min(int(place), max(len(self.stops) - 2, 0))
        if len(self.stops) == 1:
            return self.grasp.configuration(self.stops[0])
        on = along(self.stops[k], self.stops[k + 1], np.array([float(place) - k]))
        return self.grasp.configuration(Stop(*(each[0] for each in on)))


def plan(
    team: Team,
    poses: Sequence[Pose],
    criterion: str = "margin",
    limits: Limits | None = None,
    obstacles: Sequence[Sequence[float]] = (),
    seed: int = 0,
) -> Path:
    """A way through poses, with every configuration on the way within limits.

    The first pose is held best by a criterion. Later ones keep the pulls in the payload's frame, if that is
    allowed, or are held best by it too. Where the straight way is barred, two trees of states grow towards
    each other (RRT-Connect, Kuffner and LaValle 2000); what they find is made shorter by straight cuts.

    Args:
        team: The team.
        poses: Where the payload shall be, one after another.
        criterion: One of `skyrig.statics.inverse`.
        limits: What to keep to.
        obstacles: Balls to stay clear of: x, y, z and radius of each (m).
        seed: Of the search.

    Raises:
        InputError: If a pose cannot be held, or no way to it was found.
    """
    from skyrig.statics.trees import connect

    if not poses:
        raise InputError("poses must name at least one pose.")
    grasp = Grasp(team)
    kept = (limits or Limits()).filled(team)
    course = PathRules(grasp, kept, np.array(obstacles, dtype=float).reshape(-1, 4))
    rng = np.random.default_rng(seed)
    stops: list[Stop] = []
    rests: list[int] = []
    for k, pose in enumerate(poses):
        kept_z = Stop(pose.position, pose.attitude, stops[-1].z) if stops else None
        if kept_z is not None and course.room(kept_z) > 0 and course.passable(stops[-1], kept_z):
            stops.append(kept_z)
        else:
            stop = _best(course, pose, k, criterion, seed)
            way = connect(course, stops[-1], stop, rng) if stops else [stop]
            if way is None:
                raise InputError(
                    f"poses[{k}]: no way to it from the pose before was found within all limits."
                )
            stops += way[1:] if stops else way
        rests.append(len(stops) - 1)
    return Path(grasp, tuple(stops), tuple(rests))


def _best(course: PathRules, pose: Pose, k: int, criterion: str, seed: int) -> Stop:
    """The state of a pose that is best by a criterion."""
    try:
        stop = course.grasp.stop(inverse(course.grasp.team, pose, criterion, course.limits, seed))
    except InputError as error:
        raise InputError(f"poses[{k}]: {error}") from None
    spare = float(course.room(stop))
    if spare < -1e-6:
        raise InputError(f"poses[{k}] is too near an obstacle, by {-spare:.3g} m.")
    return stop
