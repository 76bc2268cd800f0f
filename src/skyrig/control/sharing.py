"""How a wrench on the payload is shared among its cables: RotorTM's eq. 71 in closed form.

Least-norm cable forces mu_k (payload frame) with sum mu_k = F and sum rho_k x mu_k = M are

    mu_k = F/n + lambda x r_k,   r_k = rho_k - rho_mean,   S lambda = M - rho_mean x F,
    S = sum (|r_k|^2 I - r_k r_k^T)

which is P^T (P P^T)^-1 applied to (F, M), as a test checks. S is the inertia of unit masses at the
attachments. Where they lie on a line (two vehicles on a bar) or in a point, S is singular and its
pseudo-inverse leaves out the moments nobody can make; the force is always met.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from skyrig.algebra import as_jax, by_content
from skyrig.arrays import Array, namespace


class Sharing(NamedTuple):
    """A team that shares a wrench."""

    share: Float[Array, "n ..."]
    """Each cable's part of a pure force, adding up to one (or all zero)."""
    centre: Float[Array, "3 ..."]
    """Mean attachment (m)."""
    arm: Float[Array, "3 n ..."]
    """Attachments from their mean, times the cables' weights (m)."""
    inverse: Float[Array, "3 3 ..."]
    """Pseudo-inverse of S (1/m^2)."""


def sharing(attachment: Float[Array, "3 n ..."], weight: Float[Array, "n ..."]) -> Sharing:
    """The least-effort shares of cables that count with `weight` (one: fully; zero: not at all).

    Stays in NumPy where both are NumPy's.
    """
    xp = namespace(attachment, weight)
    total = weight.sum(0)
    share = weight / xp.where(total > 0, total, 1.0)
    centre = (share * attachment).sum(1)
    arm = attachment - centre[:, None]
    held = weight * arm
    square = (held * arm).sum((0, 1))
    spread = square * _identity(arm) - (held[:, None] * arm[None]).sum(2)
    return Sharing(share, centre, held, pseudo_inverse(spread))


def cable_forces(
    team: Sharing, force: Float[Array, "3 ..."], moment: Float[Array, "3 ..."]
) -> Float[Array, "3 n ..."]:
    """Least-norm forces of the cables on the payload (N) that make `force` and `moment`, payload frame."""
    turn = (team.inverse * (moment - _cross(team.centre, force))[None]).sum(1)
    return team.share * force[:, None] + _cross(turn[:, None], team.arm)


def pseudo_inverse(matrix: Float[Array, "3 3 ..."]) -> Float[Array, "3 3 ..."]:
    """Pseudo-inverse of a symmetric matrix, as S (S^2 + eps^2)^-1: smooth, free of branches."""
    xp = namespace(matrix)
    size = matrix[0, 0] + matrix[1, 1] + matrix[2, 2]
    scale = xp.where(size > 1e-12, size, 1.0)  # attachments in a point: S = 0 on any scale
    scaled = matrix / scale
    tiny = 1e-7 if matrix.dtype == np.float64 else 1e-4
    a, b, c = (scaled[:, :, None] * scaled[None]).sum(1) + tiny**2 * _identity(matrix)
    columns = xp.stack([_cross(b, c), _cross(c, a), _cross(a, b)], axis=1)
    inverse = columns / (a * columns[:, 0]).sum(0)
    return (scaled[:, :, None] * inverse[None]).sum(1) / scale


def _identity(like: Array) -> Array:
    """The unit matrix, with as many axes behind it as a vector's or matrix's batch has."""
    batch = like.ndim - 2
    return np.eye(3).astype(like.dtype).reshape((3, 3) + (1,) * batch)


def _cross(a: Array, b: Array) -> Array:
    parts = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return namespace(a, b).stack(parts)


@by_content
def uncontrolled_axis(attachment: np.ndarray, tolerance: float = 1e-6) -> np.ndarray | None:
    """The axis, payload frame, about which no cable force can turn the payload; None where there is none.

    Args:
        attachment: (n, 3) m.
        tolerance: How far from one line the attachments may be, against their spread.

    With two vehicles it is the line through the attachments. A payload on one attachment cannot be turned at
    all; then the axis is that through the point and the centre of mass, about which not even gravity acts.
    """
    arms = attachment - attachment.mean(axis=0)
    _, spread, axes = np.linalg.svd(arms, full_matrices=True)
    widths = np.zeros(3)
    widths[: len(spread)] = spread
    if widths[0] < 1e-9:
        centre = attachment.mean(axis=0)
        length = np.linalg.norm(centre)
        return centre / length if length > 1e-9 else None
    if widths[1] > tolerance * widths[0]:
        return None
    line = axes[0]
    return line * np.sign(line[np.argmax(np.abs(line))])


def weight_shares(attachment: Float[Array, "3 n"], weight: float) -> np.ndarray:
    """What each of n vehicles holds of a payload's `weight` (N) while it hangs level."""
    return weight * _level_shares(attachment)


@by_content
def _level_shares(attachment: np.ndarray) -> np.ndarray:
    """(n,) parts of a weight."""
    team = sharing(attachment, np.ones(attachment.shape[1]))
    return cable_forces(team, np.array([0.0, 0.0, 1.0]), np.zeros(3))[2]


def spreading(attachment: Float[Array, "3 n"], weight: float, lean: Any) -> Float[Array, "3 n"]:
    """Forces of cables against each other, payload frame (N), that lean them outwards by `lean` (rad).

    Each pulls outwards from the attachments' middle (evenly around where they share one) by the tangent of
    the lean times an equal share of the `weight` (N); what this leaves of a wrench is taken out again.
    """
    return as_jax(weight * namespace(lean).tan(lean) * _outward(attachment))


@by_content
def _outward(attachment: np.ndarray) -> np.ndarray:
    """(3, n) the forces of `spreading` for a weight of one newton and a lean with tangent one."""
    n = attachment.shape[1]
    if n == 1:
        return np.zeros((3, 1))
    flat = attachment[:2] - attachment[:2].mean(axis=1, keepdims=True)
    size = np.linalg.norm(flat, axis=0)
    turn = 2 * np.pi * np.arange(n) / n
    around = np.stack([np.cos(turn), np.sin(turn)])
    outward = np.zeros((3, n))
    outward[:2] = np.where(size > 1e-9, flat / np.maximum(size, 1e-9), around)
    team = sharing(attachment, np.ones(n))
    moment = np.cross(attachment, outward, axis=0).sum(axis=1)
    return (outward - cable_forces(team, outward.sum(axis=1), moment)) / n
