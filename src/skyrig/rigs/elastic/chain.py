"""Where the cables run, how they are stretched, and what they do to the bodies and nodes."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import apply, apply_transposed, dot, rotation_matrix
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.elastic.parameters import ElasticMotion, ElasticParameters, ElasticState, Nodes, Segments
from skyrig.rigs.elastic.turns import rotate, settled, turn_rate, turned
from skyrig.rigs.protocol import Loads


class ChainChange(NamedTuple):
    """Displacements, velocities, momenta or forces of everything that moves."""

    nodes: Float[Array, "3 nodes n *batch"]
    payload: Float[Array, "3 *batch"]
    payload_turn: Float[Array, "3 *batch"]
    """About the body's own axes."""
    vehicles: Float[Array, "3 n *batch"]
    vehicles_turn: Float[Array, "3 n *batch"]


class CableCourse(NamedTuple):
    """Where the cables run: points from the hook (first) through the nodes to the attachment (last)."""

    place: Float[Array, "3 points n *batch"]
    """m."""
    velocity: Float[Array, "3 points n *batch"]
    """m/s."""
    rotation: Float[Array, "3 3 n *batch"]
    """Of the vehicles, to the world."""
    payload_rotation: Float[Array, "3 3 *batch"]
    lever: Float[Array, "3 3 n *batch"]
    """From the payload's body rate to the attachments' velocities, -R [a]x."""
    hook_lever: Float[Array, "3 3 n *batch"] | None
    """The same at the hooks; None where they are the centres of mass."""


class SegmentSpans(NamedTuple):
    """The segments of all cables."""

    direction: Float[Array, "3 segments n *batch"]
    """Towards the payload."""
    length: Float[Array, "segments n *batch"]
    drift: Float[Array, "3 segments n *batch"]
    """Velocity of the lower end relative to the upper one (m/s)."""

    @property
    def rate(self) -> Float[Array, "segments n *batch"]:
        """Time derivative of the length (m/s)."""
        return dot(self.drift, self.direction)


def fence(tree: Any) -> Any:
    """Keeps XLA from computing what is inside again in every kernel that uses it."""
    return jax.lax.optimization_barrier(tree)


def added(one: ChainChange, other: ChainChange, share: Any = 1.0) -> ChainChange:
    """Both together, `share` of the other."""
    return jax.tree.map(lambda a, b: a + share * b, one, other)


def velocities(state: ElasticState) -> ChainChange:
    """How everything moves."""
    load, craft = state.payload, state.vehicles
    return ChainChange(state.nodes.velocity, load.velocity, load.rate, craft.velocity, craft.rate)


def lever(rotation: Array, arm: Array) -> Array:
    """-R [a]x: what a body rate does to the velocity of the point `arm` (m, body frame)."""
    none = jnp.zeros_like(arm[0])
    skew = jnp.stack(
        [
            jnp.stack([none, arm[2], -arm[1]]),
            jnp.stack([-arm[2], none, arm[0]]),
            jnp.stack([arm[1], -arm[0], none]),
        ]
    )
    return (rotation[:, :, None] * skew[None]).sum(1)


def course(
    rig: ElasticParameters, base: ElasticState, moved: ChainChange, velocity: ChainChange
) -> CableCourse:
    """The cables' points when everything is `moved` away from `base` and has `velocity`."""
    load, craft = base.payload, base.vehicles
    payload_rotation = rotation_matrix(turned(load.attitude, moved.payload_turn))
    wide = payload_rotation[:, :, None]
    arms = lever(wide, rig.attachment)
    bottom = (load.position + moved.payload)[:, None] + apply(wide, rig.attachment)
    bottom_velocity = velocity.payload[:, None] + apply(arms, velocity.payload_turn[:, None])
    rotation = rotation_matrix(turned(craft.attitude, moved.vehicles_turn))
    top, top_velocity, hooks = craft.position + moved.vehicles, velocity.vehicles, None
    if rig.hook is not None:
        hooks = lever(rotation, rig.hook)
        top = top + apply(rotation, rig.hook)
        top_velocity = top_velocity + apply(hooks, velocity.vehicles_turn)
    between = base.nodes.position + moved.nodes
    return CableCourse(
        jnp.concatenate([top[:, None], between, bottom[:, None]], axis=1),
        jnp.concatenate([top_velocity[:, None], velocity.nodes, bottom_velocity[:, None]], axis=1),
        rotation,
        payload_rotation,
        arms,
        hooks,
    )


def course_now(rig: ElasticParameters, state: ElasticState) -> CableCourse:
    """The cables' points in a state."""
    velocity = velocities(state)
    return course(rig, state, jax.tree.map(jnp.zeros_like, velocity), velocity)


def spans(line: CableCourse) -> SegmentSpans:
    """The segments along a course."""
    apart = line.place[:, 1:] - line.place[:, :-1]
    length = jnp.sqrt(jnp.maximum(dot(apart, apart), 1e-24))
    return SegmentSpans(apart / length, length, line.velocity[:, 1:] - line.velocity[:, :-1])


def pull(segment: Segments, span: SegmentSpans) -> Float[Array, "segments n *batch"]:
    """Spring and damper of every segment (N), below zero where it would push (report, eqs. 14 and 15)."""
    return segment.stiffness * (span.length - segment.rest) + segment.damping * (
        span.rate - segment.rest_rate
    )


