"""Where a payload comes to rest: the equilibrium of least energy, by a cone program where that is exact.

With the payload's points (attachments and centre of mass) free to come nearer to each other but not to part,

    least  -F.p_c   with   |p_i - q_i| <= l_i,   |p_i - p_j| <= L_ij,   affine relations between points kept

is a second-order cone program: its one optimum needs no search. It is the payload's own if no distance
shrank. For teams that press the payload together it does: then the program says nothing about the payload,
and the search of `skyrig.statics.direct` takes its place. What the program gives is made exact by Newton's
method and must pass `skyrig.statics.certificate`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skyrig import checks
from skyrig.checks import Numbers
from skyrig.errors import InputError
from skyrig.statics.direct import Equilibrium, check_reach, direct, kept
from skyrig.statics.newton import solve
from skyrig.statics.team import Given, Pose, Team

SHRUNK = 1e-5
"""By how much of the payload's size a distance may have shrunk, and cables be short of their lengths."""


class Rest(NamedTuple):
    """Where a payload comes to rest."""

    equilibrium: Equilibrium
    shrunk: float
    """By how much of the payload's size its points came nearer to each other in the cone program (1)."""
    exact: bool
    """Whether the cone program gave it, certified; otherwise it is the lowest that a search found."""


def resting(team: Team, hooks: Given, *, starts: int = 128, seed: int = 0) -> Rest:
    """The equilibrium of least energy under held hooks.

    Args:
        team: The team.
        hooks: (n, 3) where the cables' upper ends are, world (m).
        starts: Of the search, where the cone program is not exact: see `skyrig.statics.direct`.
        seed: Of these.

    Raises:
        InputError: If the solver of cone programs is not installed, or the hooks are too far apart.
    """
    ends = checks.numbers("hooks", hooks, (team.count, 3))
    check_reach(team, ends)
    if team.moment.any():
        raise InputError("moment must be zero to find a rest: a constant moment has no energy.")
    shrunk = float("nan")
    if not (team.force.any() and team.point.any()):  # that point would be one more of the payload's
        places, shrunk = relaxed(team, ends)
        found = _exact(team, ends, places) if shrunk < SHRUNK else None
        if found is not None:
            return Rest(found, shrunk, True)
    return Rest(direct(team, ends, starts=starts, seed=seed)[0], shrunk, False)


def relaxed(team: Team, hooks: Numbers) -> tuple[Numbers, float]:
    """(n + 1, 3) attachments and centre of mass where the program has them (m), and how much they shrank (1).

    The load must act at the centre of mass.
    """
    clarabel, sparse = _solver()
    own = np.concatenate([team.attachment, np.zeros((1, 3))])
    load = team.force + [0.0, 0.0, -team.weight]
    k = len(own)
    pairs = [(i, j) for i in range(k) for j in range(i) if np.linalg.norm(own[i] - own[j]) > 1e-9]
    far = [float(np.linalg.norm(own[i] - own[j])) for i, j in pairs]
    relations = _affine(own)
    rows = [np.kron(relations, np.eye(3))]
    right = [np.zeros(3 * len(relations))]
    cones: list[Any] = [clarabel.ZeroConeT(3 * len(relations))] if len(relations) else []
    for i in range(team.count):
        rows.append(_cone(k, {i: 1.0}))
        right.append(np.append(team.length[i], -hooks[i]))
        cones.append(clarabel.SecondOrderConeT(4))
    for (i, j), long in zip(pairs, far, strict=True):
        rows.append(_cone(k, {i: 1.0, j: -1.0}))
        right.append(np.append(long, np.zeros(3)))
        cones.append(clarabel.SecondOrderConeT(4))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cost = np.zeros(3 * k)
    cost[-3:] = -load / team.weight
    program = clarabel.DefaultSolver(
        sparse.csc_matrix((3 * k, 3 * k)),
        cost,
        sparse.csc_matrix(np.concatenate(rows)),
        np.concatenate(right),
        cones,
        settings,
    )
    places = np.array(program.solve().x).reshape(k, 3)
    if not np.isfinite(places).all():
        raise InputError("the hooks are so far apart that the payload cannot hang between them.")
    now = [np.linalg.norm(places[i] - places[j]) for i, j in pairs]
    return places, float(max((b - a for a, b in zip(now, far, strict=True)), default=0.0)) / team.scale


def _solver() -> tuple[Any, Any]:
    try:
        import clarabel
    except ImportError:
        raise InputError(
            "the lowest equilibrium needs the package clarabel, which the extra 'plan' brings: "
            "pip install 'skyrig[plan]'."
        ) from None
    from scipy import sparse

    return clarabel, sparse


def _affine(points: Numbers) -> Numbers:
    """(m, k) numbers a with sum a = 0 and sum a p = 0: relations that every pose keeps."""
    with_one = np.concatenate([points.T, np.ones((1, len(points)))])
    _, size, right = np.linalg.svd(with_one)
    return right[int((size > 1e-9 * size[0]).sum()) :]


def _cone(k: int, ends: dict[int, float]) -> Numbers:
    """(4, 3 k) the rows of |sum of points| <= number; the solver takes right - rows x to be in the cone."""
    block = np.zeros((4, 3 * k))
    for point, sign in ends.items():
        block[1:, 3 * point : 3 * point + 3] = -sign * np.eye(3)
    return block


def _exact(team: Team, hooks: Numbers, places: Numbers) -> Equilibrium | None:
    """The equilibrium that the program's points mean, made exact and certified; None if there is none."""
    own = np.concatenate([team.attachment, np.zeros((1, 3))])
    taut = np.linalg.norm(hooks - places[:-1], axis=1) > team.length - 1e-4 * team.length.mean()
    which = np.flatnonzero(taut)
    if not 0 < len(which) <= team.freedoms:
        return None
    pose = Pose(places[-1], _attitude(own, places))
    found = solve(team, hooks, which, 1, np.random.default_rng(0), pose)
    same = kept(team, hooks, which, found)
    return same[0] if same and same[0].lowest else None


def _attitude(own: Numbers, places: Numbers) -> Numbers:
    """(4,) the turn that best takes the payload's own points to their places (Kabsch)."""
    from scipy.spatial.transform import Rotation  # takes a while to import

    left, _, right = np.linalg.svd((places - places.mean(0)).T @ (own - own.mean(0)))
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    x, y, z, w = Rotation.from_matrix(left @ flip @ right).as_quat()
    return np.array([w, x, y, z])
