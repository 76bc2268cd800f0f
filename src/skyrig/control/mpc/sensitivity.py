"""Sensitivities that the agents of a team hand on to each other, as Auto-Multilift's DSP does.

Along a flight every agent keeps how its state changes with its own weights, and vehicles and load tell each
other (Wang et al., arXiv 2406.04858). With X_ab the change of agent a's state by agent b's weights,

    X_ii+ = A_ii X_ii + A_iL X_Li + B_ii        X_iL+ = A_ii X_iL + A_iL X_LL + B_iL
    X_Li+ = A_LL X_Li + A_Li X_ii               X_LL+ = A_LL X_LL + sum_i A_Li X_iL + B_LL

from tick to tick, where A and B are the derivatives of one planned step: every agent's plan at its solution,
and its own model. What a vehicle's weights do to other vehicles is left out, and so is what was told for
later than now. The agents iterate, each over the whole window, until they agree.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.control.mpc.agents import LoadAgent, LoadStage, StageAim, VehicleAgent, VehicleStage, Weights
from skyrig.control.mpc.problem import Bounds
from skyrig.control.mpc.solver import Plan, solve
from skyrig.control.mpc.team import PlanningTeam, Plans

VEHICLE_WEIGHTS = 28


class SensitivityStep(NamedTuple):
    """Derivatives of the states after one planned step, agents as blocks; ticks may stand in front."""

    own: Array
    """(n, 13, 13) A_ii."""
    by_load: Array
    """(n, 13, 13) A_iL."""
    load: Array
    """(13, 13) A_LL."""
    load_by: Array
    """(n, 13, 13) A_Li."""
    own_weights: Array
    """(n, 13, 28) B_ii."""
    load_on_own: Array
    """(n, 13, 24 + n) B_iL: the load's weights change the tension that a vehicle feels at once."""
    load_weights: Array
    """(13, 24 + n) B_LL."""


def flat(vehicles: Weights, load: Weights) -> tuple[Array, Array]:
    """Weights as rows: (n, 28) and (24 + n)."""
    own = jnp.concatenate([vehicles.stage, vehicles.final, vehicles.effort], axis=1)
    return own, jnp.concatenate([load.stage, load.final, load.effort])


def planned_step(
    team: PlanningTeam,
    own: Float[Array, "n 28"],
    cargo: Float[Array, "..."],
    states: Float[Array, "m 13"],
    aims: tuple[StageAim, StageAim],
    plans: Plans,
) -> Array:
    """Where all bodies are after one step, if everybody does what it plans and cables pull as planned.

    Args:
        team: Who plans.
        own: Weights of the vehicles.
        cargo: Weights of the load.
        states: Now, the load last.
        aims: Of vehicles and load.
        plans: What was told: of later stages it is taken as it stands, of this one from the states.
    """
    held = jax.lax.stop_gradient(plans)
    crew: VehicleAgent = eqx.tree_at(
        lambda it: it.weights, team.vehicles, Weights(own[:, :12], own[:, 12:24], own[:, 24:])
    )
    load: LoadAgent = eqx.tree_at(
        lambda it: it.weights, team.load, Weights(cargo[:12], cargo[12:24], cargo[24:])
    )
    hooks = jax.vmap(lambda v, rows: jax.vmap(v.upper_end)(rows))(crew, held.vehicles.states)
    hooks = jnp.moveaxis(hooks, 0, 1).at[0].set(jax.vmap(VehicleAgent.upper_end)(crew, states[:-1]))
    free = jnp.zeros((len(hooks), 0, 3), hooks.dtype)
    known = LoadStage(aims[1], hooks, free)
    pulls = solve(load, team.tensions, states[-1], known, held.load, team.turns).inputs[0]
    tied = jax.vmap(load.ends)(held.load.states).at[0].set(load.ends(states[-1]))
    told = jnp.concatenate([held.load.inputs, held.load.inputs[-1:]]).at[0].set(pulls)
    nobody = jnp.zeros((*tied.shape[1::-1], 0, 3), tied.dtype)  # keeping apart is left out
    stages = VehicleStage(aims[0], jnp.moveaxis(tied, 1, 0), told.T, nobody, nobody)

    def plan(problem: VehicleAgent, bounds: Bounds, start: Array, stages: VehicleStage, guess: Plan) -> Array:
        return solve(problem, bounds, start, stages, guess, team.turns).inputs[0]

    efforts = jax.vmap(plan)(crew, team.thrusts, states[:-1], stages, held.vehicles)
    now = jax.tree.map(lambda leaf: leaf[:, 0], stages)
    after = jax.vmap(VehicleAgent.advance)(crew, states[:-1], efforts, now)
    first = jax.tree.map(lambda leaf: leaf[0], known)
    return jnp.concatenate([after, load.advance(states[-1], pulls, first)[None]])