def tension(segment: Segments, span: SegmentSpans, whole: Array) -> Float[Array, "segments n *batch"]:
    """What every segment pulls with (N): spring and damper where it is stretched, and never a push."""
    stretched = (span.length >= segment.rest) & (whole > 0)
    return jnp.where(stretched, jnp.maximum(pull(segment, span), 0.0), 0.0)


def forces(
    rig: ElasticParameters,
    segment: Segments,
    line: CableCourse,
    span: SegmentSpans,
    tensions: Array,
    velocity: ChainChange,
    loads: Loads,
) -> ChainChange:
    """Forces (N, world) and torques (N m, body frames) on everything, without gyroscopic terms (eq. 16)."""
    force = tensions * span.direction
    if segment.bending is not None:
        force = force + shear(segment.bending, line)
    nodes = force[:, 1:] - force[:, :-1] + segment.node_mass * rig.down[:, None, None]
    if segment.drag is not None:
        nodes = nodes - segment.drag * _speed(velocity.nodes) * velocity.nodes
    payload = rig.payload_mass * rig.down - force[:, -1].sum(1)
    payload_turn = -apply_transposed(line.lever, force[:, -1]).sum(1)
    vehicles = force[:, 0] + rig.mass * rig.down[:, None] + loads.thrust * line.rotation[:, 2]
    vehicles_turn = loads.moment
    if line.hook_lever is not None:
        vehicles_turn = vehicles_turn + apply_transposed(line.hook_lever, force[:, 0])
    outside = loads.wrenches.get("payload")
    if outside is not None:
        payload = payload + outside.force[:, 0]
        if outside.torque is not None:
            payload_turn = payload_turn + apply_transposed(line.payload_rotation, outside.torque[:, 0])
    outside = loads.wrenches.get("vehicles")
    if outside is not None:
        vehicles = vehicles + outside.force
        if outside.torque is not None:
            vehicles_turn = vehicles_turn + apply_transposed(line.rotation, outside.torque)
    return ChainChange(nodes, payload, payload_turn, vehicles, vehicles_turn)


def shear(bending: Float[Array, "nodes n *batch"], line: CableCourse) -> Float[Array, "3 segments n *batch"]:
    """What bending adds to the pull of every segment (N).

    A bend stores E I / 2 l^3 |e_(i+1) - e_i|^2, e being the segments from end to end: a function of e that
    is convex, and whose slope this is.
    """
    along = line.place[:, 1:] - line.place[:, :-1]
    bend = bending * (along[:, 1:] - along[:, :-1])
    none = jnp.zeros_like(along[:, :1])
    return jnp.concatenate([none, bend], axis=1) - jnp.concatenate([bend, none], axis=1)


def bent(bending: Float[Array, "nodes n *batch"], line: CableCourse) -> Float[Array, "*batch"]:
    """Energy in bends (J)."""
    along = line.place[:, 1:] - line.place[:, :-1]
    turn = along[:, 1:] - along[:, :-1]
    return (bending / 2 * dot(turn, turn)).sum((0, 1))


def _speed(velocity: Array) -> Array:
    return jnp.sqrt(dot(velocity, velocity) + 1e-12)


def drag_slope(segment: Segments, velocity: ChainChange) -> Array | None:
    """How a node's drag grows with its speed (N s/m), at most; None for none."""
    return None if segment.drag is None else 2 * segment.drag * _speed(velocity.nodes)


def drift(moved: ChainChange, velocity: ChainChange) -> ChainChange:
    """Time derivative of displacements."""
    return ChainChange(
        velocity.nodes,
        velocity.payload,
        turn_rate(moved.payload_turn, velocity.payload_turn),
        velocity.vehicles,
        turn_rate(moved.vehicles_turn, velocity.vehicles_turn),
    )


def reached(reach: ChainChange, velocity: ChainChange, span: Any) -> ChainChange:
    """Displacements after going on from `reach` for `span` (s) as fast as at the end of it."""
    return added(reach, drift(added(reach, velocity, span), velocity), span)


def momenta(rig: ElasticParameters, moved: ChainChange, velocity: ChainChange) -> ChainChange:
    """Velocities of points, angular momenta of bodies in their frames at the step's start."""
    return velocity._replace(
        payload_turn=rotate(moved.payload_turn, apply(rig.solid_inertia, velocity.payload_turn)),
        vehicles_turn=rotate(moved.vehicles_turn, apply(rig.inertia, velocity.vehicles_turn)),
    )


def arrived(base: ElasticState, moved: ChainChange, velocity: ChainChange, dt: Any) -> ElasticState:
    """The state displaced from `base` by a step of `dt` (s)."""
    load, craft, reeled = base.payload, base.vehicles, base.motion.reeled
    motion = ElasticMotion(
        Bodies(
            load.position + moved.payload,
            velocity.payload,
            settled(load.attitude, moved.payload_turn),
            velocity.payload_turn,
        ),
        Bodies(
            craft.position + moved.vehicles,
            velocity.vehicles,
            settled(craft.attitude, moved.vehicles_turn),
            velocity.vehicles_turn,
        ),
        Nodes(base.nodes.position + moved.nodes, velocity.nodes),
        None if reeled is None else _reeled(base, dt),
    )
    return ElasticState(motion, base.mode)


def _reeled(base: ElasticState, dt: Any) -> Any:
    """Cables after `dt` (s) of a held drive."""
    reeled = base.motion.reeled
    assert reeled is not None
    return type(reeled)(base.length + dt * (base.reel + dt * base.drive / 2), base.reel + dt * base.drive)
