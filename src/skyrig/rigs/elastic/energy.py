"""Energies of an elastic rig, and the work that is done on it."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import apply, dot, rotation_matrix
from skyrig.rigs.elastic.chain import bent, course_now, spans
from skyrig.rigs.elastic.ground import Solids, pressed
from skyrig.rigs.elastic.parameters import ElasticParameters, ElasticState
from skyrig.rigs.protocol import Loads


class Energy(NamedTuple):
    """J."""

    kinetic: Float[Array, "*batch"]
    stored: Float[Array, "*batch"]
    """In stretched and bent segments, and in the ground they press into."""
    weight: Float[Array, "*batch"]
    """Of everything's height above z = 0."""
    gross: Float[Array, "*batch"]
    """All of it with heights below zero counted as above: what rounding errors go with."""

    @property
    def total(self) -> Float[Array, "*batch"]:
        """All of it."""
        return self.kinetic + self.stored + self.weight


def energy(rig: ElasticParameters, state: ElasticState, solids: Solids = ()) -> Energy:
    """Energies of payload, vehicles and nodes, and of what nodes press into."""
    load, craft, nodes, mass = state.payload, state.vehicles, state.nodes, rig.segment(state).node_mass
    moving = rig.payload_mass * dot(load.velocity, load.velocity)
    moving = moving + (rig.mass * dot(craft.velocity, craft.velocity)).sum(0)
    moving = moving + (mass * dot(nodes.velocity, nodes.velocity)).sum((0, 1))
    turning = dot(load.rate, apply(rig.payload_inertia, load.rate))
    turning = turning + dot(craft.rate, apply(rig.inertia, craft.rate)).sum(0)
    lifted = (rig.payload_mass * load.position[2], rig.mass * craft.position[2], mass * nodes.position[2])
    heights = lifted[0] + lifted[1].sum(0) + lifted[2].sum((0, 1))
    high = jnp.abs(lifted[0]) + jnp.abs(lifted[1]).sum(0) + jnp.abs(lifted[2]).sum((0, 1))
    kinetic, held = (moving + turning) / 2, stored(rig, state)
    held = held + pressed(solids, state) if solids else held
    gross = kinetic + held + jnp.abs(rig.gravity) * (high + rig.payload_mass)
    return Energy(kinetic, held, rig.gravity * heights, gross)


def stored(rig: ElasticParameters, state: ElasticState) -> Float[Array, "*batch"]:
    """Energy in stretched and bent segments (J)."""
    segment, line = rig.segment(state), course_now(rig, state)
    span = spans(line)
    stretch = state.mode.whole * jnp.maximum(span.length - segment.rest, 0.0)
    pulled = (segment.stiffness * stretch**2 / 2).sum((0, 1))
    return pulled if segment.bending is None else pulled + bent(segment.bending, line)


def power(state: ElasticState, loads: Loads) -> Float[Array, "*batch"]:
    """Of rotors and elements (W)."""
    craft = state.vehicles
    axis = rotation_matrix(craft.attitude)[:, 2]
    total = (loads.thrust * dot(axis, craft.velocity) + dot(loads.moment, craft.rate)).sum(0)
    for group, body in (("payload", state.payload.alone()), ("vehicles", craft)):
        outside = loads.wrenches.get(group)
        if outside is None:
            continue
        total = total + dot(outside.force, body.velocity).sum(0)
        if outside.torque is not None:
            rate = apply(rotation_matrix(body.attitude), body.rate)
            total = total + dot(outside.torque, rate).sum(0)
    return total
