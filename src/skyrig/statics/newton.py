"""Newton's method for a payload's equilibria with a given set of taut cables, from many poses at once."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skyrig.checks import Numbers
from skyrig.statics.configuration import wrenches
from skyrig.statics.stability import hessian
from skyrig.statics.team import Pose, Team
from skyrig.turns import multiply

SOLVED = 1e-11
"""Residual of a solution, in weights and mean lengths."""
ROUNDS = 80
"""Steps at most."""
STUCK = 1e2
"""Damping of a search that leads nowhere."""


Indices = npt.NDArray[np.intp]
"""Which cables."""


class SearchEnds(NamedTuple):
    """Where the searches ended."""

    position: Numbers
    """(starts, 3) m."""
    attitude: Numbers
    """(starts, 4)."""
    tension: Numbers
    """(starts, k) of the taut cables (N); below zero where a rod would push."""
    solved: npt.NDArray[np.bool_]
    """(starts,) whether this is an equilibrium, to rounding."""


def solve(
    team: Team,
    hooks: Numbers,
    which: Indices,
    starts: int,
    rng: np.random.Generator,
    begin: Pose | None = None,
) -> SearchEnds:
    """Equilibria with the cables `which` at their lengths, by Levenberg's damping of Newton's steps.

    Args:
        team: The team.
        hooks: (n, 3) world (m).
        which: (k,) indices of the taut cables.
        starts: How many poses to begin from.
        rng: Draws them.
        begin: Where the first of them is instead, if it is known.
    """
    position, attitude = _begin(team, hooks, which, starts, rng)
    if begin is not None:
        position[0], attitude[0] = begin
    tension = np.full((starts, len(which)), team.weight / len(which))
    damping = np.full(starts, 1e-2)
    miss, slope = _equations(team, hooks, which, position, attitude, tension)
    size = (miss**2).sum(-1)
    on = np.arange(starts)  # those that still move
    for _ in range(ROUNDS):
        step = _step(miss[on], slope[on], damping[on])
        new = _moved(team, position[on], attitude[on], tension[on], step)
        further, steeper = _equations(team, hooks, which, *new)
        now = (further**2).sum(-1)
        good = now < size[on]
        better = on[good]
        position[better], attitude[better], tension[better] = (each[good] for each in new)
        miss[better], slope[better], size[better] = further[good], steeper[good], now[good]
        damping[on] = np.maximum(np.where(good, 0.2, 4.0) * damping[on], 1e-16)
        on = on[(size[on] > (0.1 * SOLVED) ** 2) & (damping[on] < STUCK)]
        if not len(on):
            break
    return SearchEnds(position, attitude, tension, np.sqrt(size) < SOLVED)


def _begin(
    team: Team, hooks: Numbers, which: Indices, starts: int, rng: np.random.Generator
) -> tuple[Numbers, Numbers]:
    """Poses below (and around) the hooks, half of them nearly level, half turned any way."""
    attitude = rng.normal(size=(starts, 4))
    attitude[::2] = attitude[::2] * 0.3 + [1.0, 0.0, 0.0, 0.0]
    attitude /= np.linalg.norm(attitude, axis=-1, keepdims=True)
    long = float(team.length[which].mean()) + team.scale
    spot = rng.normal(size=(starts, 3)) * [0.5, 0.5, 0.5] + [0.0, 0.0, -0.6]
    return hooks[which].mean(axis=0) + long * spot, attitude


def _units(team: Team) -> tuple[float, float, float]:
    """Force, length and moment by which all equations and steps are made plain numbers."""
    return team.weight, float(team.length.mean()), team.weight * team.scale


def _equations(
    team: Team, hooks: Numbers, which: Indices, position: Numbers, attitude: Numbers, tension: Numbers
) -> tuple[Numbers, Numbers]:
    """What misses, (s, f + k), and its derivative by the scaled twist and tensions, (s, f + k, f + k)."""
    force, long, moment = _units(team)
    f, k = team.freedoms, len(which)
    some = some_of(team, which)
    span = hooks[which] - some.points(Pose(position, attitude))
    distance = np.maximum(np.linalg.norm(span, axis=-1), 1e-12)
    unit = span / distance[..., None]
    matrix = wrenches(some.arms(attitude), unit)[:, :f]
    pull = tension[..., None] * unit
    gradient = -(matrix @ tension[..., None])[..., 0] - team.load(attitude)[:, :f]
    over = (distance - team.length[which]) / long
    by = np.concatenate([np.full(3, force), np.full(3, moment)])[:f]
    step = np.concatenate([np.full(3, long), np.full(3, long / team.scale)])[:f]
    stiff = hessian(some, attitude, pull, span)[:, :f, :f]
    slope = np.zeros((len(position), f + k, f + k))
    slope[:, :f, :f] = stiff * step / by[:, None]
    slope[:, :f, f:] = -matrix * force / by[:, None]
    slope[:, f:, :f] = -np.swapaxes(matrix, -1, -2) * step / long
    return np.concatenate([gradient / by, over], axis=-1), slope


def some_of(team: Team, which: Indices) -> Team:
    """The team with only these cables."""
    names = ("attachment", "length", "hook", "vehicle_mass", "thrust_max", "radius")
    return replace(team, **{name: getattr(team, name)[which] for name in names})


def _step(miss: Numbers, slope: Numbers, damping: Numbers) -> Numbers:
    turned = np.swapaxes(slope, -1, -2)
    normal = turned @ slope
    width = normal.shape[-1]
    normal[:, np.arange(width), np.arange(width)] += damping[:, None]
    return -np.asarray(np.linalg.solve(normal, turned @ miss[..., None]), float)[..., 0]


def _moved(
    team: Team, position: Numbers, attitude: Numbers, tension: Numbers, step: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """After a step: dr added, exp(dphi) put before the attitude, tensions added."""
    force, long, _ = _units(team)
    f = team.freedoms
    new = position + long * np.clip(step[:, :3], -0.5, 0.5)
    if f == 6:
        angle = step[:, 3:6] * long / team.scale
        size = np.linalg.norm(angle, axis=-1, keepdims=True)
        angle = angle * np.minimum(1.0, 0.7 / np.maximum(size, 1e-300))
        size = np.minimum(size, 0.7)
        half = np.concatenate([np.cos(size / 2), angle * np.sinc(size / 2 / np.pi) / 2], axis=-1)
        attitude = multiply(half, attitude)
        attitude = attitude / np.linalg.norm(attitude, axis=-1, keepdims=True)
    return new, attitude, tension + force * step[:, f:]
