"""Where a finger is when its tendons have given lengths: the least of its energy (eq. 10), by Newton."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from skyrig.soft import energy
from skyrig.soft.blocks import Factor, factor, solve
from skyrig.soft.mesh import Finger
from skyrig.soft.stack import assembled, gathered, rest_blocks, stacked

TOLERANCE = 1e-7
"""Force left over, over all nodes (N); a fingertip gives way by 3 m a newton."""
ROUGH = 1e-3
"""The same on the way to far lengths (N)."""
MOST_TURNS = 200
"""Newton turns for one equilibrium."""
PULL = 0.012
"""How far tendons are pulled at once (m): further, and elements at the base would turn inside out."""
LEAP = 0.02
"""How far a Newton turn moves any node, at most (m)."""


class FingerEquilibrium(NamedTuple):
    """A finger at rest."""

    blocks: Float[Array, "*fingers blocks own 3"]
    """Its nodes in its own frame (m); see `skyrig.soft.stack`."""
    lengths: Float[Array, "*fingers tendons"]
    """Of its tendons (m)."""
    residual: Float[Array, "*fingers"]
    """Force left over (N)."""
    turns: Int[Array, "*fingers"]
    """Newton turns it took."""


def total_energy(
    finger: Finger,
    blocks: Float[Array, "*fingers blocks own 3"],
    lengths: Float[Array, "*fingers tendons"],
    gravity: Float[Array, "*fingers 3"],
) -> Float[Array, "*fingers"]:
    """Of material, tendons, weight and pins (J), eq. 10."""
    nodes = stacked(finger, blocks)
    total = energy.material_energy(finger, nodes) + energy.tendon_energy(finger, nodes, lengths)
    total = total + energy.weight_energy(finger, nodes, gravity)
    return total if finger.clamped else total + energy.pin_energy(finger, _base(finger, blocks))


def total_slope(
    finger: Finger,
    blocks: Float[Array, "blocks own 3"],
    lengths: Float[Array, " tendons"],
    gravity: Float[Array, "3"],
) -> Float[Array, "blocks dofs"]:
    """Its gradient (N); a clamped base feels nothing."""
    nodes = stacked(finger, blocks)
    run = energy.tendons(finger, nodes, lengths)
    slope = energy.material_slope(finger, nodes) + energy.tendon_slope(finger, run)
    slope = slope + energy.weight_slope(finger, gravity)
    made = gathered(finger, slope.reshape(finger.slices, -1, 1))[..., 0]
    if finger.clamped:
        return made.at[0].set(0.0)
    away = finger.pins[:, None] * (_base(finger, blocks) - finger.base)
    return made.at[0, 3 * finger.between :].add(away.reshape(-1))


class Linearised(NamedTuple):
    """The second derivatives of a finger's energy, factored: what tendons couple stands apart.

    Hessian = A + 2 kappa C C^T, with A block tridiagonal and one column of C for each taut tendon.
    """

    parts: Factor
    columns: Float[Array, "blocks dofs tendons"]
    answered: Float[Array, "blocks dofs tendons"]
    """A^-1 C."""
    small: Float[Array, "tendons tendons"]
    """1 / (2 kappa) + C^T A^-1 C."""


def linearise(
    finger: Finger,
    blocks: Float[Array, "blocks own 3"],
    lengths: Float[Array, " tendons"],
    shift: Float[Array, ""],
) -> Linearised:
    """The Hessian with `shift` (N/m) on its diagonal."""
    nodes = stacked(finger, blocks)
    run = energy.tendons(finger, nodes, lengths)
    stiffness = energy.material_stiffness(finger, nodes) + energy.tendon_stiffness(finger, run)
    matrix = assembled(finger, stiffness)
    eye = jnp.eye(matrix.diagonal.shape[-1], dtype=shift.dtype)
    diagonal = matrix.diagonal + shift * eye
    taut = energy.taut(run)
    columns = gathered(finger, energy.tendon_columns(finger, run) * taut)
    missing = 3 * finger.between
    if finger.clamped:
        diagonal, columns = diagonal.at[0].set(eye), columns.at[0].set(0.0)
        below = matrix.below.at[1].set(0.0)
    else:
        held = jnp.concatenate([jnp.ones(missing), jnp.repeat(finger.pins, 3)])
        diagonal, below = diagonal.at[0].add(jnp.diag(held)), matrix.below
    parts = factor(matrix._replace(diagonal=diagonal, below=below))
    answered = solve(parts, columns)
    small = jnp.einsum("krt,kru->tu", columns, answered)
    soft = jnp.where(taut, 1 / (2 * finger.tendon_stiffness), 1.0)
    return Linearised(parts, columns, answered, small + jnp.diag(soft))


def answer(at: Linearised, right: Float[Array, "blocks dofs columns"]) -> Float[Array, "blocks dofs columns"]:
    """The Hessian's inverse times `right`."""
    plain = solve(at.parts, right)
    share = jnp.linalg.solve(at.small, jnp.einsum("krt,krc->tc", at.columns, plain))
    return plain - jnp.einsum("krt,tc->krc", at.answered, share)


