"""Energies of a finger, with their forces and stiffnesses (eqs. 10-15 and appendix I).

Everything works on whole slices, (..., slices, nodes, 3). Gradients are of the energy, the forces' opposite.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from skyrig.soft.mesh import Finger


class Strain(NamedTuple):
    """How the material is deformed where it is integrated."""

    change: Float[Array, "... points 3 3"]
    """Deformation gradient G, rows in space, columns in the material."""
    cofactor: Float[Array, "... points 3 3"]
    """Inverse transpose of G times its determinant."""
    volume: Float[Array, "... points"]
    """Ratio of deformed to undeformed volume, v_F."""


def strain(finger: Finger, nodes: Float[Array, "... nodes 3"]) -> Strain:
    """The deformation of slices."""
    change = jnp.einsum("...ai,gaj->...gij", nodes, finger.gradient)
    a, b, c = change[..., 0, :], change[..., 1, :], change[..., 2, :]
    first = jnp.cross(b, c)
    cofactor = jnp.stack([first, jnp.cross(c, a), jnp.cross(a, b)], -2)
    return Strain(change, cofactor, (a * first).sum(-1))


def material_energy(finger: Finger, nodes: Float[Array, "... slices nodes 3"]) -> Float[Array, "..."]:
    """Neo-Hookean energy of slices (J), infinite where an element is turned inside out.

    v (mu/2 tr(G^T G - 1) - mu ln v_F + kappa/2 ln^2 v_F)    (eq. 11)
    """
    now = strain(finger, nodes)
    inside = now.volume > 0
    log = jnp.log(jnp.where(inside, now.volume, 1.0))
    square = (now.change * now.change).sum((-1, -2))
    density = finger.shear * ((square - 3) / 2 - log) + finger.bulk * log * log / 2
    return jnp.where(inside.all((-1, -2)), (finger.weight * density).sum((-1, -2)), jnp.inf)


def material_slope(finger: Finger, nodes: Float[Array, "... nodes 3"]) -> Float[Array, "... nodes 3"]:
    """Gradient of a slice's energy (N): P = mu G + (kappa ln v_F - mu) G^-T, weighed and summed."""
    now = strain(finger, nodes)
    inverse = now.cofactor / now.volume[..., None, None]
    size = finger.bulk * jnp.log(now.volume) - finger.shear
    stress = finger.weight[:, None, None] * (finger.shear * now.change + size[..., None, None] * inverse)
    return jnp.einsum("...gij,gaj->...ai", stress, finger.gradient)


def material_stiffness(finger: Finger, nodes: Float[Array, "... nodes 3"]) -> Float[Array, "... dofs dofs"]:
    """Second derivatives of a slice's energy (N/m), nodes and axes in one row of 3n.

    With b the gradients of the nodes' functions in the deformed body,
    K_aibj = sum_g w (mu N_a,J N_b,J d_ij + kappa b_ai b_bj + (mu - kappa ln v_F) b_aj b_bi).
    """
    count = nodes.shape[-2]
    now = strain(finger, nodes)
    inverse = now.cofactor / now.volume[..., None, None]
    rows = jnp.einsum("...gij,gaj->...gai", inverse, finger.gradient)
    rows = rows.reshape((*rows.shape[:-2], 3 * count))
    turned = jnp.swapaxes(rows, -1, -2)
    size = finger.weight * (finger.shear - finger.bulk * jnp.log(now.volume))
    straight = turned @ ((finger.weight * finger.bulk)[:, None] * rows)
    crossed = (turned @ (size[..., None] * rows)).reshape((*nodes.shape[:-2], count, 3, count, 3))
    crossed = jnp.swapaxes(crossed, -1, -3).reshape(straight.shape)
    return straight + crossed + finger.shear * _spread(_gradients(finger))


def _gradients(finger: Finger) -> Float[Array, "nodes nodes"]:
    return jnp.einsum("g,gaj,gbj->ab", finger.weight, finger.gradient, finger.gradient)


def _spread(matrix: Float[Array, "nodes nodes"]) -> Float[Array, "dofs dofs"]:
    """The same matrix for x, y and z, 3n x 3n."""
    return jnp.kron(matrix, jnp.eye(3, dtype=matrix.dtype))


