"""What happens when cables of a slung rig go slack or taut: guards, impacts, release, drift.

A cable at full length pulls or lets go by the sign of its tension. A slack cable that reaches its length
with speed is an impact: impulses along all cables at full length, pulling only, settle every length rate at
once (RotorTM eqs. 40-57 as one complementarity problem in cable space).
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from skyrig import algebra
from skyrig.algebra import anywhere, as_jax, total
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.complementarity import complementarity
from skyrig.rigs.protocol import Happened, Loads, Reset, Watch, moved
from skyrig.rigs.slung.motion import (
    CableSpans,
    Push,
    cable_system,
    free_acceleration,
    free_stretch,
    motion,
    pull,
    spans,
)
from skyrig.rigs.slung.parameters import SlungMotion, SlungParameters, SlungState


class Tolerances(NamedTuple):
    """What counts as zero, by precision."""

    length: float
    """A slack cable may overshoot its length by this before it arrives (m)."""
    tie: float
    """Cables this close to their length when another arrives, arrive with it (m)."""
    snap: float
    """Length rates below this at a reset are taken as zero, which ends chattering (m/s)."""
    tension: float
    """A taut cable may push by this share of a vehicle's weight before it lets go."""
    acceleration: float
    """A slack cable at its length must be drawn out by this to become taut (m/s^2)."""
    drift: float
    """Drift of taut lengths in one step above which one Newton step is not enough (m)."""


def tolerances(dtype) -> Tolerances:
    """Tolerances for float64 or float32."""
    if dtype == jnp.float64:
        return Tolerances(length=1e-12, tie=1e-10, snap=1e-5, tension=1e-11, acceleration=1e-10, drift=1e-10)
    return Tolerances(length=2e-6, tie=1e-5, snap=3e-3, tension=1e-5, acceleration=1e-4, drift=1e-5)


def watch(
    rig: SlungParameters, state: SlungState, span: CableSpans, tension: Array, left: Array
) -> tuple[Watch, Bool[Array, "*batch"]]:
    """Guards of every cable, and whether a reset is due at this very state."""
    at = tolerances(span.distance.dtype)
    excess = span.distance - state.length
    growth = span.rate - state.reel
    weight = rig.mass * (jnp.abs(rig.gravity) + 1.0)
    pushing = -tension - at.tension * weight
    slack = ~state.taut & ~state.cut
    cable = jnp.where(state.taut, pushing, jnp.where(slack, excess - at.length, -1.0))
    slope = jnp.where(slack, growth, 0.0)
    known = slack.astype(cable.dtype)
    full = slack & (excess >= -at.tie)
    arriving = full & (growth > at.snap)
    drawn = full & (jnp.abs(growth) <= at.snap) & (left > at.acceleration)
    torn = state.taut & ((jnp.abs(growth) > at.snap) | (pushing > 0))
    calm = jnp.zeros_like(excess[0], dtype=bool)
    return Watch(cable, slope, known, calm), anywhere(arriving | drawn | torn)


class Sets(NamedTuple):
    """What a reset decided, cable by cable."""

    arrived: Bool[Array, "n *batch"]
    """Slack cables that reached their length with speed; restitution applied to them."""
    active: Bool[Array, "n *batch"]
    """Cables over which the impulses were solved for."""
    taut: Bool[Array, "n *batch"]
    """Cables taut afterwards."""


MOST_TURNS = 8
"""Newton steps before a motion counts as too fast for the step."""


