"""The linear system of a step: a star of chains, solved by a sweep from the vehicles down and one back up.

    (M + sum_s W_s) dv = b,    W_s = side I + axial r r^T  between the two ends of segment s

M holds the masses and inertias of vehicles, nodes and payload. Each elimination is a 3x3 block (a node as its
neighbour feels it), however many nodes there are, so a step costs as many blocks as there are segments.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import apply, apply_transposed, dot
from skyrig.rigs.elastic.chain import CableCourse, ChainChange
from skyrig.rigs.elastic.parameters import ElasticParameters


class Stiff(NamedTuple):
    """What the segments add to the masses over a step."""

    direction: Float[Array, "3 segments n *batch"]
    side: Float[Array, "segments n *batch"]
    """In all directions (kg): geometric stiffness."""
    axial: Float[Array, "segments n *batch"]
    """Along the segment besides (kg)."""
    node_mass: Float[Array, "nodes n *batch"]
    """Of the nodes (kg), with what drag adds."""
    pressed: Float[Array, "3 3 nodes n *batch"] | None = None
    """What surfaces that nodes touch add to their masses (kg); None where there are none."""


def product(a: Array, b: Array) -> Array:
    """Matrix product over the leading axes."""
    return (a[:, :, None] * b[None]).sum(1)


def transposed_product(a: Array, b: Array) -> Array:
    """a^T b over the leading axes."""
    return (a[:, :, None] * b[:, None]).sum(0)


def outer(a: Array, b: Array) -> Array:
    """Dyadic product."""
    return a[:, None] * b[None]


def identity(like: Array) -> Array:
    """(3, 3) with as many axes behind as `like` has."""
    return jnp.eye(3, dtype=like.dtype).reshape((3, 3) + (1,) * like.ndim)


def inverse(m: Array) -> Array:
    """Inverse of a symmetric positive 3x3 by L D L^T; cofactors would lose twice the digits."""
    a, b, c, d, e, f = m[0, 0], m[0, 1], m[0, 2], m[1, 1], m[1, 2], m[2, 2]
    first = 1 / a
    l1, l2 = b * first, c * first
    rest = e - c * l1
    second = 1 / (d - b * l1)
    l3 = rest * second
    i22 = 1 / (f - c * l2 - rest * l3)
    w = l1 * l3 - l2
    i12, i02 = -l3 * i22, w * i22
    i11, i01 = second - l3 * i12, w * i12 - l1 * second
    i00 = first + l1 * l1 * second + w * i02
    return jnp.stack([jnp.stack([i00, i01, i02]), jnp.stack([i01, i11, i12]), jnp.stack([i02, i12, i22])])


def _past(mass: Array, load: Array, r: Array, side: Array, axial: Array, eye: Array) -> tuple[Array, ...]:
    """A point of matrix `mass` and `load` eliminated: what its neighbour feels through the segment between.

    P = mass + W; P^-1 by Sherman-Morrison on (mass + side I)^-1, without cancellation however stiff it is.
    Felt: W - W P^-1 W and W P^-1 load. Kept for the way back: W P^-1 and P^-1 load.
    """
    soft = inverse(mass + side * eye)
    q = apply(soft, r)
    share = 1 / (1 + axial * dot(r, q))
    p = q * share
    both = soft - axial * outer(q, p)
    rp = outer(r, p)
    felt = side * eye - side * side * both + (axial * share) * outer(r, r)
    felt = felt - (side * axial) * (rp + rp.swapaxes(0, 1))
    link = side * both + axial * rp
    return felt, apply(link, load), link, apply(both, load)


class _Top(NamedTuple):
    """A vehicle as its cable feels it."""

    mass: Array
    load: Array
    free: Array
    free_turn: Array


def _top(rig: ElasticParameters, line: CableCourse, b: ChainChange, eye: Array) -> _Top:
    free, free_turn = b.vehicles / rig.mass, apply(rig.inverse_inertia, b.vehicles_turn)
    hooks = line.hook_lever
    if hooks is None:
        return _Top(rig.mass * eye, b.vehicles, free, free_turn)
    turning = product(product(hooks, rig.inverse_inertia), hooks.swapaxes(0, 1))
    mass = inverse(turning + eye / rig.mass)
    return _Top(mass, apply(mass, free + apply(hooks, free_turn)), free, free_turn)


def _front(array: Array) -> Array:
    """Nodes first, for the sweep."""
    return jnp.moveaxis(array, 1, 0)


def points(line: CableCourse, change: ChainChange) -> Float[Array, "3 points n *batch"]:
    """How the cables' points move when everything moves by `change`."""
    top = change.vehicles
    if line.hook_lever is not None:
        top = top + apply(line.hook_lever, change.vehicles_turn)
    end = change.payload[:, None] + apply(line.lever, change.payload_turn[:, None])
    return jnp.concatenate([top[:, None], change.nodes, end[:, None]], axis=1)


