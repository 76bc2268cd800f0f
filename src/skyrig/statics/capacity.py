"""What a team can hold at a pose: which further wrenches, how near the nearest it cannot, and after a loss.

Two questions are answered. **Held**: with the cables' directions as they are, tensions between limits make a
zonotope of wrenches. It is flat, and its margin zero, where cables leave the payload freedoms: under a push
the payload then swings until directions fit. **Aimed**: vehicles may also move around at the same pose of the
payload; each can pull with any force f that leaves it within its thrust, |m g e3 + f| <= T, and is not below
its attachment, f_z >= 0. Wrenches are then the sum of convex sets with the support function

    h(d) = sum_i max_f d_i.f,   d_i = d_force + d_moment x rho_i

Moments are weighed by the team's scale (the farthest attachment's arm), so that margins are newtons.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from skyrig import checks
from skyrig.checks import Numbers
from skyrig.errors import InputError
from skyrig.statics.configuration import Configuration
from skyrig.statics.distribution import tension_limit
from skyrig.statics.inverse import pulls
from skyrig.statics.newton import some_of
from skyrig.statics.stability import across
from skyrig.statics.team import Given, Pose, Team
from skyrig.turns import cross


def zonotope_margin(matrix: Numbers, wrench: Numbers, low: Numbers, high: Numbers) -> float:
    """Least distance from a wrench to the faces of {W lambda, low <= lambda <= high}; below zero outside.

    Every face is spanned by f - 1 columns, so all such sets are gone through.

    Args:
        matrix: (f, n), rows in comparable units.
        wrench: (f,).
        low: (n,) N.
        high: (n,) N.
    """
    f, n = matrix.shape
    if n < f or np.linalg.matrix_rank(matrix, tol=1e-9) < f:
        return 0.0
    sets = np.array(list(combinations(range(n), f - 1)))
    spans = np.moveaxis(matrix[:, sets], 0, 1)
    left, size, _ = np.linalg.svd(spans)
    normal = left[:, :, -1][size[:, -1] > 1e-9 * size[:, 0].max()]
    along = normal @ matrix
    beyond = np.maximum(along, 0.0) @ high + np.minimum(along, 0.0) @ low
    before = np.maximum(along, 0.0) @ low + np.minimum(along, 0.0) @ high
    here = normal @ wrench
    return float(np.minimum(beyond - here, here - before).min())


def held_margin(found: Configuration, low: Given = 0.0) -> float:
    """How large a further wrench in any direction the tensions can make up for, directions as they are (N).

    Args:
        found: The configuration.
        low: Least tension (N).
    """
    team, f = found.team, found.team.freedoms
    weigh = _weigh(team)
    least = np.broadcast_to(np.asarray(low, dtype=float), (team.count,))
    load = -team.load(found.pose.attitude)[:f]
    return zonotope_margin(
        found.wrench_matrix[:f] * weigh[:, None], load * weigh, least, np.maximum(tension_limit(found), least)
    )


def _weigh(team: Team) -> Numbers:
    return np.concatenate([np.ones(3), np.full(3, 1 / team.scale)])[: team.freedoms]


def support(team: Team, pose: Pose, direction: Numbers) -> Numbers:
    """(...,) h(d): how far the team's wrenches reach along directions (..., f) of weighed wrenches (N)."""
    at = np.broadcast_to(direction[..., None, :3], (*direction.shape[:-1], team.count, 3))
    if team.freedoms == 6:
        at = at + cross(direction[..., None, 3:] / team.scale, team.arms(pose.attitude))
    own = team.vehicle_mass * team.gravity
    size = np.maximum(np.linalg.norm(at, axis=-1), 1e-300)
    # the ball |own e3 + f| <= T, or its cut at f_z = 0 where the farthest point of the ball lies below
    above = team.thrust_max * at[..., 2] / size >= own
    ball = team.thrust_max * size - own * at[..., 2]
    rim = np.sqrt(np.maximum(team.thrust_max**2 - own**2, 0.0))
    cut = rim * np.hypot(at[..., 0], at[..., 1])
    return np.asarray(np.where(above, ball, cut).sum(-1))


