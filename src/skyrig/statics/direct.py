"""Where a payload hangs under vehicles that hold still: all equilibria, stable or not.

An equilibrium has a set of taut cables at their lengths that pull (never push) and balance the load, while
the others are slack. For each set of cables that may be taut, Newton's method on (gradient of the
Lagrangian, lengths) = 0 runs on SE(3) from many poses at once; what it finds is kept if it is such an
equilibrium, merged, marked and sorted by energy. The search is a sample: it may miss equilibria that few
starts lead to, and says how often each was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from skyrig import checks
from skyrig.checks import Numbers
from skyrig.errors import InputError
from skyrig.statics.certificate import lowest
from skyrig.statics.configuration import Configuration
from skyrig.statics.newton import Indices, SearchEnds, solve
from skyrig.statics.stability import Stability, stability
from skyrig.statics.team import Given, Pose, Team
from skyrig.turns import between

SAME = 1e-5
"""Equilibria closer than this are one (rad, and m over the mean cable's length)."""


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """One way in which a payload hangs."""

    configuration: Configuration
    taut: npt.NDArray[np.bool_]
    """(n,) the cables that pull."""
    stability: Stability
    energy: float
    """Potential energy (J)."""
    lowest: bool
    """Whether it is proved that no state has less energy (see `skyrig.statics.certificate`)."""
    hits: int
    """How many starts led here."""

    @property
    def pose(self) -> Pose:
        """Where the payload is."""
        return self.configuration.pose

    @property
    def stable(self) -> bool:
        """Whether the payload stays there when nudged; one that may turn freely (neutral) does."""
        squares = self.stability.squares
        return bool((squares > -1e-7 * max(float(np.abs(squares).max(initial=0.0)), 1e-9)).all())

    @property
    def tension(self) -> Numbers:
        """(n,) of the cables (N)."""
        return self.configuration.tension


def direct(
    team: Team, hooks: Given, *, starts: int = 128, seed: int = 0, slack: bool = True
) -> list[Equilibrium]:
    """All equilibria of a payload under held hooks, least energy first.

    Args:
        team: The team.
        hooks: (n, 3) where the cables' upper ends are, world (m); of vehicles without hooks their centres.
        starts: How many poses each search begins from.
        seed: Of these poses.
        slack: Whether to look for equilibria with slack cables too.

    Raises:
        InputError: If the hooks are so far apart that no pose keeps every cable within its length.
    """
    ends = checks.numbers("hooks", hooks, (team.count, 3))
    if team.moment.any():
        raise InputError("moment must be zero for the direct problem: a constant moment has no energy.")
    check_reach(team, ends)
    rng = np.random.default_rng(seed)
    found: list[Equilibrium] = []
    for which in _sets(team, slack):
        ways = solve(team, ends, which, starts, rng)
        found += kept(team, ends, which, ways)
    found = _merged(team, found)
    if not found:
        raise InputError("no equilibrium was found under these hooks: try more starts.")
    return sorted(found, key=lambda it: it.energy)


def _sets(team: Team, slack: bool) -> Iterator[Indices]:
    """Sets of cables that may be taut together, as indices: at most as many as the payload has freedoms."""
    n = team.count
    most = min(n, team.freedoms)
    sizes = range(most, 0, -1) if slack else range(most, most - 1, -1)
    for size in sizes:
        for which in combinations(range(n), size):
            yield np.array(which)


def check_reach(team: Team, hooks: Numbers) -> None:
    """Refuse hooks between which the cables and the payload cannot reach."""
    for j in range(team.count):
        for k in range(j):
            reach = team.length[j] + team.length[k]
            reach += np.linalg.norm(team.attachment[j] - team.attachment[k])
            apart = np.linalg.norm(hooks[j] - hooks[k])
            if apart > reach:
                raise InputError(
                    f"hooks[{k}] and hooks[{j}] are {apart:.4g} m apart, {apart - reach:.3g} m farther than "
                    "their cables and the payload between them reach."
                )


def kept(team: Team, hooks: Numbers, which: Indices, ways: SearchEnds) -> list[Equilibrium]:
    """Those solutions in which the chosen cables pull and the others are within their lengths."""
    good: list[Equilibrium] = []
    span = hooks - team.points(Pose(ways.position, ways.attitude))
    distance = np.linalg.norm(span, axis=-1)
    within = (distance <= team.length * (1 + 1e-9) + 1e-9).all(-1)
    pulling = (ways.tension > 1e-9 * team.weight).all(-1)
    for row in np.flatnonzero(ways.solved & within & pulling):
        pose = Pose(ways.position[row], ways.attitude[row])
        at = _seen(team, good, pose)
        if at is not None:
            good[at] = _again(good[at])
            continue
        force = np.zeros((team.count, 3))
        force[which] = ways.tension[row][:, None] * span[row, which] / distance[row, which][:, None]
        good.append(equilibrium(Configuration(team, pose, force)))
    return good


def equilibrium(found: Configuration) -> Equilibrium:
    """A configuration in balance as one way in which its payload hangs."""
    taut = found.tension > 1e-9 * found.team.weight
    energy = float(found.team.energy(found.pose))
    return Equilibrium(found, taut, stability(found), energy, lowest(found), 1)


def _again(known: Equilibrium, more: int = 1) -> Equilibrium:
    return replace(known, hits=known.hits + more)


def _seen(team: Team, known: list[Equilibrium], pose: Pose) -> int | None:
    """Which known equilibrium has this pose, a free turn (a payload on one cable) left out of account."""
    if not known:
        return None
    positions = np.stack([each.pose.position for each in known])
    attitudes = np.stack([each.pose.attitude for each in known])
    free = np.array([team.freedoms == 3 or each.stability.neutral > 0 for each in known])
    near = np.linalg.norm(positions - pose.position, axis=1) < SAME * team.length.mean()
    alike = near & (free | (between(attitudes, pose.attitude) < SAME))
    return int(alike.argmax()) if alike.any() else None


def _merged(team: Team, found: list[Equilibrium]) -> list[Equilibrium]:
    """Without what two sets of cables gave alike."""
    kept: list[Equilibrium] = []
    for each in found:
        at = _seen(team, kept, each.pose)
        if at is None:
            kept.append(each)
        else:
            kept[at] = _again(kept[at], each.hits)
    return kept