class _Search(NamedTuple):
    blocks: Array
    lengths: Array
    energy: Array
    shift: Array
    residual: Array
    turns: Array


def _settled(finger: Finger, start: FingerEquilibrium, lengths: Array, gravity: Array) -> FingerEquilibrium:
    """The equilibrium of one finger, its tendons pulled bit by bit from where they are in `start`."""
    lengths = jnp.asarray(lengths)

    def pulled(now: Array) -> Array:
        return now + jnp.clip(lengths - now, -PULL, PULL)

    def wanted(it: _Search) -> Array:
        return jnp.where((it.lengths == lengths).all(), TOLERANCE, ROUGH)

    def unfinished(it: _Search) -> Array:
        arrived = (it.lengths == lengths).all() & (it.residual <= TOLERANCE)
        return ~arrived & (it.turns < MOST_TURNS)

    def advance(it: _Search) -> _Search:
        return _turn(finger, gravity, it, it.residual <= wanted(it), pulled)

    first = pulled(jnp.asarray(start.lengths))
    least = total_energy(finger, start.blocks, first, gravity)
    slope = total_slope(finger, start.blocks, first, gravity)
    none = jnp.zeros_like(least)
    begin = _Search(start.blocks, first, least, none, jnp.sqrt((slope * slope).sum()), jnp.zeros((), int))
    end = jax.lax.while_loop(unfinished, advance, begin)
    return FingerEquilibrium(end.blocks, end.lengths, end.residual, end.turns)


