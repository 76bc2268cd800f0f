"""A proof, where there is one, that an equilibrium has the least energy of all states of the payload.

Let every distance between the payload's points (attachments, centre of mass) shrink but not grow: then all
that keeps the payload up is convex, ||p_i - q_i|| <= l_i and ||p_i - p_j|| <= L_ij, and its least energy is a
second-order cone program (as Michael, Fink and Kumar announce at the end of their paper). Its optimum is the
payload's own if no distance shrinks there, which is not always so: teams that press the payload together let
it fold.

Rather than solve the program and look, we take an equilibrium and ask whether it solves the program. By
convexity it does if each point is in balance with members (i, j) that only pull, the load being laid on the
points in any way that leaves its resultant and the centre of mass as they are: a linear question with an
exact answer. Then no state of the payload, folded or not, has less energy.
"""

from __future__ import annotations

import numpy as np

from skyrig.checks import Numbers
from skyrig.statics.configuration import Configuration


def lowest(found: Configuration) -> bool:
    """Whether an equilibrium is certainly the one of least energy; slack cables add nothing that binds."""
    from scipy.optimize import nnls  # takes a while to import

    team = found.team
    if team.freedoms == 3:
        return True  # a point within convex constraints: every equilibrium has the least energy
    if team.force.any() and team.point.any():
        return False  # that point would be one more of the payload's
    middle = found.pose.position
    points = np.concatenate([team.points(found.pose), [middle]])
    load = (team.force + [0.0, 0.0, -team.weight]) / team.weight
    pulls = np.concatenate([found.force, np.zeros((1, 3))]) / team.weight
    # unknown: member tensions, and each point's share of the load as the difference of two positive numbers
    members = _members(points)
    shares = np.kron(np.eye(len(points)), load[:, None])
    centred = ((points - middle) / team.scale).T
    laid = np.concatenate([shares, np.ones((1, len(points))), centred])
    held = np.concatenate([members, np.zeros((4, members.shape[1]))])
    wanted = np.concatenate([-pulls.ravel(), [1.0], np.zeros(3)])
    _, miss = nnls(np.concatenate([held, laid, -laid], axis=1), wanted, maxiter=1000)
    return bool(miss < 1e-7)


def _members(points: Numbers) -> Numbers:
    """(3 k, members) force on every point of a unit tension in each member."""
    k = len(points)
    columns = [np.zeros(3 * k)]
    for i in range(k):
        for j in range(i):
            apart = points[i] - points[j]
            size = np.linalg.norm(apart)
            if size > 1e-9:
                column = np.zeros((k, 3))
                column[j], column[i] = apart / size, -apart / size
                columns.append(column.ravel())
    return np.stack(columns, axis=1)
