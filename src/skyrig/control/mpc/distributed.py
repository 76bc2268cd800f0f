"""Model predictive control of a team, distributed: one plan for every vehicle and one for the load.

After Auto-Multilift (Wang et al., arXiv 2406.04858): the load chooses tensions, the vehicles thrusts and
moments, each by a plan of its own over a short horizon, and what they plan is exchanged a few times every
tick (`skyrig.control.mpc.team`). Rotor and tension limits are bounds of the plans, distances from others and
from obstacles are soft. What pushes a body and was not planned is observed and planned with from then on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from skyrig.control.interface import (
    Command,
    Controller,
    Measurement,
    Target,
    axes,
    concrete,
    fitted,
    fitted_target,
    part,
    wanted_of,
)
from skyrig.control.mpc.agents import LoadAgent, VehicleAgent, Weights
from skyrig.control.mpc.bodies import ATTITUDE, RATE, VELOCITY, attitude_error
from skyrig.control.mpc.faults import Faults, shared_anew
from skyrig.control.mpc.gains import MpcGains
from skyrig.control.mpc.policy import Policy
from skyrig.control.mpc.preview import Preview, preview
from skyrig.control.mpc.problem import Bounds
from skyrig.control.mpc.solver import Plan
from skyrig.control.mpc.swing import braked
from skyrig.control.mpc.team import HeardPlans, PlanningTeam, Plans, heard
from skyrig.planning import Sample
from skyrig.rigs.bodies import Bodies

BARRIER = 1e-4
"""Weight of the bounds' barrier, in the cost's own unit."""


class MpcMemory(eqx.Module):
    """What is kept from tick to tick."""

    plans: Plans
    push: Float[Array, "..."]  # (n+1, 6)
    """Observed accelerations that nobody planned, the load's last (m/s^2, rad/s^2)."""
    expected: Float[Array, "..."]  # (n+1, 6)
    """Velocities and body rates that were planned for this tick (m/s, rad/s)."""
    sent: tuple[HeardPlans, ...]
    """Messages on their way, the oldest first."""
    faults: Faults
    tick: Int[Array, ""]
    change: Float[Array, ""]
    """What the last exchange still changed."""