def times(rig: ElasticParameters, line: CableCourse, stiff: Stiff, change: ChainChange) -> ChainChange:
    """The matrix of the system times `change`."""
    at = points(line, change)
    apart = at[:, 1:] - at[:, :-1]
    pull = stiff.side * apart + stiff.axial * dot(stiff.direction, apart) * stiff.direction
    first, last = pull[:, 0], pull[:, -1]
    turn = apply(rig.inertia, change.vehicles_turn)
    if line.hook_lever is not None:
        turn = turn - apply_transposed(line.hook_lever, first)
    nodes = stiff.node_mass * change.nodes + pull[:, :-1] - pull[:, 1:]
    if stiff.pressed is not None:
        nodes = nodes + apply(stiff.pressed, change.nodes)
    return ChainChange(
        nodes,
        rig.payload_mass * change.payload + last.sum(1),
        apply(rig.solid_inertia, change.payload_turn) + apply_transposed(line.lever, last).sum(1),
        rig.mass * change.vehicles - first,
        turn,
    )


def solve(rig: ElasticParameters, line: CableCourse, stiff: Stiff, b: ChainChange) -> ChainChange:
    """Changes of all velocities under the impulses b (N s, N m s).

    Its derivative is one more solve with the same matrix, which is symmetric: nothing of the sweeps is
    differentiated.
    """
    return jax.lax.custom_linear_solve(
        lambda change: times(rig, line, stiff, change),
        b,
        lambda _, b: _swept(rig, line, stiff, b),
        symmetric=True,
    )


def _swept(rig: ElasticParameters, line: CableCourse, stiff: Stiff, b: ChainChange) -> ChainChange:
    """The solution, by one sweep down the cables and one back up."""
    r, side, axial = stiff.direction, stiff.side, stiff.axial
    eye = identity(side[0])
    top = _top(rig, line, b, eye)
    felt, load, first_link, first_own = _past(top.mass, top.load, r[:, 0], side[0], axial[0], eye)

    def down(carry: tuple[Array, Array], each: Any) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        felt, load = carry
        r, side, axial, mass, push, pressed = each
        felt = felt + mass * eye if pressed is None else felt + mass * eye + pressed
        felt, load, link, own = _past(felt, load + push, r, side, axial, eye)
        return (felt, load), (link, own)

    pressed = None if stiff.pressed is None else jnp.moveaxis(stiff.pressed, 2, 0)
    each = (_front(r[:, 1:]), side[1:], axial[1:], stiff.node_mass, _front(b.nodes), pressed)
    (felt, load), kept = jax.lax.scan(down, (felt, load), each)
    payload, payload_turn = _payload(rig, line, felt, load, b)
    end = payload[:, None] + apply(line.lever, payload_turn[:, None])

    def up(x: Array, each: tuple[Array, Array]) -> tuple[Array, Array]:
        link, own = each
        x = own + apply_transposed(link, x)
        return x, x

    first, nodes = jax.lax.scan(up, end, kept, reverse=True)
    nodes = jnp.moveaxis(nodes, 0, 1)
    hook = first_own + apply_transposed(first_link, first)
    vehicles, vehicles_turn = hook, top.free_turn
    if line.hook_lever is not None:
        pull = apply(top.mass, hook) - top.load
        vehicles = top.free + pull / rig.mass
        vehicles_turn = top.free_turn + apply(rig.inverse_inertia, apply_transposed(line.hook_lever, pull))
    return ChainChange(nodes, payload, payload_turn, vehicles, vehicles_turn)


def _payload(
    rig: ElasticParameters, line: CableCourse, felt: Array, load: Array, b: ChainChange
) -> tuple[Array, Array]:
    """How the payload moves and turns under what all cables ask of it."""
    alone = inverse(rig.payload_mass * identity(felt[0, 0, 0]) + felt.sum(2))
    half = apply(alone, b.payload + load.sum(1))
    turning = product(felt, line.lever)
    both = turning.sum(2)
    inertia = rig.solid_inertia + transposed_product(line.lever, turning).sum(2)
    inertia = inertia - transposed_product(both, product(alone, both))
    moment = b.payload_turn + apply_transposed(line.lever, load).sum(1)
    turn = apply(inverse(inertia), moment - apply_transposed(both, half))
    move = half - apply(alone, apply(both, turn))
    return move, turn
