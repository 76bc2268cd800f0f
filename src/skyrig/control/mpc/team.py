"""Load and vehicles plan in turns and tell each other what they found, a bounded number of times.

In one sweep all vehicles plan at once, each with the load's plan and the other vehicles' plans as last told;
then the load plans with the vehicles' new plans (order 'serial'), or all plan at once with the old ones
('parallel'). For comparison one planner may plan for all ('central'). What an agent knows of the others is
what it was told, so that lost messages can be flown: whoever hears nothing goes on with the last plan it was
told, moved on in time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from skyrig.control.mpc.agents import LoadAgent, LoadStage, StageAim, VehicleAgent, VehicleStage
from skyrig.control.mpc.joint import Joint, JointStage
from skyrig.control.mpc.optimality import passed
from skyrig.control.mpc.problem import Bounds
from skyrig.control.mpc.solver import Plan, solve

ORDERS = ("serial", "parallel", "central")


class HeardPlans(eqx.Module):
    """The last plans that were heard."""

    load_states: Float[Array, "..."]  # (n, N+1, 13)
    """Of the load, as each vehicle knows it."""
    tensions: Float[Array, "..."]  # (n, N)
    """Of each vehicle's own cable, as it knows them (N)."""
    vehicle_states: Float[Array, "..."]  # (n, N+1, 13)
    """Of the vehicles, as all others know them."""

    def later(self) -> HeardPlans:
        """The same as they are known one step later."""
        return jax.tree.map(lambda leaf: jnp.concatenate([leaf[:, 1:], leaf[:, -1:]], 1), self)

    def unless(self, deaf: Bool[Array, " n"], news: HeardPlans) -> HeardPlans:
        """News, but of and to those who are deaf what was known before."""
        return jax.tree.map(lambda new, old: _unless(deaf, new, old), news, self)


class Plans(eqx.Module):
    """What everybody plans, and what everybody was told."""

    vehicles: Plan
    """n in front of every leaf."""
    load: Plan
    told: HeardPlans

    def later(self) -> Plans:
        """The same as a guess one step later."""
        return Plans(
            jax.vmap(Plan.later)(self.vehicles),
            self.load.later(),
            self.told.later(),
        )