def step_of(
    team: PlanningTeam, own: Array, cargo: Array, states: Array, aims: tuple[StageAim, StageAim], plans: Plans
) -> tuple[SensitivityStep, Array]:
    """The blocks of one planned step, and its whole derivative by the states, (m, 13, m, 13)."""

    def after(own: Array, cargo: Array, states: Array) -> Array:
        return planned_step(team, own, cargo, states, aims, plans)

    by_own, by_cargo, by_state = jax.jacrev(after, (0, 1, 2))(own, cargo, states)
    each = jnp.arange(own.shape[0])
    return SensitivityStep(
        by_state[each, :, each],
        by_state[:-1, :, -1],
        by_state[-1, :, -1],
        jnp.moveaxis(by_state[-1, :, :-1], 1, 0),
        by_own[each, :, each],
        by_cargo[:-1],
        by_cargo[-1],
    ), by_state


def propagated(
    steps: SensitivityStep, sweeps: int, coupled: bool = True
) -> tuple[Array, Array, Array, Array]:
    """X_ii (T + 1, n, 13, 28), X_iL, X_Li, X_LL along a flight, after so many exchanges between agents.

    `coupled=False` leaves out what vehicles and load do to each other.
    """
    ticks, count = steps.own.shape[:2]
    size = steps.load_weights.shape[-1]
    dtype = steps.load.dtype
    if not coupled:
        steps = steps._replace(
            by_load=0 * steps.by_load, load_by=0 * steps.load_by, load_on_own=0 * steps.load_on_own
        )

    def along(a: Array, add: Array) -> Array:
        """x+ = a x + add from rest."""

        def step(x: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
            after = now[0] @ x + now[1]
            return after, after

        begin = jnp.zeros_like(add[0])
        return jnp.concatenate([begin[None], jax.lax.scan(step, begin, (a, add))[1]])

    def exchange(_: Array, kept: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        _, _, load_by_own, load_by_load = kept
        own = along(steps.own, steps.by_load @ load_by_own[:-1] + steps.own_weights)
        by_load = along(steps.own, steps.by_load @ load_by_load[:-1, None] + steps.load_on_own)
        whole = jnp.broadcast_to(steps.load[:, None], steps.load_by.shape)
        load_by_own = along(whole, steps.load_by @ own[:-1])
        felt = jnp.sum(steps.load_by @ by_load[:-1], axis=1) + steps.load_weights
        return own, by_load, load_by_own, along(steps.load, felt)

    empty = (
        jnp.zeros((ticks + 1, count, 13, VEHICLE_WEIGHTS), dtype),
        jnp.zeros((ticks + 1, count, 13, size), dtype),
        jnp.zeros((ticks + 1, count, 13, VEHICLE_WEIGHTS), dtype),
        jnp.zeros((ticks + 1, 13, size), dtype),
    )
    return jax.lax.fori_loop(0, sweeps, exchange, empty)


def gradient(
    slopes: Float[Array, "ticks m 13"], sensitivities: tuple[Array, Array, Array, Array]
) -> tuple[Array, Array]:
    """Of a cost, by the weights of vehicles and load, from its derivative by the states at every tick."""
    own, by_load, load_by_own, load = sensitivities
    vehicles = jnp.einsum("kis,kisw->iw", slopes[:, :-1], own) + jnp.einsum(
        "ks,kisw->iw", slopes[:, -1], load_by_own
    )
    cargo = jnp.einsum("ks,ksw->w", slopes[:, -1], load) + jnp.einsum("kis,kisw->w", slopes[:, :-1], by_load)
    return vehicles, cargo
