"""The smooth step: SDIRK2 over everything at once, for as long as the same segments pull.

Two stages with gamma = 1 - 1/sqrt(2) (Alexander 1977), L-stable and stiffly accurate, so that waves too
fast for the step die out. Thrusts, winches and cables are taken at the stages' own times. What elements do
to the bodies (drag, wind, contact) is taken explicitly, with the weights of ARS(2,2,2) (Ascher, Ruuth,
Spiteri 1997): of second order too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from skyrig.algebra import dot
from skyrig.rigs.elastic.chain import (
    arrived,
    course_now,
    drift,
    fence,
    momenta,
    pull,
    spans,
    velocities,
)
from skyrig.rigs.elastic.energy import energy, power
from skyrig.rigs.elastic.ground import STIFFNESS, Solids, damping, nearest, smooth_floor
from skyrig.rigs.elastic.newton import Stage, ended, newton
from skyrig.rigs.elastic.parameters import ElasticParameters, ElasticState
from skyrig.rigs.protocol import Loads

GAMMA = 1 - 2**-0.5
AHEAD = 1 / (2 * GAMMA**2)
"""How far wrenches are taken ahead of the first stage, in the second."""
MOST_SWING = 0.1
"""How far a segment that pulls may turn in a smooth step (rad)."""
MOST_GAIN = 1e-5
"""Share of its energy that a smooth step may make out of nothing: its own error, in smooth motion."""
MORE_TURNS = 2
"""Newton turns that cables which resist bending need besides."""
PUSH = 1e-6
"""A segment may push by this before the step counts as rough (N)."""

still = jax.lax.stop_gradient

LoadsAt = Callable[[Any, ElasticState], Loads]
"""Loads at a share of the step, in a state there."""


class Smooth(NamedTuple):
    """The end of a smooth step."""

    state: ElasticState
    rough: Bool[Array, "*batch"]
    """Whether it was not smooth after all: a segment let go, arrived, or turned too fast."""


def smooth(
    rig: ElasticParameters, state: ElasticState, loads: LoadsAt, dt: Array, share_of_gain: Any = 1.0
) -> Smooth:
    """A step of `dt` (s), which is smooth if it gains at most this share of `MOST_GAIN`."""
    start = velocities(state)
    none = jax.tree.map(jnp.zeros_like, start)
    span = fence(spans(fence(course_now(rig, state))))
    now = rig.segment(state)
    tension = pull(now, span)
    pulling = (span.length >= (1 - 1e-10) * now.rest) & (tension >= -1e-9) & (state.mode.whole > 0)
    on = pulling.astype(tension.dtype)
    g = GAMMA * dt
    turns = rig.turns + (MORE_TURNS if rig.bending is not None else 0)
    first = momenta(rig, none, start)
    shares = jnp.asarray([GAMMA, 1.0], tension.dtype)
    begin = loads(0.0, state)
    solids = begin.solids if rig.segments > 1 else ()
    standing = nearest(solids, state.nodes.position).gap < 0 if solids else None

    def stage(carry: Any, share: Array) -> tuple[Any, None]:
        reach, momentum, velocity, tension, wrenches, push, work, _, _ = carry
        segment = rig.segment(state, share * dt)
        acting = loads(share, state)
        acting = Loads(acting.thrust, acting.moment, wrenches, acting.drives, solids)
        ask = Stage(state, reach, momentum, g, segment, acting)
        slope = segment.stiffness + segment.damping / g

        def law(span: Any) -> tuple[Array, Array]:
            return on * pull(segment, span), on

        floor = None if standing is None else smooth_floor(solids, segment, standing, g)
        found = newton(rig, ask, velocity, law, tension, slope, floor)
        for _ in range(turns - 1):
            found = newton(rig, ask, found.velocity, law, found.tension, slope, floor)
        # what only decides whether the step was smooth has no derivative
        push = jnp.minimum(push, jnp.where(pulling, still(found.tension), 0.0).min((0, 1)))
        moved, velocity, kept = ended(rig, ask, found)
        ratio = (1 - GAMMA) / GAMMA
        reach = jax.tree.map(lambda rate: ratio * g * rate, drift(moved, velocity))
        momentum = jax.tree.map(lambda a, b: a + ratio * (b - a), first, kept)
        there = arrived(state, moved, velocity, share * dt)
        # weights 1 - gamma and gamma: the first stage's is passed on by `ratio`
        work = work * ratio + still(g) * power(*still((there, acting)))
        wrenches = _ahead(loads, share, begin, there)
        swing = _swing(still(found.span), still(on))
        return (reach, momentum, velocity, found.tension, wrenches, push, work, swing, moved), None

    nought = jnp.zeros_like(rig.like(state))
    carry = (none, first, start, jnp.maximum(tension, 0.0), begin.wrenches, nought, nought, nought, none)
    (_, _, velocity, _, _, push, work, swing, moved), _ = jax.lax.scan(jax.checkpoint(stage), carry, shares)
    end = arrived(state, moved, velocity, dt)
    given, most = still((rig, state, end, dt)), MOST_GAIN * share_of_gain
    fast = swing * (given[3] / still(now.rest).min(0)) ** 2 > MOST_SWING**2
    rough = (push < -PUSH) | fast | _changes(*given, pulling) | _gains(*given[:3], work, solids, most)
    if solids:
        rough = rough | _lifts(*given, solids, standing)
    return Smooth(end, rough)


def _changes(
    rig: ElasticParameters, start: ElasticState, end: ElasticState, dt: Array, pulling: Array
) -> Bool[Array, "*batch"]:
    """Whether a segment that did not pull is stretched in the end."""
    stretched = spans(course_now(rig, end)).length > rig.segment(start, dt).rest
    return (stretched & ~pulling & (start.mode.whole > 0)).any((0, 1))


def _lifts(
    rig: ElasticParameters, start: ElasticState, end: ElasticState, dt: Array, solids: Solids, standing: Any
) -> Bool[Array, "*batch"]:
    """Whether a node came to the ground or left it."""
    segment, near = rig.segment(start, dt), nearest(solids, end.nodes.position)
    press = -STIFFNESS * near.gap - damping(segment) * dot(end.nodes.velocity, near.normal)
    return jnp.where(standing, press < 0, near.gap < 0).any((0, 1))


def _gains(
    rig: ElasticParameters, start: ElasticState, end: ElasticState, work: Array, solids: Solids, share: Any
) -> Array:
    """Whether a step made more than this share of its energy out of nothing.

    Reeling does work of its own, and is not looked at.
    """
    if rig.winch is not None:
        return jnp.zeros(work.shape, bool)
    before, after = energy(rig, start, solids), energy(rig, end, solids)
    rounding = 8 * jnp.finfo(work.dtype).eps * (before.gross + jnp.abs(work))
    lively = jnp.maximum(before.kinetic + before.stored, after.kinetic + after.stored)
    return after.total - before.total - work > share * lively + rounding


def _ahead(loads: LoadsAt, share: Array, begin: Loads, there: ElasticState) -> Any:
    """The wrenches of the second stage, from those at the start and those at the end of the first."""
    if not begin.wrenches:
        return begin.wrenches
    later = loads(share, there).wrenches
    return jax.tree.map(lambda a, b: a + AHEAD * (b - a), begin.wrenches, later)


def _swing(span: Any, on: Array) -> Float[Array, "*batch"]:
    """Squared speed of the fastest lower end across a segment that pulls (m^2/s^2)."""
    side = span.drift - span.rate * span.direction
    return (on * dot(side, side)).max((0, 1))