class DistributedMpc(Controller):
    """Vehicles and load plan by themselves and tell each other; build one with `skyrig.control.build`."""

    signal_units: ClassVar[Mapping[str, str]] = {"planned_tension": "N", "unconverged": "1", "carrying": "1"}

    mass: Float[Array, "n ..."] = axes(1)
    inertia: Float[Array, "3 3 n ..."] = axes(3)
    inverse_inertia: Float[Array, "3 3 n ..."] = axes(3)
    payload_mass: Float[Array, " ..."] = axes(0)
    payload_inertia: Float[Array, "3 3 ..."] = axes(2)
    payload_inverse_inertia: Float[Array, "3 3 ..."] = axes(2)
    attachment: Float[Array, "3 n ..."] = axes(2)
    hook: Float[Array, "3 n ..."] = axes(2)
    length: Float[Array, "n ..."] = axes(1)
    gravity: Float[Array, " ..."] = axes(0)
    available: Float[Array, "n ..."] = axes(1)
    internal: Float[Array, "3 n ..."] = axes(2)
    """Forces of the cables in hover that make no wrench (N)."""
    least: Float[Array, "4 n ..."] = axes(2)
    """Lower bounds of thrust and moment (N, N m)."""
    most: Float[Array, "4 n ..."] = axes(2)
    least_tension: Float[Array, "n ..."] = axes(1)
    most_tension: Float[Array, "n ..."] = axes(1)
    deaf: Float[Array, "2 n ..."] = axes(2)
    """From when to when each vehicle neither hears nor is heard (s)."""
    obstacles: Float[Array, "k 3 ..."] = axes(2)
    """Upright round obstacles that plans keep off: x, y and radius (m)."""
    period: Float[Array, " ..."] = axes(0)
    """Between ticks (s)."""
    gains: MpcGains = part()
    horizon: int = eqx.field(static=True, kw_only=True)
    stride: int = eqx.field(static=True, kw_only=True)
    """Ticks in a step of the horizon."""
    sweeps: int = eqx.field(static=True, kw_only=True)
    turns: int = eqx.field(static=True, kw_only=True)
    order: str = eqx.field(static=True, kw_only=True)
    delay: int = eqx.field(static=True, kw_only=True)
    """Control periods that a message is on its way; with none, plans are exchanged within a period."""
    policy: Policy | None = eqx.field(default=None, kw_only=True)
    """Networks, normalised, that say the weights in place of the gains."""

    def prepare(self, payload: Sample | None = None, vehicles: Sample | None = None) -> Preview:
        """What every tick looks ahead to."""
        model = jax.tree.map(concrete, self)
        given = wanted_of("payload", payload)
        return preview(model, given, self.horizon, self.stride, model.period)

    def start(self, measurement: Measurement) -> MpcMemory:
        """Everybody stays where it is, carrying its share."""
        return self._each(measurement, lambda it, seen: it.begun(*seen))

    def __call__(self, memory: Any, t: Any, target: Target, measurement: Measurement) -> tuple[Any, Command]:
        """Plans from what is measured; their first inputs are the command."""
        nominal: Preview = fitted_target(target, measurement).nominal
        now = jnp.broadcast_to(t, measurement.length.shape[1:])

        def planned(it: Any, seen: Any, memory: Any, nominal: Any, t: Any) -> Any:
            return it.decided(memory, t, nominal, *seen)

        memory, effort = self._each(measurement, planned, memory, nominal, now)
        return memory, Command(effort[0], effort[1:])

    def signals(self, memory: MpcMemory) -> dict[str, Array]:
        """Tensions as planned, how far the exchange was from its end, and which vehicles are counted on."""
        tension = memory.plans.load.inputs[0]
        change = jnp.broadcast_to(memory.change, tension.shape)
        return {"planned_tension": tension, "unconverged": change, "carrying": memory.faults.hangs}

    def _each(self, measurement: Measurement, function: Any, *others: Any) -> Any:
        """A function of one flight for every flight of the batch behind the arrays."""
        like = measurement.length
        states = (_state(measurement.vehicles), _state(measurement.payload), like)
        batch = like.shape[1:]
        if not batch:
            return function(self, states, *others)
        it = fitted(dataclasses.replace(self, policy=None), like)
        arrays, rest = eqx.partition((it, states, *others), eqx.is_array)

        def widened(leaf: Array) -> Array:
            return jnp.broadcast_to(leaf, leaf.shape[: leaf.ndim - len(batch)] + batch)

        def one(arrays: Any) -> Any:
            it, states, *others = eqx.combine(arrays, rest)
            it = dataclasses.replace(it, policy=self.policy)
            return function(it, states, *others)

        for _ in batch:
            one = jax.vmap(one, in_axes=-1, out_axes=-1)
        return one(jax.tree.map(widened, arrays))

    @property
    def weights(self) -> tuple[Weights, Weights]:
        """Of all vehicles, n in front, and of the load, as the gains have them."""
        gains = self.gains
        own = Weights(gains.vehicle.T, gains.final * gains.vehicle.T, gains.effort.T)
        return own, Weights(gains.load, gains.final * gains.load, gains.tension)

    def team(
        self,
        length: Array,
        push: Array,
        weights: tuple[Weights, Weights],
        heeded: Array | None = None,
        faults: Faults | None = None,
    ) -> PlanningTeam:
        """Those who plan, with cables of that length, pushes (n + 1, 6) and faults as observed."""
        gains, n = self.gains, self.mass.shape[0]
        known = Faults.none(self.mass) if faults is None else faults

        def shared(value: Array) -> Array:
            return jnp.broadcast_to(value, (n, *value.shape))

        step, one = self.stride * self.period, jnp.ones_like(self.period)
        vehicles = VehicleAgent(
            mass=self.mass,
            inertia=jnp.moveaxis(self.inertia, -1, 0),
            inverse_inertia=jnp.moveaxis(self.inverse_inertia, -1, 0),
            gravity=shared(self.gravity),
            step=shared(step),
            weights=weights[0],
            scale=shared(one),
            approach=shared(gains.approach),
            push=push[:-1],
            hook=self.hook.T,
            length=length,
            hangs=known.hangs,
            softness=shared(gains.softness),
            apart=shared(gains.apart),
            shy=shared(gains.shy),
        )
        load = LoadAgent(
            mass=self.payload_mass,
            inertia=self.payload_inertia,
            inverse_inertia=self.payload_inverse_inertia,
            gravity=self.gravity,
            step=step,
            weights=weights[1],
            scale=one,
            approach=gains.approach,
            push=push[-1],
            attachment=self.attachment.T,
            length=length,
            hangs=known.hangs,
            ballast=known.ballast(self.mass, self.gravity),
            softness=gains.softness,
            centre=jnp.zeros(3, one.dtype),
            reach=jnp.max(jnp.sqrt(jnp.sum(self.attachment[:2] ** 2, 0))),
            shy=gains.shy,
            own_frame=False,
        )
        barrier = BARRIER * one
        thrusts = Bounds(self.least.T, self.most.T, shared(barrier))
        tensions = Bounds(self.least_tension, self.most_tension, barrier)
        fixed = (self.obstacles, self.sweeps, self.turns, self.order)
        return PlanningTeam(vehicles, load, thrusts, tensions, *fixed, heeded=heeded)

    def begun(self, vehicles: Array, load: Array, length: Array) -> MpcMemory:
        """The memory of one flight to begin with, from states (13, n) and (13)."""
        n, rows = self.mass.shape[0], self.horizon + 1
        share = self.payload_mass * self.gravity / n
        thrust = self.mass * self.gravity + share
        effort = jnp.zeros((n, self.horizon, 4), load.dtype).at[..., 0].set(thrust[:, None])
        craft = jax.vmap(Plan.of)(jnp.broadcast_to(vehicles.T[:, None], (n, rows, 13)), effort)
        tension = jnp.broadcast_to(share, (self.horizon, n))
        cargo = Plan.of(jnp.broadcast_to(load, (rows, 13)), tension)
        still, told = jnp.zeros((n + 1, 6), load.dtype), heard(craft, cargo)
        speeds = _speeds(jnp.concatenate([vehicles.T, load[None]]))
        zero = jnp.zeros((), load.dtype)
        sent = (told,) * self.delay
        well = Faults.none(thrust.astype(load.dtype))
        return MpcMemory(Plans(craft, cargo, told), still, speeds, sent, well, jnp.zeros((), jnp.int32), zero)

    def decided(
        self,
        memory: MpcMemory,
        t: Array,
        wanted: Preview,
        vehicles: Array,
        load: Array,
        length: Array,
        heeded: Array | None = None,
    ) -> tuple[MpcMemory, Array]:
        """One flight's memory and thrusts and moments (4, n) for the coming tick.

        `heeded` is the share of derivatives that is passed from agent to agent, all of it if None.
        """
        speeds = _speeds(jnp.concatenate([vehicles.T, load[None]]))
        off = speeds - memory.expected
        push = memory.push + self.gains.learn * off
        faults = memory.faults.seen(self, vehicles, load, length, off[:-1, :3] / self.period)
        team = self.team(length, push, self._weights_at(wanted, vehicles, load), heeded, faults)
        wanted = shared_anew(wanted, self, team.load.hangs, team.load.ballast)
        pulsation = jnp.sqrt(self.gravity / jnp.mean(length))
        wanted = braked(wanted, load, self.gains.brake, pulsation, self.stride * self.period)
        fresh = memory.tick % self.stride == 0
        known = memory.plans, memory.sent
        moved = memory.plans.later(), tuple(it.later() for it in memory.sent)
        later, sent = jax.tree.map(lambda new, old: jnp.where(fresh, new, old), moved, known)
        deaf = (t >= self.deaf[0]) & (t < self.deaf[1])
        if sent:  # nobody hears anything newer until the next period
            later = Plans(later.vehicles, later.load, later.told.unless(deaf, sent[0]))
            deaf = jnp.ones_like(deaf)
        plans, change = team.plan(vehicles.T, load, wanted.vehicle_aims, wanted.load_aim, later, deaf)
        sent = (*sent, heard(plans.vehicles, plans.load))[1:] if sent else sent
        after = _speeds(jnp.concatenate([plans.vehicles.states[:, 1], plans.load.states[None, 1]]))
        expected = speeds + (after - speeds) / self.stride
        kept = MpcMemory(plans, push, expected, sent, faults, memory.tick + 1, change)
        return kept, plans.vehicles.inputs[:, 0].T

    def _weights_at(self, wanted: Preview, vehicles: Array, load: Array) -> tuple[Weights, Weights]:
        if self.policy is None:
            return self.weights
        return self.policy.weights(*errors(wanted, vehicles, load))


def _speeds(states: Float[Array, "m 13"]) -> Float[Array, "m 6"]:
    return jnp.concatenate([states[:, VELOCITY], states[:, RATE]], 1)


def errors(wanted: Preview, vehicles: Array, load: Array) -> tuple[Array, Array]:
    """Of the vehicles' positions and velocities (n, 6), and of the load's whole state (12)."""
    off = load - wanted.load[0]
    turned = attitude_error(wanted.load[0, ATTITUDE], load[ATTITUDE])
    return (vehicles - wanted.vehicles[0])[:6].T, jnp.concatenate([off[:6], turned, off[RATE]])


def _state(bodies: Bodies) -> Array:
    """(13, ...) as plans have it."""
    return jnp.concatenate([bodies.position, bodies.velocity, bodies.attitude, bodies.rate])
