"""The Hessian of `skyrig.statics.stability` in compiled form: components first, batch last."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import cross, dot


def curvature(
    arms: Float[Array, "3 n ..."],
    unit: Float[Array, "3 n ..."],
    pull: Float[Array, "n ..."],
    length: Float[Array, "n ..."],
) -> Float[Array, "6 6 ..."]:
    """Second derivatives of a hanging payload's energy by twists (N/m, N, N m), taut cables at their lengths.

    Args:
        arms: From the centre of mass to the attachments, world (m).
        unit: Directions of the cables, upwards.
        pull: Of the cables (N); zero leaves a cable out.
        length: Of the cables (m).
    """
    eye = _eye(unit)
    total = jnp.zeros((6, 6, *unit.shape[2:]), unit.dtype)
    for k in range(unit.shape[1]):
        u, rho = unit[:, k], arms[:, k]
        local = pull[k] / length[k] * (eye - u[:, None] * u[None])
        moved = jnp.stack([cross(row, rho) for row in local])  # rows of local @ (rho x)
        turned = jnp.stack([cross(moved[:, j], rho) for j in range(3)], axis=1)
        total = total.at[:3, :3].add(local)
        total = total.at[:3, 3:].add(-moved)
        total = total.at[3:, :3].add(-jnp.swapaxes(moved, 0, 1))
        total = total.at[3:, 3:].add(turned + turning(pull[k] * u, rho))
    return total


def turning(force: Float[Array, "3 ..."], arm: Float[Array, "3 ..."]) -> Float[Array, "3 3 ..."]:
    """(f.rho) I - (f rho^T + rho f^T)/2: what a force at the end of an arm adds while the arm turns (N m)."""
    outer = force[:, None] * arm[None]
    return dot(force, arm) * _eye(outer) - (outer + jnp.swapaxes(outer, 0, 1)) / 2


def _eye(like: Float[Array, "3 n ..."]) -> Array:
    return jnp.eye(3, dtype=like.dtype).reshape((3, 3) + (1,) * (like.ndim - 2))
