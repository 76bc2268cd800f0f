"""How an elastic rig moves, what it tells, and what is done to it."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from skyrig import algebra
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.elastic.chain import course_now, forces, spans, tension, velocities
from skyrig.rigs.elastic.energy import stored
from skyrig.rigs.elastic.ground import nearest, now
from skyrig.rigs.elastic.parameters import (
    ElasticMotion,
    ElasticParameters,
    ElasticState,
    Nodes,
    shown,
)
from skyrig.rigs.elastic.step import step
from skyrig.rigs.on_cables import Reeled
from skyrig.rigs.protocol import Loads, Solid


class ElasticDynamics(ElasticParameters):
    """An elastic rig in motion."""

    def derivative(self, t: ArrayLike, state: ElasticState, loads: Loads) -> ElasticMotion:
        """Time derivative of the motion (report, eqs. 14-16, with Euler's equations of the bodies)."""
        segment, line = self.segment(state), course_now(self, state)
        span, velocity = spans(line), velocities(state)
        pulls = tension(segment, span, state.mode.whole)
        push = forces(self, segment, line, span, pulls, velocity, loads)
        if loads.solids and self.segments > 1:
            touch = now(loads.solids, segment, state.nodes.position, velocity.nodes)
            push = push._replace(nodes=push.nodes + touch.force(velocity.nodes))
        load, craft = state.payload, state.vehicles
        whirl = push.payload_turn - algebra.cross(load.rate, algebra.apply(self.payload_inertia, load.rate))
        spin = push.vehicles_turn - algebra.cross(craft.rate, algebra.apply(self.inertia, craft.rate))
        return ElasticMotion(
            Bodies(
                load.velocity,
                push.payload / self.payload_mass,
                algebra.attitude_rate(load.attitude, load.rate),
                algebra.apply(self.payload_inverse_inertia, whirl),
            ),
            Bodies(
                craft.velocity,
                push.vehicles / self.mass,
                algebra.attitude_rate(craft.attitude, craft.rate),
                algebra.apply(self.inverse_inertia, spin),
            ),
            Nodes(velocity.nodes, push.nodes / segment.node_mass),
            None if state.motion.reeled is None else Reeled(state.reel, state.drive),
        )

    def step(self, state: ElasticState, loads: Any, dt: Array) -> tuple[ElasticState, Bool[Array, "*batch"]]:
        """The rig's own step, asked for by the integrator `own`."""
        return step(self, state, loads, dt)

    def laid(self, state: ElasticState, solids: tuple[Solid, ...]) -> ElasticState:
        """Nodes inside of solids put onto them."""
        if not solids or self.segments == 1:
            return state
        near = nearest(solids, state.nodes.position)
        place = state.nodes.position + jnp.maximum(-near.gap, 0.0) * near.normal
        return eqx.tree_at(lambda it: it.motion.nodes.position, state, place)

    def tidy(self, state: ElasticState) -> ElasticState:
        """Quaternions at length one."""
        places = (state.payload.attitude, state.vehicles.attitude)
        return eqx.tree_at(
            lambda it: (it.motion.payload.attitude, it.motion.vehicles.attitude),
            state,
            tuple(algebra.normalised(each) for each in places),
        )

    def tensions(self, state: ElasticState) -> Float[Array, "segments n *batch"]:
        """Of every segment, from the hook down (N)."""
        return tension(self.segment(state), spans(course_now(self, state)), state.mode.whole)

    def signals(self, t: ArrayLike, state: ElasticState, loads: Loads) -> dict[str, Array]:
        """Tensions at both ends and along, lengths, stretch and course of every cable."""
        segment, span = self.segment(state), spans(course_now(self, state))
        pulls = tension(segment, span, state.mode.whole)
        some, points = list(shown(self.segments)), list(shown(self.segments - 1))
        along = pulls[jnp.asarray(some)].swapaxes(0, 1)  # cables, segments
        place = jnp.moveaxis(state.nodes.position[:, jnp.asarray(points, int)], (1, 0), (1, 2))
        return {
            "cable.tension": pulls[-1],
            "cable.hook_tension": pulls[0],
            "cable.length": state.length,
            "cable.stretch": (span.length - segment.rest).sum(0),
            "cable.taut": (pulls > 0).all(0),
            "cable.along": along.reshape((-1, *along.shape[2:])),
            "cable.nodes": place.reshape((-1, *place.shape[3:])),
        }

    def stored(self, state: ElasticState) -> Float[Array, "*batch"]:
        """Energy in stretched segments (J)."""
        return stored(self, state)

    def switch(self, state: ElasticState, name: str, which: Bool[Array, "places *batch"]) -> ElasticState:
        """Segments cut, for good: those of the first cable from the hook down, then those of the next."""
        assert name == "cut", name
        whole = state.mode.whole
        flags = which.reshape((self.count, self.segments, *which.shape[1:])).swapaxes(0, 1)
        return eqx.tree_at(lambda it: it.mode.whole, state, jnp.where(flags, 0.0, whole))
