"""The rough step, in which segments arrive, let go and whip: backward Euler that never gains energy.

Each of them minimises a convex function of the end's lengths: the damper acts over lengths (those at the
end less those at the start), not over rates, and a segment pulls or does not by the length it ends at.
The Newton method that solves it keeps every tension as an unknown of its own; only the geometric
stiffness sees it. It takes three turns on average and is stopped after `MOST_TURNS`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from skyrig.rigs.elastic.chain import (
    ChainChange,
    arrived,
    course_now,
    momenta,
    reached,
    spans,
    tension,
    velocities,
)
from skyrig.rigs.elastic.ground import rough_floor
from skyrig.rigs.elastic.newton import NewtonTurn, Stage, newton
from skyrig.rigs.elastic.parameters import ElasticParameters, ElasticState
from skyrig.rigs.elastic.smooth import LoadsAt
from skyrig.rigs.protocol import Loads

PIECES = 4
"""Backward Euler steps in a rough step."""
MOST_TURNS = 20
"""Newton turns in each of them at most."""
REPEATED = 2
"""Newton turns taken once more where derivatives are followed."""


class Rough(NamedTuple):
    """The end of a rough step."""

    state: ElasticState
    turns: Int[Array, ""]
    """Newton turns that the hardest piece took."""


def rough(
    rig: ElasticParameters, state: ElasticState, loads: LoadsAt, dt: Array, lanes: Bool[Array, "*batch"]
) -> Rough:
    """A step of `dt` (s), solved until the flights in `lanes` are."""
    g = dt / PIECES
    held = loads(0.0, state).wrenches

    def piece(carry: tuple[ElasticState, Array, Array], share: Array) -> tuple[Any, None]:
        base, pulls, most = carry
        acting = loads(share, state)
        acting = Loads(acting.thrust, acting.moment, held, acting.drives, acting.solids)
        given = (rig, base, acting, g)
        found, pulls, turns = _solved(given, pulls, lanes)
        none = jax.tree.map(jnp.zeros_like, found)
        end = arrived(base, reached(none, found, g), found, g)
        return (end, pulls, jnp.maximum(most, turns)), None

    shares = jnp.arange(1, PIECES + 1, dtype=rig.like(state).dtype) / PIECES
    now = tension(rig.segment(state), spans(course_now(rig, state)), state.mode.whole)
    (end, _, most), _ = jax.lax.scan(jax.checkpoint(piece), (state, 0.0 * now, jnp.asarray(0)), shares)
    return Rough(end, most)


def _solved(given: Any, pulls: Array, lanes: Array) -> tuple[ChainChange, Array, Array]:
    """Velocities at the end of a piece, tensions (N), and how many turns it took.

    The turns themselves have no derivative: it comes from a few more at the solution.
    """
    frozen, start = jax.lax.stop_gradient((given, pulls))
    tolerance = 1e-7 if pulls.dtype == jnp.float64 else 1e-3

    def again(carry: Any) -> Any:
        velocity, pulls, _, turn = carry
        found = _turn(frozen, velocity, pulls)
        leaves = jax.tree.leaves(found.change)
        left = jnp.stack(
            [jnp.abs(leaf).max(tuple(range(leaf.ndim - lanes.ndim)), initial=0.0) for leaf in leaves]
        )
        open_still = (found.tension < -1e-6).any((0, 1))
        miss = jnp.where(open_still, 1.0, left.max(0))
        return found.velocity, jnp.maximum(found.tension, 0.0), jnp.where(lanes, miss, 0.0), turn + 1

    begin = (velocities(frozen[1]), start, jnp.full(lanes.shape, jnp.inf, pulls.dtype), jnp.asarray(0))
    velocity, pulls, _, turns = jax.lax.while_loop(
        lambda carry: (carry[2] > tolerance).any() & (carry[3] < MOST_TURNS), again, begin
    )
    velocity, pulls = jax.lax.stop_gradient((velocity, pulls))

    def repeated(carry: Any, _: None) -> tuple[Any, None]:
        found = _turn(given, *carry)
        return (found.velocity, jnp.maximum(found.tension, 0.0)), None

    (velocity, pulls), _ = jax.lax.scan(jax.checkpoint(repeated), (velocity, pulls), None, length=REPEATED)
    return velocity, pulls, turns


def _turn(given: Any, velocity: ChainChange, pulls: Array) -> NewtonTurn:
    """One turn of a backward Euler piece."""
    rig, base, loads, g = given
    start = velocities(base)
    none = jax.tree.map(jnp.zeros_like, start)
    before, after = rig.segment(base), rig.segment(base, g)
    stretch = jnp.maximum(spans(course_now(rig, base)).length - before.rest, 0.0)
    slope = after.stiffness + after.damping / g
    # k (l - rest) + c/g (l - rest - stretch before) = slope (l - zero)
    zero = after.rest + after.damping / g * stretch / slope
    whole = base.mode.whole

    def law(span: Any) -> tuple[Array, Array]:
        size = slope * (span.length - zero)
        on = (size > 0).astype(size.dtype) * whole
        return size * on, on

    stage = Stage(base, none, momenta(rig, none, start), g, after, loads)
    solids = loads.solids if rig.segments > 1 else ()
    floor = rough_floor(solids, after, base.nodes.position, g) if solids else None
    return newton(rig, stage, velocity, law, pulls, slope, floor)