def _settled(rig: SlungParameters, state: SlungState, loads: Loads) -> tuple[SlungState, Watch, Array]:
    """One Newton step onto the taut lengths and rates, the guards before it, and whether it was a large one.

    Lengths and rates are corrected along the cables through the same matrix: the centre of mass stays, and
    velocity corrections keep both momenta.
    """
    state = eqx.tree_at(
        lambda s: (s.motion.payload.attitude, s.motion.vehicles.attitude),
        state,
        (algebra.normalised(state.payload.attitude), algebra.normalised(state.vehicles.attitude)),
    )
    span = spans(rig, state)
    free = free_acceleration(rig, state, loads)
    stretch = free_stretch(rig, state, span, free)
    system = cable_system(rig, span)
    excess, growth = span.distance - state.length, span.rate - state.reel
    tension, shift, jerk = system.solve(jnp.stack([stretch, excess, growth]), state.taut)
    guards, _ = watch(rig, state, span, tension, stretch)
    state = _kicked(_displaced(state, pull(rig, span, shift)), pull(rig, span, jerk))
    at = tolerances(excess.dtype)
    coarse = anywhere(state.taut & ((jnp.abs(excess) > at.drift) | (jnp.abs(growth) > 1e3 * at.drift)))
    return state, guards, coarse


def _kicked(state: SlungState, by: Push) -> SlungState:
    """Velocities changed by an impulse's push."""
    body, craft = state.payload, state.vehicles
    turned = craft.rate if by.vehicles_turn is None else craft.rate + by.vehicles_turn
    return eqx.tree_at(
        lambda s: (s.motion.payload, s.motion.vehicles),
        state,
        (
            Bodies(body.position, body.velocity + by.payload, body.attitude, body.rate + by.payload_turn),
            Bodies(craft.position, craft.velocity + by.vehicles, craft.attitude, turned),
        ),
    )


def _displaced(state: SlungState, by: Push) -> SlungState:
    """Poses moved by a small push; quaternions back at length one."""
    body, craft = state.payload, state.vehicles

    def turned(attitude, turn):
        return algebra.normalised(attitude + algebra.attitude_rate(attitude, turn))

    craft_attitude = craft.attitude if by.vehicles_turn is None else turned(craft.attitude, by.vehicles_turn)
    return eqx.tree_at(
        lambda s: (s.motion.payload, s.motion.vehicles),
        state,
        (
            Bodies(
                body.position + by.payload, body.velocity, turned(body.attitude, by.payload_turn), body.rate
            ),
            Bodies(craft.position + by.vehicles, craft.velocity, craft_attitude, craft.rate),
        ),
    )


