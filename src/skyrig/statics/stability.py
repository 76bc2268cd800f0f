"""Whether a payload stays where it hangs: second-order changes of its energy while the vehicles hold still.

Motions are twists (dr, dphi): the centre of mass moves by dr, the payload turns by the vector dphi, world
frame. Along r + dr, exp(dphi) R the Lagrangian L = V + sum lambda_i (|p_i - q_i| - l_i) has the Hessian

    H = sum lambda_i/l_i J_i^T (I - u_i u_i^T) J_i + [0, 0; 0, sum sym(lambda_i u_i, rho_i) + sym(F, c)]
    J_i = [I, -rho_i x],   sym(f, rho) = (f.rho) I - (f rho^T + rho f^T)/2

with F a constant force at the point c. Taut cables leave the twists with u_i.dr + (rho_i x u_i).dphi = 0: on
their space H decides. Unlike the paper's angles {phi1, theta1, phi2} (eq. 9; `spherical`), nothing here is
singular where a cable hangs upright.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyrig.checks import Numbers
from skyrig.errors import InputError
from skyrig.statics.configuration import Configuration, wrenches
from skyrig.statics.team import Team
from skyrig.turns import turn


def across(vector: Numbers) -> Numbers:
    """(..., 3, 3) the matrix of `vector` x ..., for vectors (..., 3)."""
    x, y, z = np.moveaxis(vector, -1, 0)
    zero = np.zeros_like(x)
    rows = [zero, -z, y, z, zero, -x, -y, x, zero]
    return np.stack(rows, axis=-1).reshape(*vector.shape[:-1], 3, 3)


def _turned(force: Numbers, arm: Numbers) -> Numbers:
    """(..., 3, 3) sym(f, rho) of the formula above."""
    outer = force[..., :, None] * arm[..., None, :]
    along = (force * arm).sum(-1)[..., None, None]
    return along * np.eye(3) - (outer + np.swapaxes(outer, -1, -2)) / 2


def hessian(team: Team, attitude: Numbers, force: Numbers, span: Numbers) -> Numbers:
    """(..., 6, 6) second derivatives of the Lagrangian by twists (N/m, N, N m).

    Args:
        team: The team.
        attitude: (..., 4) of the payload.
        force: (..., n, 3) pulls of the cables, world (N), each along its span.
        span: (..., n, 3) from the attachments to the hooks, world (m).
    """
    arms = np.broadcast_to(team.arms(attitude), span.shape)
    distance = np.maximum(np.linalg.norm(span, axis=-1), 1e-12)
    unit = span / distance[..., None]
    pull = (force * unit).sum(-1)
    sideways = np.eye(3) - unit[..., :, None] * unit[..., None, :]
    local = (pull / distance)[..., None, None] * sideways
    lever = across(arms)
    moved = local @ lever
    top = np.concatenate([local, -moved], axis=-1)
    bottom = np.concatenate([-np.swapaxes(moved, -1, -2), np.swapaxes(lever, -1, -2) @ moved], axis=-1)
    total = np.concatenate([top, bottom], axis=-2).sum(-3)
    total[..., 3:, 3:] += _turned(force, arms).sum(-3)
    where = turn(attitude, team.point)
    total[..., 3:, 3:] += _turned(np.broadcast_to(team.force, where.shape), where)
    return total


@dataclass(frozen=True, eq=False)
class Stability:
    """What small motions of a payload under held vehicles are like."""

    twists: Numbers
    """(f, k) orthonormal basis of the motions that taut cables leave; f is 6, or 3 for a point mass."""
    stiffness: Numbers
    """(k, k) Hessian of the energy in that basis."""
    eigenvalues: Numbers
    """(k,) of the stiffness, least first (J per unit twist squared; turning counts in rad, moving in m)."""
    squares: Numbers
    """(k,) squared natural frequencies (rad^2/s^2), least first; below zero: runs away."""
    modes: Numbers
    """(f, k) motion of each natural frequency: dr (m) over dphi (rad), of unit modal mass."""

    @property
    def frequencies(self) -> Numbers:
        """(k,) natural frequencies (Hz); not a number where the motion runs away instead of swinging."""
        with np.errstate(invalid="ignore"):
            return np.sqrt(np.where(self.squares < 0, np.nan, self.squares)) / (2 * np.pi)

    @property
    def neutral(self) -> int:
        """In how many ways the payload can move without a change of energy to second order."""
        return int((np.abs(self.squares) < self._small).sum())

    @property
    def stable(self) -> bool:
        """Whether every motion is driven back (or none is possible)."""
        return bool((self.squares > self._small).all())

    @property
    def _small(self) -> float:
        return 1e-7 * max(float(np.abs(self.squares).max(initial=0.0)), 1e-9)


def freedoms_left(matrix: Numbers, scale: float) -> Numbers:
    """(f, k) orthonormal twists that leave all cables' lengths as they are, to first order.

    Args:
        matrix: (f, n) wrenches of the taut cables.
        scale: Length by which turning is weighed when the rank is counted (m).
    """
    weigh = np.concatenate([np.ones(3), np.full(len(matrix) - 3, scale)])
    if not matrix.shape[1]:
        return np.eye(len(matrix))
    left, size, _ = np.linalg.svd(matrix / weigh[:, None], full_matrices=True)
    rank = int((size > 1e-9 * size[0]).sum())
    return np.linalg.qr(left[:, rank:] / weigh[:, None])[0]


def mass_matrix(team: Team, attitude: Numbers) -> Numbers:
    """(..., f, f) of the payload for twists (kg, kg m^2)."""
    if team.inertia is None:
        return team.mass * np.eye(3)
    rows = turn(attitude[..., None, :], np.eye(3))
    whole = np.zeros((*attitude.shape[:-1], 6, 6))
    whole[..., :3, :3] = team.mass * np.eye(3)
    whole[..., 3:, 3:] = np.swapaxes(rows, -1, -2) @ team.inertia @ rows
    return whole


def stability(found: Configuration) -> Stability:
    """Stability of a configuration with its vehicles held still; slack cables count as absent.

    Raises:
        InputError: If a constant moment acts: it has no energy, and so no Hessian.
    """
    team, pose = found.team, found.pose
    if np.any(team.moment != 0):
        raise InputError(
            "moment must be zero for stability: a constant moment has no potential energy; "
            "give a force at a point instead."
        )
    taut = found.tension > 1e-9 * team.weight
    span = found.hooks - team.points(pose)
    f = team.freedoms
    whole = hessian(team, pose.attitude, found.force, span)[:f, :f]
    matrix = wrenches(team.arms(pose.attitude), found.direction)[:f, taut]
    twists = freedoms_left(matrix, team.scale)
    stiff = twists.T @ whole @ twists
    stiff = (stiff + stiff.T) / 2
    mass = twists.T @ mass_matrix(team, pose.attitude) @ twists
    root = np.linalg.inv(np.linalg.cholesky(mass))
    squares, shapes = np.linalg.eigh(root @ stiff @ root.T)
    return Stability(
        twists, stiff, np.asarray(np.linalg.eigvalsh(stiff), float), squares, twists @ root.T @ shapes
    )


def softness(found: Configuration) -> Numbers:
    """(..., f) squared natural frequencies (rad^2/s^2) with cables a little elastic, least first.

    For searches: smooth where the cables' directions become dependent, and for many configurations at once.
    Those that the cables' lengths forbid come out very large.
    """
    team, f = found.team, found.team.freedoms
    span = team.length[:, None] * found.direction
    matrix = found.wrench_matrix[..., :f, :]
    stiff = hessian(team, found.pose.attitude, found.force, span)[..., :f, :f]
    hard = 1e5 * team.weight / team.length.mean()
    stiff = stiff + hard * matrix @ np.swapaxes(matrix, -1, -2)
    root = np.linalg.inv(np.linalg.cholesky(mass_matrix(team, found.pose.attitude)))
    return np.asarray(np.linalg.eigvalsh(root @ stiff @ np.swapaxes(root, -1, -2)), float)


def spherical(found: Configuration) -> Numbers:
    """(3, 3) the paper's Hessian (eq. 9): energy by phi1, theta1, phi2, the cables' spherical angles (J).

    phi_i is measured from the upward axis at robot i, theta_1 around it, as in its Fig. 4. At an equilibrium
    its signs are those of `stability`; its eigenvalues are others, as coordinates are.

    Raises:
        InputError: If there are not three taut cables, or the first or second hangs upright, where these
            angles are singular.
    """
    team = found.team
    if team.count != 3 or team.freedoms != 6:
        raise InputError(f"the paper's Hessian is for three cables, not {team.count}.")
    known = stability(found)
    arms = team.arms(found.pose.attitude)
    level = np.hypot(found.direction[:, 0], found.direction[:, 1])
    for k in (0, 1):
        if level[k] < 1e-6:
            raise InputError(
                f"cable {k} hangs upright, where the angles phi and theta are singular: "
                "use the Hessian on the tangent space, which is not."
            )
    # dp_i = dr + dphi x rho_i; with d = -u: cos phi = d_z, tan theta = d_y / d_x
    ends = [np.concatenate([np.eye(3), -across(arms[k])], axis=1) @ known.twists for k in (0, 1)]
    down = -found.direction
    tilt = [-ends[k][2] / (team.length[k] * level[k]) for k in (0, 1)]
    around = np.array([-down[0, 1], down[0, 0], 0.0]) / (team.length[0] * level[0] ** 2)
    angles = np.stack([tilt[0], around @ ends[0], tilt[1]])
    if np.linalg.cond(angles) > 1e9:
        raise InputError("the angles phi1, theta1, phi2 do not describe the payload's motions here.")
    back = np.linalg.inv(angles)
    return back.T @ known.stiffness @ back
