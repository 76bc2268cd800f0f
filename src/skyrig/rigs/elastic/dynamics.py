"""How an elastic rig moves, what it tells, and what is done to it."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from skyrig import algebra
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.elastic.chain import course_now, forces, spans, tension, velocities
from skyrig.rigs.elastic.energy import stored
from skyrig.rigs.elastic.parameters import ElasticMotion, ElasticParameters, ElasticState, Nodes, Reeled
from skyrig.rigs.elastic.step import step
from skyrig.rigs.protocol import Loads


class ElasticDynamics(ElasticParameters):
    """An elastic rig in motion."""

    def derivative(self, t: ArrayLike, state: ElasticState, loads: Loads) -> ElasticMotion:
        """Time derivative of the motion (report, eqs. 14-16, with Euler's equations of the bodies)."""
        segment, line = self.segment(state), course_now(self, state)
        span, velocity = spans(line), velocities(state)
        pulls = tension(segment, span, state.mode.whole)
        push = forces(self, segment, line, span, pulls, velocity, loads)
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

    def tidy(self, state: ElasticState) -> ElasticState:
        """Quaternions at length one."""
        places = (state.payload.attitude, state.vehicles.attitude)
        return eqx.tree_at(
            lambda it: (it.motion.payload.attitude, it.motion.vehicles.attitude),
            state,
            tuple(algebra.normalised(each) for each in places),
        )

    def bodies(self, state: ElasticState) -> dict[str, Bodies]:
        """Payload and vehicles."""
        return {"payload": state.payload.alone(), "vehicles": state.vehicles}

    def like(self, state: ElasticState) -> Float[Array, "*batch"]:
        """One number of the motion for each flight."""
        return state.payload.position[0]

    def tensions(self, state: ElasticState) -> Float[Array, "segments n *batch"]:
        """Of every segment, from the hook down (N)."""
        return tension(self.segment(state), spans(course_now(self, state)), state.mode.whole)

    def signals(self, t: ArrayLike, state: ElasticState, loads: Loads) -> dict[str, Array]:
        """Tensions at both ends, lengths, stretch and course of every cable."""
        segment, span = self.segment(state), spans(course_now(self, state))
        pulls = tension(segment, span, state.mode.whole)
        place = jnp.moveaxis(state.nodes.position, 0, 2)  # nodes, cables, xyz
        place = jnp.moveaxis(place, 0, 1)
        return {
            "cable.tension": pulls[-1],
            "cable.hook_tension": pulls[0],
            "cable.length": state.length,
            "cable.stretch": (span.length - segment.rest).sum(0),
            "cable.taut": (pulls > 0).all(0),
            "cable.nodes": place.reshape((-1, *place.shape[3:])),
        }

    def stored(self, state: ElasticState) -> Float[Array, "*batch"]:
        """Energy in stretched segments (J)."""
        return stored(self, state)

    def readings(self, state: ElasticState) -> dict[str, Array]:
        """The cables' unstretched lengths, which their winches know."""
        return {"cable.length": state.length}

    def rest_goals(self) -> dict[str, Any]:
        """The lengths that winches start from (m)."""
        return {} if self.winch is None else {"winch": np.asarray(self.length)}

    def follow(
        self, readings: dict[str, Array], goals: dict[str, Array], period: ArrayLike
    ) -> dict[str, Array]:
        """Reel-out rates that bring the cables to lengths `goals['winch']` (m)."""
        assert self.winch is not None
        return {"winch": self.winch.towards(readings["cable.length"], goals["winch"], period)}

    def prepare(self, state: ElasticState, loads: Loads, dt: Array) -> ElasticState:
        """Set the winches' acceleration for the coming step."""
        if self.winch is None:
            return state
        asked = loads.drives.get("winch")
        wanted = jnp.zeros_like(state.length) if asked is None else asked
        drive = self.winch.drive(state.length, state.reel, wanted, dt)
        return eqx.tree_at(lambda it: it.mode.drive, state, drive)

    def poke(self, state: ElasticState, group: str, impulse: Array, point: Array) -> ElasticState:
        """Blows (N s, world frame) at points of bodies (m, their frames)."""
        if group == "payload":
            body, mass, turn = state.payload, self.payload_mass, self.payload_inverse_inertia
            impulse, point = impulse[:, 0], point[:, 0]
        else:
            body, mass, turn = state.vehicles, self.mass, self.inverse_inertia
        local = algebra.apply_transposed(algebra.rotation_matrix(body.attitude), impulse)
        spin = algebra.apply(turn, algebra.cross(point, local))
        changed = Bodies(body.position, body.velocity + impulse / mass, body.attitude, body.rate + spin)
        return eqx.tree_at(lambda it: getattr(it.motion, group), state, changed)

    def switch(self, state: ElasticState, name: str, which: Bool[Array, "places *batch"]) -> ElasticState:
        """Segments cut, for good: those of the first cable from the hook down, then those of the next."""
        assert name == "cut", name
        whole = state.mode.whole
        flags = which.reshape((self.count, self.segments, *which.shape[1:])).swapaxes(0, 1)
        return eqx.tree_at(lambda it: it.mode.whole, state, jnp.where(flags, 0.0, whole))
