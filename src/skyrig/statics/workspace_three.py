"""The rooms of `skyrig.statics.inverse.room` for three robots, compiled: a million configurations a second.

Components come first and samples last, so that every line runs over all samples in vector instructions; no
matrix is ever factored by a library call. What comes out is what `room` says, as a test checks.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from skyrig.algebra import cross, dot
from skyrig.checks import Numbers
from skyrig.statics.curvature import curvature, turning
from skyrig.statics.inverse import Limits
from skyrig.statics.push import UNDER, push_shares
from skyrig.statics.stability import mass_matrix
from skyrig.statics.team import Pose, Team
from skyrig.statics.three import PaperFrame
from skyrig.turns import turn

Array = Any


def rooms_of(
    team: Team, pose: Pose, at: PaperFrame, limits: Limits, samples: Numbers
) -> tuple[dict[str, Numbers], Numbers]:
    """(N,) room in every limit by its name, and (N, 3) tensions (N), of coordinates (N, 3).

    Args:
        team: A team of three without hooks.
        pose: Where the payload is.
        at: Its frame there.
        limits: Limits, filled.
        samples: x1, y1, y2 of each.
    """
    apart = team.separation() if limits.separation is None else np.full((3, 3), limits.separation)
    most = np.inf if limits.tension_max is None else limits.tension_max
    numbers = {
        "axes": at.axes,
        "upward": at.upward,
        "second": np.asarray(at.second),
        "third": at.third,
        "pull": at.pull,
        "turning": at.moment[2],
        "arms": team.arms(pose.attitude),
        "length": team.length,
        "own": team.vehicle_mass * team.gravity,
        "thrust": limits.thrust_share * team.thrust_max,
        "radius": team.radius if limits.clearance is None else np.full(3, limits.clearance),
        "apart": apart[[0, 0, 1], [1, 2, 2]],
        "weight": np.asarray(team.weight),
        "force": team.force,
        "point": turn(pose.attitude, team.point),
        "root": np.linalg.inv(np.linalg.cholesky(mass_matrix(team, pose.attitude))),
        "unit": np.asarray(team.length.mean() / team.gravity),
        "low": np.asarray(limits.tension_min or 0.0),
        "high": np.asarray(most),
        "sine": np.asarray(np.sin(limits.elevation)),
        "push": np.asarray(limits.push),
        "shares": _turned_shares(team, pose),
    }
    found, tension = _compiled({name: jnp.asarray(value) for name, value in numbers.items()}, samples.T)
    rooms = {name: np.asarray(values) for name, values in found.items()}
    if not np.isfinite(most):
        del rooms["tension below its most"]
        del rooms[f"tension below its most{UNDER}"]
    if not limits.push:
        rooms = {name: values for name, values in rooms.items() if not name.endswith(UNDER)}
    if not limits.stable:
        del rooms["squared natural frequency over gravity by length"]
    return rooms, np.asarray(tension).T


def _turned_shares(team: Team, pose: Pose) -> Numbers:
    """(n, 3, 3) of `push_shares`, world frame."""
    rows = turn(pose.attitude[None], np.eye(3))  # the body's axes
    return np.einsum("pa,npq,qb->nab", rows, push_shares(team), rows)


@jax.jit
def _compiled(it: dict[str, Array], coordinates: Array) -> tuple[dict[str, Array], Array]:
    local = _pulls(it, coordinates)
    force = jnp.einsum("jk,ijs->kis", it["axes"], local)  # (3, n, s), world
    tension = jnp.sqrt(dot(force, force))
    unit = force / tension
    weight, length = it["weight"], it["length"].mean()
    arms = it["arms"].T[:, :, None]
    places = arms + it["length"][:, None] * unit
    thrust = force.at[2].add(it["own"][:, None])
    spare = it["thrust"][:, None] - jnp.sqrt(dot(thrust, thrust))
    pairs = jnp.stack([places[:, j] - places[:, k] for j, k in ((0, 1), (0, 2), (1, 2))], axis=1)
    above = jnp.concatenate([unit[2], local[:, 2] / tension])
    rooms = {
        "tension above its least": (tension - it["low"]).min(0) / weight,
        "thrust": spare.min(0) / weight,
        "distance between vehicles": (jnp.sqrt(dot(pairs, pairs)) - it["apart"][:, None]).min(0) / length,
        "elevation of the cables": above.min(0) - it["sine"],
        "distance of vehicles from others' cables": _clear(it, arms, unit, places) / length,
        "tension below its most": (it["high"] - tension).min(0) / weight,
        "squared natural frequency over gravity by length": _softest(it, unit, force) * it["unit"] + 1e-9,
    }
    loses = jnp.einsum("nab,ans->bns", it["shares"], unit)
    loses = it["push"] * jnp.sqrt(dot(loses, loses))
    gains = it["push"] * jnp.linalg.norm(it["shares"], ord=2, axis=(1, 2))[:, None]
    rooms |= {
        f"tension above its least{UNDER}": (tension - loses - it["low"]).min(0) / weight,
        f"thrust{UNDER}": (spare - gains).min(0) / weight,
        f"tension below its most{UNDER}": (it["high"] - tension - gains).min(0) / weight,
    }
    return rooms, tension


def _pulls(it: dict[str, Array], coordinates: Array) -> Array:
    """(n, 3, s) pulls in the frame B: `skyrig.statics.three.slopes` times t_i."""
    (t1, t2, t3), (x1, y1, y2) = it["upward"], coordinates
    y3 = (it["pull"][1] - t1 * y1 - t2 * y2) / t3
    x3 = (it["third"][0] * y3 - (it["turning"] - t2 * it["second"] * y2) / t3) / it["third"][1]
    x2 = (it["pull"][0] - t1 * x1 - t3 * x3) / t2
    one = jnp.ones_like(x1)
    rows = [t * jnp.stack([x, y, one]) for t, x, y in ((t1, x1, y1), (t2, x2, y2), (t3, x3, y3))]
    return jnp.stack(rows)


def _clear(it: dict[str, Array], arms: Array, unit: Array, places: Array) -> Array:
    """Least distance of a vehicle's ball from another's cable (m)."""
    found = []
    for i in range(3):
        for j in range(3):
            if i != j:
                away = places[:, j] - arms[:, i]
                along = jnp.clip(dot(away, unit[:, i]), 0.0, it["length"][i])
                rest = away - along * unit[:, i]
                found.append(jnp.sqrt(dot(rest, rest)) - it["radius"][j])
    return jnp.stack(found).min(0)


def _softest(it: dict[str, Array], unit: Array, force: Array) -> Array:
    """Least squared natural frequency (rad^2/s^2): the Hessian on what the cables leave, by reflections."""
    arms = jnp.broadcast_to(it["arms"].T[:, :, None], unit.shape)
    wrench = jnp.concatenate([unit, cross(arms, unit)])  # (6, n, s)
    pull = jnp.sqrt(dot(force, force))
    whole = curvature(arms, unit, pull, jnp.broadcast_to(it["length"][:, None], pull.shape))
    whole = whole.at[3:, 3:].add(turning(it["force"][:, None], it["point"][:, None]))
    # in coordinates y with unit masses, twist = root^T y
    root = it["root"]
    whole = jnp.einsum("ab,bcs,dc->ads", root, whole, root)
    columns = jnp.einsum("ab,bns->ans", root, wrench)
    for k in range(3):
        normal = columns[k:, k]
        size = jnp.sqrt(dot(normal, normal))
        normal = normal.at[0].add(jnp.where(normal[0] >= 0, size, -size))
        normal = normal / jnp.sqrt(jnp.maximum(dot(normal, normal), 1e-300))
        columns = columns.at[k:].add(-2 * normal[:, None] * (normal[:, None] * columns[k:]).sum(0))
        whole = whole.at[k:].add(-2 * normal[:, None] * (normal[:, None] * whole[k:]).sum(0))
        whole = whole.at[:, k:].add(-2 * normal[None] * (normal[None] * whole[:, k:]).sum(1)[:, None])
    return _least_eigenvalue(whole[3:, 3:])


def _least_eigenvalue(matrix: Array) -> Array:
    """Of symmetric 3x3 matrices, by the trigonometric formula."""
    mean = (matrix[0, 0] + matrix[1, 1] + matrix[2, 2]) / 3
    rest = matrix - mean * jnp.eye(3)[:, :, None]
    size = jnp.sqrt(jnp.maximum((rest**2).sum((0, 1)) / 6, 1e-300))
    plain = rest / size
    half = dot(plain[0], cross(plain[1], plain[2])) / 2
    angle = jnp.arccos(jnp.clip(half, -1.0, 1.0)) / 3
    return mean + 2 * size * jnp.cos(angle + 2 * jnp.pi / 3)