def _turn(finger: Finger, gravity: Array, it: _Search, arrived: Array, pulled: Any) -> _Search:
    """One Newton turn with a line search; where equilibrium is reached the tendons are pulled on first."""
    lengths = jnp.where(arrived, pulled(it.lengths), it.lengths)
    before = total_energy(finger, it.blocks, lengths, gravity)
    slope = total_slope(finger, it.blocks, lengths, gravity)
    at = linearise(finger, it.blocks, lengths, it.shift)
    way = -answer(at, slope[..., None])[..., 0]
    downhill = (slope * way).sum()
    good = jnp.isfinite(way).all() & (downhill <= 0)
    way = jnp.where(good, way, 0.0).reshape(it.blocks.shape)
    downhill = jnp.where(good, downhill, 0.0)
    whole = jnp.minimum(1.0, LEAP / jnp.maximum(jnp.abs(way).max(), 1e-12))

    def too_far(try_: tuple[Array, Array, Array]) -> Array:
        share, reached, count = try_
        return ~(reached <= before + 1e-4 * share * downhill + 1e-15) & (count < 30)

    def halved(try_: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        share = try_[0] / 2
        return share, total_energy(finger, it.blocks + share * way, lengths, gravity), try_[2] + 1

    tried = (whole, total_energy(finger, it.blocks + whole * way, lengths, gravity), jnp.zeros((), int))
    share, reached, count = jax.lax.while_loop(too_far, halved, tried)
    good = good & (count < 30)
    blocks = jnp.where(good, it.blocks + share * way, it.blocks)
    calm = jnp.where(it.shift > 0.01, it.shift / 8, 0.0)
    more = jnp.maximum(it.shift * 4, 0.1)
    shift = jnp.where(good, jnp.where(count > 3, more, calm), more)
    left = total_slope(finger, blocks, lengths, gravity)
    return _Search(blocks, lengths, reached, shift, jnp.sqrt((left * left).sum()), it.turns + 1)


def at_rest(finger: Finger, fingers: int) -> FingerEquilibrium:
    """Fingers on which nothing acts, their tendons just straight: where searches start."""
    blocks = jnp.broadcast_to(rest_blocks(finger), (fingers, *rest_blocks(finger).shape))
    lengths = jnp.broadcast_to(finger.length, (fingers, finger.tendons))
    return FingerEquilibrium(blocks, lengths, jnp.zeros(fingers), jnp.zeros(fingers, int))


def equilibrium(
    finger: Finger,
    lengths: Float[Array, "fingers tendons"],
    gravity: Float[Array, "fingers 3"],
    start: FingerEquilibrium | None = None,
) -> FingerEquilibrium:
    """Where fingers come to rest.

    Args:
        finger: Of which all are made.
        lengths: Of every finger's tendons (m).
        gravity: In every finger's frame (m/s^2).
        start: Where to search from; fingers on which nothing acts if left out.
    """
    begin = at_rest(finger, lengths.shape[0]) if start is None else start
    return jax.vmap(partial(_settled, finger))(begin, lengths, gravity)


def polished(finger: Finger, found: FingerEquilibrium, lengths: Array, gravity: Array) -> Array:
    """The blocks of equilibria again, by one more Newton turn that can be differentiated.

    The turn is exact at an equilibrium, and its derivative is that of the equilibrium itself, by the
    tendons' lengths (eq. 16), gravity or any number of the finger.
    """

    def one(at: FingerEquilibrium, own: Array, down: Array) -> Array:
        still = jax.lax.stop_gradient((finger, at.blocks, own))
        hessian = linearise(*still, jnp.zeros_like(own[0]))
        slope = total_slope(finger, still[1], own, down)
        return still[1] - answer(hessian, slope[..., None])[..., 0].reshape(still[1].shape)

    return jax.vmap(one)(found, lengths, gravity)


def tips(finger: Finger, blocks: Float[Array, "*fingers blocks own 3"]) -> Float[Array, "*fingers 3"]:
    """The fingertips (m): middles of the last faces."""
    return jnp.einsum("a,...ai->...i", finger.tip, blocks[..., -1, finger.between :, :])


class TipSlope(NamedTuple):
    """How fingertips move with the lengths of tendons (eq. 16), whichever of these pull."""

    tip: Float[Array, "fingers 3 tendons"]
    """Of A^-1 C, see `Linearised`."""
    small: Float[Array, "fingers tendons tendons"]

    def of(self, pulling: Bool[Array, "fingers tendons"]) -> Float[Array, "fingers 3 tendons"]:
        """Their slopes (1) if only some tendons pull.

        H^-1 2 kappa C = A^-1 C (1 / (2 kappa) + C^T A^-1 C)^-1, of the columns of those that do.
        """
        both = pulling[:, :, None] & pulling[:, None, :]
        eye = jnp.eye(self.small.shape[-1], dtype=self.small.dtype)
        small = jnp.where(both, self.small, eye * ~pulling[:, :, None])
        own = jnp.where(pulling[:, None, :], self.tip, 0.0)
        return jnp.swapaxes(jnp.linalg.solve(small, jnp.swapaxes(own, 1, 2)), 1, 2)


def tip_slope(finger: Finger, found: FingerEquilibrium) -> TipSlope:
    """Of fingers at rest."""

    def one(at: FingerEquilibrium) -> TipSlope:
        hessian = linearise(finger, at.blocks, at.lengths, jnp.zeros_like(at.residual))
        last = hessian.answered[-1].reshape(-1, 3, finger.tendons)[finger.between :]
        return TipSlope(jnp.einsum("a,ait->it", finger.tip, last), hessian.small)

    return jax.vmap(one)(found)


def _base(finger: Finger, blocks: Array) -> Array:
    return blocks[..., 0, finger.between :, :]