class SlungEvents(SlungParameters):
    """A slung rig with its guards and resets."""

    def rates(
        self, t: ArrayLike, state: SlungState, loads: Loads
    ) -> tuple[SlungMotion, Watch, Bool[Array, "*batch"]]:
        """Derivative, guards, and whether a reset is due now."""
        derivative, tension, span, left = motion(self, state, loads)
        return derivative, *watch(self, state, span, tension, left)

    def settle(
        self, t: ArrayLike, state: SlungState, loads: Loads, polish: bool = True
    ) -> tuple[SlungState, Watch]:
        """Take the drift of one step out of quaternions, taut lengths and their rates; guards at the end.

        One Newton step does for any flight the step size resolves; `polish` adds more where it does not (a
        payload spinning hundreds of radians a second).
        """
        if not polish:
            return _settled(self, state, loads)[:2]

        def again(carry):
            state, guards, coarse, turn = carry
            new_state, new_guards, new_coarse = _settled(self, state, loads)
            keep = (state, guards, coarse)
            chosen = jax.tree.map(
                lambda a, b: jnp.where(coarse, a, b), (new_state, new_guards, new_coarse), keep
            )
            return *chosen, turn + 1

        start = (state, self.guards_off(state), jnp.ones_like(self.like(state), dtype=bool), as_jax(0))
        state, guards, coarse, _ = jax.lax.while_loop(
            lambda carry: jnp.any(carry[2]) & (carry[3] < MOST_TURNS), again, start
        )
        return state, eqx.tree_at(lambda g: g.rough, guards, coarse)

    def reset(
        self, t: ArrayLike, state: SlungState, loads: Loads, patience: ArrayLike = 1.0
    ) -> tuple[SlungState, Reset]:
        """Decide at one instant which cables pull, and settle the impulses that this takes.

        Args:
            t: Now (s).
            state: The state at the instant, a guard just past zero.
            loads: What acts on the rig just now.
            patience: Factor on the snap tolerance, 1 at first, growing when one step holds very many events.
        """
        at = tolerances(state.length.dtype)
        snap = at.snap * patience
        span = spans(self, state)
        system = cable_system(self, span)
        growth = span.rate - state.reel
        full = ~state.cut & (state.taut | (span.distance - state.length >= -at.tie))
        arrived = full & ~state.taut & (growth > snap)
        # restitution is for cables that arrive, never for taut ones jerked along
        wanted = growth + jnp.where(arrived, self.restitution * growth, 0.0)
        blow = complementarity(system, wanted, full)
        after = _kicked(state, pull(self, span, blow.value))

        span_after = spans(self, after)
        kept = full & (span_after.rate - after.reel > -snap)
        kept = kept & ~(arrived & (self.restitution * growth > snap))
        stretch = free_stretch(self, after, span_after, free_acceleration(self, after, loads))
        hold = complementarity(system, stretch, kept)
        taut = hold.active & kept
        (jerk,) = system.solve((span_after.rate - after.reel)[None], taut)
        after = _kicked(after, pull(self, span, jerk))
        after = eqx.tree_at(lambda s: s.mode.taut, after, taut)
        loosened = (state.taut | (arrived & ~(self.restitution * growth > snap))) & ~taut
        record = Reset(
            events={
                "impact": Happened(arrived, blow.value),
                "taut": Happened(~arrived & ~state.taut & taut),
                "slack": Happened(loosened),
            },
            again=Sets(arrived, blow.active, taut),
            solved=blow.solved & hold.solved,
        )
        return after, record

    def switch(self, state: SlungState, name: str, which: Bool[Array, "n *batch"]) -> SlungState:
        """Cables cut, for good."""
        assert name == "cut", name
        return eqx.tree_at(
            lambda s: (s.mode.taut, s.mode.cut), state, (state.taut & ~which, state.cut | which)
        )

    def blank(self, state: SlungState) -> Reset:
        """A reset in which nothing happened: the shape of a log's row."""
        no = jnp.zeros_like(state.taut)
        events = {
            "impact": Happened(no, jnp.zeros_like(state.length)),
            "taut": Happened(no),
            "slack": Happened(no),
        }
        return Reset(events, Sets(no, no, no), jnp.zeros_like(self.like(state), dtype=bool))

    def replay(
        self,
        t: ArrayLike,
        state: SlungState,
        loads: Loads,
        done: Sets,
        located: Bool[Array, "*batch"],
    ) -> tuple[SlungState, Float[Array, "*batch"]]:
        """A reset again, with its sets given, so that it differentiates; and the shift of its time.

        The second value is zero, with the derivative of the arrival time: an arriving cable's length is
        reached later by (d - l) / (rate of d - l). Releases need none.
        """
        span = spans(self, state)
        growth = span.rate - state.reel
        excess = span.distance - state.length
        first = located & done.arrived & (jnp.cumsum(done.arrived, axis=0) == 1)
        speed = jnp.where(first, jax.lax.stop_gradient(growth), 1.0)
        shift = -total(jnp.where(first, (excess - jax.lax.stop_gradient(excess)) / speed, 0.0))
        state = moved(state, motion(self, state, loads)[0], shift)

        span = spans(self, state)
        system = cable_system(self, span)
        growth = span.rate - state.reel
        wanted = growth + jnp.where(done.arrived, self.restitution * growth, 0.0)
        (impulse,) = system.solve(wanted[None], done.active)
        after = _kicked(state, pull(self, span, impulse))
        span_after = spans(self, after)
        (jerk,) = system.solve((span_after.rate - after.reel)[None], done.taut)
        after = _kicked(after, pull(self, span, jerk))
        return eqx.tree_at(lambda s: s.mode.taut, after, done.taut), shift

    def guards_off(self, state: SlungState) -> Watch:
        """Guards that all stay below zero: the shape of a bracket's end."""
        ones = jnp.ones_like(state.length)
        return Watch(-ones, 0 * ones, 0 * ones, jnp.zeros_like(self.like(state), dtype=bool))