class Tendons(NamedTuple):
    """The tendons of a finger."""

    stretch: Float[Array, "... tendons"]
    """gamma of eq. 12: how much longer the way through the eyelets is than the tendon (m)."""
    span: Float[Array, "... slices tendons"]
    """From an eyelet to the next (m)."""
    direction: Float[Array, "... slices tendons 3"]
    """From an eyelet to the next."""


def tendons(
    finger: Finger, nodes: Float[Array, "... slices nodes 3"], lengths: Float[Array, "... tendons"]
) -> Tendons:
    """How tendons of rest `lengths` (m) run."""
    apart = jnp.einsum("ta,...ai->...ti", _across(finger), nodes)
    span = jnp.sqrt((apart * apart).sum(-1))
    return Tendons(span.sum(-2) - lengths, span, apart / span[..., None])


def _across(finger: Finger) -> Float[Array, "tendons nodes"]:
    """Weights of a slice's nodes in the way from the lower face's eyelet to the upper face's."""
    none = jnp.zeros((finger.tendons, finger.between), finger.eyelet.dtype)
    return jnp.concatenate([-finger.eyelet, none, finger.eyelet], 1)


def tension(finger: Finger, run: Tendons) -> Float[Array, "... tendons"]:
    """Pull of the tendons (N): 2 kappa gamma, and never a push (eq. 13)."""
    return 2 * finger.tendon_stiffness * jnp.maximum(run.stretch, 0.0)


def tendon_energy(
    finger: Finger, nodes: Float[Array, "... slices nodes 3"], lengths: Float[Array, "... tendons"]
) -> Float[Array, "..."]:
    """Energy of stretched tendons (J), eq. 13."""
    stretch = jnp.maximum(tendons(finger, nodes, lengths).stretch, 0.0)
    return finger.tendon_stiffness * (stretch * stretch).sum(-1)


def tendon_slope(finger: Finger, run: Tendons) -> Float[Array, "... slices nodes 3"]:
    """Gradient of the tendons' energy (N)."""
    pull = tension(finger, run)[..., None, :, None] * run.direction
    return jnp.einsum("ta,...ti->...ai", _across(finger), pull)


def tendon_columns(finger: Finger, run: Tendons) -> Float[Array, "... slices dofs tendons"]:
    """Gradient of each tendon's way, slice by slice."""
    columns = jnp.einsum("ta,...ti->...ait", _across(finger), run.direction)
    return columns.reshape((*columns.shape[:-3], -1, finger.tendons))


def tendon_stiffness(finger: Finger, run: Tendons) -> Float[Array, "... slices dofs dofs"]:
    """What turning the tendons costs (N/m); stretching them couples all slices: 2 kappa sum c c^T."""
    along = run.direction[..., :, None] * run.direction[..., None, :]
    size = tension(finger, run)[..., None, :] / run.span
    block = size[..., None, None] * (jnp.eye(3, dtype=along.dtype) - along)
    across = _across(finger)
    whole = jnp.einsum("ta,tb,...tij->...aibj", across, across, block)
    dofs = 3 * across.shape[1]
    return whole.reshape((*whole.shape[:-4], dofs, dofs))


def taut(run: Tendons) -> Bool[Array, "... tendons"]:
    """Which tendons pull, or would if they were the least bit shorter."""
    return run.stretch > -1e-9


def node_mass(finger: Finger) -> Float[Array, " nodes"]:
    """Mass that hangs on each node of a slice (kg)."""
    return finger.density * finger.overlap.sum(0)


def weight_energy(
    finger: Finger, nodes: Float[Array, "... slices nodes 3"], gravity: Float[Array, "... 3"]
) -> Float[Array, "..."]:
    """Energy in a field of `gravity` (m/s^2), eq. 15 (J)."""
    return -jnp.einsum("a,...sai,...i->...", node_mass(finger), nodes, gravity)


def weight_slope(finger: Finger, gravity: Float[Array, "... 3"]) -> Float[Array, "... 1 nodes 3"]:
    """Its gradient on every slice (N)."""
    return -node_mass(finger)[:, None] * gravity[..., None, None, :]


def pin_energy(finger: Finger, base: Float[Array, "... face 3"]) -> Float[Array, "..."]:
    """Energy of the springs that hold the base's nodes (J); eq. 14 with the square that its force has."""
    away = base - finger.base
    return (finger.pins * (away * away).sum(-1)).sum(-1) / 2