def aimed_margin(team: Team, pose: Pose, starts: int = 4096, seed: int = 0) -> float:
    """How large a further wrench in any direction the team can make up for if it may also move around (N).

    The least of h(d) - d.w over all directions d, sampled and then followed down from the lowest eight. Below
    zero, the team cannot hold the payload there. A search from above: it may miss a lower point.

    Args:
        team: The team.
        pose: Where the payload is.
        starts: How many directions to sample.
        seed: Of these.
    """
    from scipy.optimize import minimize  # takes a while to import

    load = -team.load(pose.attitude)[: team.freedoms] * _weigh(team)

    def spare(direction: Numbers) -> Numbers:
        unit = direction / np.linalg.norm(direction, axis=-1, keepdims=True)
        return np.asarray(support(team, pose, unit) - unit @ load)

    def slope(direction: Numbers) -> Numbers:
        step = 1e-7 * np.eye(len(direction))
        return (spare(direction + step) - spare(direction - step)) / 2e-7

    rng = np.random.default_rng(seed)
    tried = rng.normal(size=(starts, team.freedoms))
    tried /= np.linalg.norm(tried, axis=1, keepdims=True)
    values = spare(tried)
    best = float(values.min())
    for row in np.argsort(values)[:8]:
        ended = minimize(lambda d: float(spare(d)), tried[row], jac=slope, method="BFGS")
        best = min(best, float(ended.fun))
    return best


def reach(team: Team, pose: Pose, wrench: Given) -> float:
    """How much of a further wrench on the payload the team can hold at a pose, as a factor of it.

    The largest s so that pulls within all thrusts balance the load and s times the wrench: a convex program.

    Args:
        team: The team.
        pose: Where the payload is.
        wrench: (6,) force (N) and moment (N m) on the payload, world; (3,) for a point mass.
    """
    from scipy.optimize import minimize  # takes a while to import

    push = checks.numbers("wrench", wrench, (team.freedoms,))
    if not push.any():
        raise InputError("wrench must not be zero: it says in which direction to push.")
    n, f = team.count, team.freedoms
    unit = float(np.linalg.norm(push * _weigh(team))) / team.weight
    grasp = np.concatenate([np.tile(np.eye(3), (1, n)), np.hstack(list(across(team.arms(pose.attitude))))])[
        :f
    ]
    rows = np.concatenate([grasp, push[:, None] / unit / team.weight], axis=1) * _weigh(team)[:, None]
    rows, wanted = _independent(rows, -team.load(pose.attitude)[:f] * _weigh(team) / team.weight)
    own = team.vehicle_weight / team.weight
    most = team.thrust_max / team.weight

    def spare(x: Numbers) -> Numbers:
        force = x[:-1].reshape(n, 3)
        return most**2 - ((force + own) ** 2).sum(1)

    def slope(x: Numbers) -> Numbers:
        force = x[:-1].reshape(n, 3)
        wide = np.zeros((n, 3 * n + 1))
        for k in range(n):
            wide[k, 3 * k : 3 * k + 3] = -2 * (force[k] + own[k])
        return wide

    ended = minimize(
        lambda x: -x[-1],
        np.append((pulls(team, pose).least / team.weight).ravel(), 0.0),
        jac=lambda x: np.append(np.zeros(3 * n), -1.0),
        method="SLSQP",
        bounds=[*([(None, None), (None, None), (0.0, None)] * n), (None, None)],
        constraints=[
            {"type": "eq", "fun": lambda x: rows @ x - wanted, "jac": lambda x: rows},
            {"type": "ineq", "fun": spare, "jac": slope},
        ],
        options={"maxiter": 300, "ftol": 1e-12},
    )
    miss = max(float(np.abs(rows @ ended.x - wanted).max()), -float(spare(ended.x).min()))
    if miss > 1e-6:
        raise InputError(
            f"the team cannot hold the payload at this pose at all: {miss * team.weight:.3g} N miss."
        )
    return float(ended.x[-1]) / unit


def _independent(rows: Numbers, wanted: Numbers) -> tuple[Numbers, Numbers]:
    """The same equations without those that follow from others."""
    left, size, right = np.linalg.svd(rows, full_matrices=False)
    rank = int((size > 1e-9 * size[0]).sum())
    return size[:rank, None] * right[:rank], (left.T @ wanted)[:rank]


@dataclass(frozen=True)
class Loss:
    """What is left when one vehicle is gone."""

    vehicle: int
    margin: float | None
    """Newtons that the others can make up for at the same pose; None where none of their pulls balance."""
    note: str
    """One sentence."""


def losses(team: Team, pose: Pose) -> list[Loss]:
    """What the others can hold at the same pose after any one vehicle lets go of its cable."""
    told = []
    for k in range(team.count):
        rest = np.delete(np.arange(team.count), k)
        if not len(rest):
            told.append(Loss(k, None, "nobody is left."))
            continue
        others = some_of(team, rest)
        try:
            pulls(others, pose)
        except InputError as error:
            told.append(Loss(k, None, str(error)))
            continue
        margin = aimed_margin(others, pose)
        note = f"the others hold the pose with {margin:.3g} N to spare in every direction."
        if abs(margin) < 1e-5 * team.weight:
            margin, note = 0.0, "the others just hold the pose, with nothing to spare in some direction."
        elif margin < 0:
            note = f"the others cannot hold the pose: {-margin:.3g} N miss."
        told.append(Loss(k, margin, note))
    return told
