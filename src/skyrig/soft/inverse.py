"""Tendon lengths that bring the fingertips where they are wanted (section IV of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from skyrig import checks
from skyrig.algebra import rotation_matrix
from skyrig.soft.energy import tendons
from skyrig.soft.equilibrium import PULL, FingerEquilibrium, equilibrium, tip_slope, tips
from skyrig.soft.gripper import LEVEL, Gripper, each_tendon, felt, in_body
from skyrig.soft.stack import stacked

Cost = Callable[[Any, Any], Any]
"""Of the fingertips (fingers, 3) and the target (3,) or (fingers, 3), both in the vehicle's frame (m)."""

MOST_STEPS = 60
CLOSE = 1e-6
"""The search ends when it would move lengths by less than this (m)."""


def grasp(place: Array, target: Array) -> Array:
    """C_grasp (eq. 6): squared distances of the tips from the target; small when the gripper is closed."""
    away = place - target
    return (away * away).sum()


def spread(place: Array, target: Array) -> Array:
    """C_1 (eq. 7): the same, the other way round: small when the tips are far from the target."""
    return -grasp(place, target)


def surround(place: Array, target: Array) -> Array:
    """C_2 (eq. 8): minus squared areas between target and two tips: small when it is between them."""
    away = place - target
    whole = 2 * (place.shape[0] // 2)
    area = jnp.cross(away[0:whole:2], away[1:whole:2])
    return -(area * area).sum()


COSTS: dict[str, Cost] = {"grasp": grasp, "spread": spread, "surround": surround}
"""By name."""


class Reached(NamedTuple):
    """What an inverse problem came to."""

    lengths: Float[Array, "fingers 2"]
    """Of the tendons, pair by pair (m)."""
    fingertips: Float[Array, "fingers 3"]
    """m, world."""
    cost: Float[Array, ""]
    steps: Int[Array, ""]
    """Of the search."""
    found: Bool[Array, ""]
    """Whether all fingers are at rest and the search came to an end."""


class _Search(NamedTuple):
    lengths: Array
    at: FingerEquilibrium
    place: Array
    cost: Array
    radius: Array
    step: Array
    steps: Array


def lengths_for(
    gripper: Gripper,
    cost: str | Cost,
    target: Any,
    position: Any = (0.0, 0.0, 0.0),
    attitude: Any = LEVEL,
    start: Any = None,
) -> Reached:
    """Lengths that make a cost of the fingertips small, within what the tendons can do.

    Gauss and Newton's method on the actuator Jacobian (eq. 16), each step no longer than it turned out to
    be trusted, lengths kept within the gripper's limits.

    Args:
        gripper: The fingers.
        cost: 'grasp', 'spread', 'surround', or a function of tips and target in JAX.
        target: (3,) for all fingers, or (fingers, 3) (m, world).
        position: Of the vehicle (m).
        attitude: Of the vehicle, wxyz.
        start: (fingers, 2) lengths to search from (m); straight tendons if left out.
    """
    law = COSTS[checks.choice("cost", cost, COSTS)] if isinstance(cost, str) else cost
    dtype = gripper.place.dtype
    rotation = rotation_matrix(jnp.asarray(attitude, dtype))
    place = jnp.asarray(position, dtype)
    begin = gripper.straight if start is None else jnp.asarray(start, dtype)
    return _search(gripper, law, (jnp.asarray(target, dtype) - place) @ rotation, place, rotation, begin)


def reach(gripper: Gripper, targets: Any, **where: Any) -> Reached:
    """Lengths that bring every fingertip to a target of its own, (fingers, 3) (m, world)."""
    return lengths_for(gripper, grasp, targets, **where)


@eqx.filter_jit
def _search(
    gripper: Gripper, law: Cost, target: Array, position: Array, rotation: Array, begin: Array
) -> Reached:
    down = felt(gripper, rotation)

    def settled(lengths: Array, before: FingerEquilibrium | None) -> tuple[FingerEquilibrium, Array]:
        at = equilibrium(gripper.finger, each_tendon(lengths), down, before)
        return at, in_body(gripper, tips(gripper.finger, at.blocks))

    def unfinished(it: _Search) -> Array:
        return (it.steps < MOST_STEPS) & (it.step > CLOSE)

    def advance(it: _Search) -> _Search:
        lengths = _without_slack(gripper, it)
        move = _step(gripper, law, target, it, lengths)
        wanted = jnp.clip(lengths + move, gripper.shortest, gripper.longest)
        at, place = settled(wanted, it.at._replace(lengths=each_tendon(lengths)))
        cost = law(place, target)
        better = (cost < it.cost) & (at.residual < 1e-5).all()
        radius = jnp.where(better, jnp.minimum(1.5 * it.radius, PULL), 0.3 * it.radius)
        moved = jnp.abs(wanted - lengths).max()
        step = jnp.where(better | (moved < CLOSE), moved, radius)
        new = _Search(wanted, at, place, cost, radius, step, it.steps + 1)
        old = it._replace(radius=radius, step=step, steps=it.steps + 1)
        return jax.tree.map(lambda a, b: jnp.where(better, a, b), new, old)

    lengths = jnp.clip(begin, gripper.shortest, gripper.longest)
    at, place = settled(lengths, None)
    radius = jnp.asarray(PULL, lengths.dtype)
    first = _Search(lengths, at, place, law(place, target), radius, radius, jnp.zeros((), int))
    end = jax.lax.while_loop(unfinished, advance, first)
    found = (end.step <= CLOSE) & (end.at.residual < 1e-5).all()
    return Reached(end.lengths, position + end.place @ rotation.T, end.cost, end.steps, found)


def _without_slack(gripper: Gripper, it: _Search) -> Array:
    """Lengths with slack tendons just straight: fingers stay where they are, but feel the next pull."""
    return jnp.clip(jnp.minimum(it.lengths, _way(gripper, it)), gripper.shortest, gripper.longest)


def _way(gripper: Gripper, it: _Search) -> Array:
    """How long the ways of the pairs through their eyelets are (m)."""
    none = jnp.zeros((gripper.fingers, gripper.finger.tendons), it.lengths.dtype)
    run = tendons(gripper.finger, stacked(gripper.finger, it.at.blocks), none)
    return run.stretch.reshape(gripper.fingers, 2, 2).max(-1)


def _step(gripper: Gripper, law: Cost, target: Array, it: _Search, lengths: Array) -> Array:
    """A step downhill, no longer than the radius (m)."""
    feel = tip_slope(gripper.finger, it.at._replace(lengths=each_tendon(lengths)))
    steep = jax.grad(law)(it.place, target)

    def slopes(pulling: Array) -> tuple[Array, Array]:
        """Of the cost by the pairs' lengths, and the Jacobian of the tips (in the vehicle's frame)."""
        pairs = feel.of(each_tendon(pulling)).reshape(gripper.fingers, 3, 2, 2).sum(-1)
        jacobian = jnp.einsum("fij,fjp->fip", gripper.turn, pairs)
        return jnp.einsum("fi,fip->fp", steep, jacobian), jacobian

    loose = _way(gripper, it) - lengths < 1e-8
    slope, _ = slopes(loose | ~loose)
    # a slack pair that would be let out stays out of it, and out of what the others feel
    idle = loose & (slope <= 0)
    slope, jacobian = slopes(~idle)
    bend = jax.hessian(law)(it.place, target)
    curve = jnp.einsum("fip,figj,gjq->fpgq", jacobian, bend, jacobian)
    size = slope.size
    value, way = jnp.linalg.eigh(curve.reshape(size, size))
    curve = (way * jnp.maximum(value, 0.0)) @ way.T  # a cost that bends down is followed by its slope alone
    stuck = (
        idle | ((lengths <= gripper.shortest) & (slope > 0)) | ((lengths >= gripper.longest) & (slope < 0))
    )
    free = (~stuck).reshape(-1)
    slope = jnp.where(free, slope.reshape(-1), 0.0)
    curve = jnp.where(free[:, None] & free, curve, 0.0)
    held = jnp.maximum(jnp.sqrt((slope * slope).sum()) / it.radius, 1e-12)
    move = -jnp.linalg.solve(curve + held * jnp.eye(size), slope)
    return (move * jnp.minimum(1.0, it.radius / jnp.maximum(jnp.abs(move).max(), 1e-15))).reshape(
        lengths.shape
    )