class PlanningTeam(eqx.Module):
    """Those who plan."""

    vehicles: VehicleAgent
    """n in front of every leaf."""
    load: LoadAgent
    thrusts: Bounds
    """Of the vehicles' inputs, n in front."""
    tensions: Bounds
    obstacles: Float[Array, "..."]  # (k, 3)
    """x, y and radius of each (m)."""
    heeded: Float[Array, "..."] | None = eqx.field(default=None, kw_only=True)
    """Share of derivatives that is passed from agent to agent; None for all of it."""
    sweeps: int = eqx.field(static=True)
    turns: int = eqx.field(static=True)
    """Of every agent in a sweep."""
    order: str = eqx.field(static=True)

    @property
    def count(self) -> int:
        """Number of vehicles."""
        return self.vehicles.mass.shape[0]

    def first(self, vehicle_aims: StageAim, load_aim: StageAim) -> Plans:
        """A first guess: everybody does what it would like."""
        vehicles = jax.vmap(lambda aim: Plan.of(aim.state, aim.effort[:-1]))(vehicle_aims)
        load = Plan.of(jax.vmap(self.load.under)(load_aim.state), load_aim.effort[:-1])
        return Plans(vehicles, load, heard(vehicles, load))

    def plan(
        self,
        vehicles: Float[Array, "n 13"],
        load: Float[Array, "13"],
        vehicle_aims: StageAim,
        load_aim: StageAim,
        guess: Plans,
        deaf: Bool[Array, " n"],
    ) -> tuple[Plans, Float[Array, ""]]:
        """Everybody's plan from where they are, and how much the last sweep still changed (m, N and so on).

        Args:
            vehicles: Where the vehicles are.
            load: Where the load is.
            vehicle_aims: Where the vehicles would like to be, (n, N + 1, ...).
            load_aim: Where the load would like to be, (N + 1, ...).
            guess: Plans to begin with.
            deaf: Vehicles that neither hear nor are heard now.
        """
        if self.order == "central":
            return self._together(vehicles, load, vehicle_aims, load_aim, guess)

        def sweep(plans: Plans, _: None) -> tuple[Plans, Array]:
            craft = self._vehicles(vehicles, vehicle_aims, plans)
            known = plans.told.vehicle_states
            if self.order == "serial":
                known = _unless(deaf, craft.states, known)
            cargo = self._load(load, load_aim, plans, known)
            told = plans.told.unless(deaf, heard(craft, cargo))
            return Plans(craft, cargo, told), _change(plans, craft, cargo)

        plans, changes = jax.lax.scan(sweep, guess, None, length=self.sweeps)
        return plans, changes[-1]

    def _vehicles(self, start: Array, aims: StageAim, plans: Plans) -> Plan:
        told, count = passed(plans.told, self.heeded), self.count
        among = np.array([[j for j in range(count) if j != i] for i in range(count)], int)
        others = told.vehicle_states[among.reshape(count, count - 1), :, :3]
        tied = jax.vmap(lambda k, states: jax.vmap(self.load.ends)(states)[:, k])(
            jnp.arange(count), told.load_states
        )
        horizon = tied.shape[1]
        fixed = jnp.broadcast_to(self.obstacles, (count, horizon, *self.obstacles.shape))
        tension = jnp.concatenate([told.tensions, told.tensions[:, -1:]], 1)
        stages = VehicleStage(aims, tied, tension, jnp.moveaxis(others, 1, 2), fixed)

        def own(problem: Any, bounds: Any, start: Any, stages: Any, guess: Any) -> Plan:
            return solve(problem, bounds, start, stages, guess, self.turns)

        return jax.vmap(own)(self.vehicles, self.thrusts, start, stages, plans.vehicles)

    def _load(self, start: Array, aim: StageAim, plans: Plans, known: Array) -> Plan:
        known = passed(known, self.heeded)
        hooks = jax.vmap(lambda own, states: jax.vmap(own.upper_end)(states))(self.vehicles, known)
        fixed = jnp.broadcast_to(self.obstacles, (hooks.shape[1], *self.obstacles.shape))
        stages = LoadStage(aim, jnp.moveaxis(hooks, 0, 1), fixed)
        return solve(self.load, self.tensions, start, stages, plans.load, self.turns)

    def _together(
        self, vehicles: Array, load: Array, vehicle_aims: StageAim, load_aim: StageAim, guess: Plans
    ) -> tuple[Plans, Array]:
        """One plan for everybody."""
        joint = Joint(self.vehicles, self.load)
        rows = load_aim.state.shape[0]
        fixed = jnp.broadcast_to(self.obstacles, (rows, *self.obstacles.shape))
        stages = JointStage(
            jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, 1), vehicle_aims), load_aim, fixed
        )
        bounds = Bounds(
            jnp.concatenate([self.thrusts.low.reshape(-1), self.tensions.low]),
            jnp.concatenate([self.thrusts.high.reshape(-1), self.tensions.high]),
            self.tensions.barrier,
        )
        before = jax.tree.map(_beside, guess.vehicles, guess.load)
        start = jnp.concatenate([vehicles.reshape(-1), load])
        found = solve(joint, bounds, start, stages, before, self.turns)
        count = self.count

        def own(leaf: Array, size: int) -> Array:
            return jnp.moveaxis(leaf[:, : count * size].reshape(len(leaf), count, size), 1, 0)

        def rest(leaf: Array, size: int) -> Array:
            return leaf[:, count * size :]

        def part(take: Callable[[Array, int], Array], change: Array) -> Plan:
            return Plan(
                states=take(found.states, 13),
                inputs=take(found.inputs, 4),
                low_dual=take(found.low_dual, 4),
                high_dual=take(found.high_dual, 4),
                change=change,
            )

        craft, cargo = part(own, jnp.broadcast_to(found.change, (count,))), part(rest, found.change)
        return Plans(craft, cargo, heard(craft, cargo)), _change(guess, craft, cargo)


def _beside(vehicles: Array, load: Array) -> Array:
    """The vehicles' rows (n, N, ...) and the load's (N, ...) as rows of one plan."""
    if load.ndim == 0:
        return load
    return jnp.concatenate([jnp.moveaxis(vehicles, 0, 1).reshape(len(load), -1), load], 1)


def heard(vehicles: Plan, load: Plan) -> HeardPlans:
    """What everybody knows if every message arrives."""
    count = vehicles.states.shape[0]
    states = jnp.broadcast_to(load.states, (count, *load.states.shape))
    return HeardPlans(states, load.inputs.T, vehicles.states)


def _unless(deaf: Array, new: Array, old: Array) -> Array:
    return jnp.where(deaf.reshape(-1, *(1,) * (new.ndim - 1)), old, new)


def _change(before: Plans, vehicles: Plan, load: Plan) -> Array:
    """Largest over agents of the mean over the horizon of how far states or inputs moved in a sweep."""
    before, vehicles, load = jax.lax.stop_gradient((before, vehicles, load))

    def moved(new: Array, old: Array) -> Array:
        return jnp.max(jnp.mean(jnp.sqrt(jnp.sum((new - old) ** 2, -1)), -1))

    parts = [
        moved(vehicles.states, before.vehicles.states),
        moved(vehicles.inputs, before.vehicles.inputs),
        moved(load.states, before.load.states),
        moved(load.inputs, before.load.inputs),
    ]
    return jnp.max(jnp.stack(parts))
