"""One Newton turn of an implicit stage: everything that moves, in one linear solve.

A stage over a span g (s) asks for velocities v with

    M v = p + g f(x + g v, v)

where p are momenta and x displacements that earlier stages have reached. Turns of bodies are measured
from the step's start and angular momenta kept in the frames there, so that M is a body's own inertia.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import apply, dot
from skyrig.rigs.elastic.chain import (
    ChainChange,
    SegmentSpans,
    added,
    course,
    drag_slope,
    fence,
    forces,
    momenta,
    reached,
    spans,
)
from skyrig.rigs.elastic.ground import Floor
from skyrig.rigs.elastic.parameters import ElasticParameters, ElasticState, Segments
from skyrig.rigs.elastic.star import Stiff, points, solve
from skyrig.rigs.elastic.turns import rotate
from skyrig.rigs.protocol import Loads

Law = Callable[[SegmentSpans], tuple[Array, Array]]
"""From segments to their tensions (N) and to 1 where a segment pulls, else 0."""


class Stage(NamedTuple):
    """An implicit stage that is to be solved."""

    base: ElasticState
    """At the step's start."""
    reach: ChainChange
    """Displacements so far."""
    momentum: ChainChange
    """Of everything so far, as `momenta` gives them."""
    span: Any
    """g (s)."""
    segment: Segments
    """At the stage's time."""
    loads: Loads
    """At the stage's time."""


class NewtonTurn(NamedTuple):
    """What a Newton turn found."""

    velocity: ChainChange
    change: ChainChange
    """From the velocities before it."""
    tension: Float[Array, "segments n *batch"]
    """As linearised (N); below zero where a segment would push."""
    moved: ChainChange
    """Displacements at which the equations were linearised."""
    span: SegmentSpans
    """The segments there."""


def newton(
    rig: ElasticParameters,
    stage: Stage,
    velocity: ChainChange,
    law: Law,
    pulls: Array,
    slope: Any,
    floor: Floor | None = None,
) -> NewtonTurn:
    """One turn from a guess of the velocities.

    Args:
        rig: The rig.
        stage: What is solved.
        velocity: The guess.
        law: What the segments pull with.
        pulls: What they are thought to pull with in the end (N): the tension that turns them.
        slope: How a segment's tension grows with its length at the stage's end (N/m).
        floor: What nodes touch, if there is anything.
    """
    g, segment, base = stage.span, stage.segment, stage.base
    moved = fence(reached(stage.reach, velocity, g))
    line = fence(course(rig, base, moved, velocity))
    span = fence(spans(line))
    tensions, on = fence(law(span))
    force = forces(rig, segment, line, span, tensions, velocity, stage.loads)
    touch = None if floor is None else fence(floor(line.place[:, 1:-1], velocity.nodes))
    if touch is not None:
        force = force._replace(nodes=force.nodes + touch.force(velocity.nodes))
    kept = stage.momentum
    b = ChainChange(
        segment.node_mass * (kept.nodes - velocity.nodes) + g * force.nodes,
        rig.payload_mass * (kept.payload - velocity.payload) + g * force.payload,
        _spin(moved.payload_turn, kept.payload_turn, rig.solid_inertia, velocity.payload_turn)
        + g * force.payload_turn,
        rig.mass * (kept.vehicles - velocity.vehicles) + g * force.vehicles,
        _spin(moved.vehicles_turn, kept.vehicles_turn, rig.inertia, velocity.vehicles_turn)
        + g * force.vehicles_turn,
    )
    stiff = on * g * g * slope
    side = g * g * on * jnp.maximum(pulls, 0.0) / span.length
    mass = jnp.broadcast_to(segment.node_mass, side[1:].shape)
    drag = drag_slope(segment, velocity)
    mass = mass if drag is None else mass + g * drag
    axial, pressed = jnp.maximum(stiff - side, 0.0), None
    if segment.bending is not None:
        side = side + g * g * _bends(segment.bending)
    if touch is not None:
        pressed = touch.stiff(g)
    system = Stiff(span.direction, side, axial, mass, pressed)
    found = fence(solve(rig, line, fence(system), fence(b)))
    at = points(line, found)
    stretch = dot(at[:, 1:] - at[:, :-1], span.direction)
    linear = tensions + on * g * slope * stretch
    return NewtonTurn(added(velocity, found), found, linear, moved, span)


def _bends(bending: Array) -> Array:
    """Stiffness between the ends of every segment, in all directions, that is nowhere below bending's.

    Bending reaches over two segments, the linear system over one; the turns close the gap.
    """
    none = jnp.zeros_like(bending[:1])
    return 2 * (jnp.concatenate([none, bending]) + jnp.concatenate([bending, none]))


def _spin(turn: Array, momentum: Array, inertia: Array, rate: Array) -> Array:
    """Angular momentum that is missing, in the body's own frame (N m s)."""
    return rotate(turn, momentum, -1.0) - apply(inertia, rate)


def ended(
    rig: ElasticParameters, stage: Stage, found: NewtonTurn
) -> tuple[ChainChange, ChainChange, ChainChange]:
    """Displacements, velocities and momenta at a stage's end; momenta are those that were solved for."""
    velocity, kept = found.velocity, momenta(rig, found.moved, found.velocity)
    moved = reached(stage.reach, velocity, stage.span)
    load = rotate(moved.payload_turn, kept.payload_turn, -1.0)
    craft = rotate(moved.vehicles_turn, kept.vehicles_turn, -1.0)
    point = rig.payload_inertia[0, 0] == 0
    rate = jnp.where(point, velocity.payload_turn, apply(rig.payload_inverse_inertia, load))
    velocity = velocity._replace(payload_turn=rate, vehicles_turn=apply(rig.inverse_inertia, craft))
    return fence((moved, velocity, kept))
