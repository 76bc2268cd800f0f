"""A short flight of a planning team on elastic cables, to learn from, which JAX can differentiate.

The bodies are those the plans know; cables are massless springs with dampers, stiff enough to differ little
from inextensible ones, and only pull. Derivatives pass through every plan at its solution, through what the
agents told each other, and through the bodies' motion (plain reverse or forward mode).
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import cross, rotation_matrix
from skyrig.control.mpc.agents import VehicleAgent
from skyrig.control.mpc.bodies import ATTITUDE, RATE, VELOCITY, runge_kutta
from skyrig.control.mpc.distributed import DistributedMpc, errors
from skyrig.control.mpc.optimality import passed
from skyrig.control.mpc.preview import Preview
from skyrig.control.mpc.team import PlanningTeam, Plans

PARTS = 8
"""Steps in a control period."""
STIFF, DAMPED = 100.0, 0.3
"""Natural frequency (rad/s) and damping ratio of a vehicle on its cable."""
ATTITUDE_COUNTS = 0.01
"""What a squared radian of the load's attitude counts (m^2)."""
VEHICLE_COUNTS = 0.05
"""What a squared metre of the vehicles' errors counts, on average."""


class Lesson(eqx.Module):
    """What a short flight begins from and follows."""

    vehicles: Float[Array, "..."]  # (n, 13)
    load: Float[Array, "..."]  # (13)
    wanted: Preview
    """Ticks in front."""
    push: Float[Array, "..."]  # (3)
    """Acceleration of the load that nobody told the planners of (m/s^2)."""


class Ways(eqx.Module):
    """Which ways derivatives of a flight take: 1, or 0 to leave one out."""

    others: Float[Array, "..."]
    """From agent to agent, by messages and along cables."""
    time: Float[Array, "..."]
    """From tick to tick. Without it a tick costs what its plans cost over their horizon."""


WAYS = {"closed-loop": (1.0, 1.0), "uncoupled": (0.0, 1.0), "open-loop": (0.0, 0.0)}
"""By name: all; without what agents do to each other; of every agent's own plans alone (Safe-PDP)."""


def flown(controller: DistributedMpc, lesson: Lesson, ways: Ways | None = None) -> tuple[Array, Array]:
    """States of all bodies, the load last, from the start to the last tick's end, and the cost of each tick.

    They are (T + 1, n + 1, 13) and (T). Derivatives take all ways, or those that are said.
    """
    others, on = (None, None) if ways is None else (ways.others, ways.time)
    length = controller.length
    still = jnp.zeros((controller.mass.shape[0] + 1, 6), length.dtype)
    world = controller.team(length, still.at[-1, :3].set(lesson.push), controller.weights)
    begin = jnp.concatenate([lesson.vehicles, lesson.load[None]])
    memory = controller.begun(lesson.vehicles.T, lesson.load, length)

    def tick(carry: tuple[Any, Array], now: Preview) -> tuple[tuple[Any, Array], tuple[Array, Array]]:
        memory, states = passed(carry, on)
        begun = jnp.asarray(0.0)
        memory, effort = controller.decided(memory, begun, now, states[:-1].T, states[-1], length, others)
        after = moved(world, states, effort.T, controller.period, others)
        costs = cost(now, states)
        if on is not None:
            ahead = _planned_cost(now, memory.plans)
            costs = costs + (1 - on) * (ahead - jax.lax.stop_gradient(ahead))
        return (memory, after), (after, costs)

    _, (states, costs) = jax.lax.scan(jax.checkpoint(tick), (memory, begin), lesson.wanted)
    return jnp.concatenate([begin[None], states]), costs


def cost(wanted: Preview, states: Float[Array, "m 13"]) -> Float[Array, ""]:
    """Squared errors at a tick (m^2)."""
    own, load = errors(wanted, states[:-1].T, states[-1])
    away = jnp.sum(load[:3] ** 2) + ATTITUDE_COUNTS * jnp.sum(load[6:9] ** 2)
    return away + VEHICLE_COUNTS * jnp.mean(jnp.sum(own[:, :3] ** 2, 1))


def _planned_cost(wanted: Preview, plans: Plans) -> Float[Array, ""]:
    """Mean cost of what everybody plans for the horizon (m^2)."""
    states = jnp.concatenate([plans.vehicles.states, plans.load.states[None]])

    def at(load: Array, vehicles: Array, states: Array) -> Array:
        return cost(Preview(load[None], wanted.tension, vehicles[None], wanted.effort), states)

    return jnp.mean(jax.vmap(at, (0, 0, 1))(wanted.load, wanted.vehicles, states))


def moved(
    team: PlanningTeam,
    states: Float[Array, "m 13"],
    effort: Float[Array, "n 4"],
    period: Any,
    others: Array | None = None,
) -> Array:
    """The bodies after a control period, thrusts and moments held; see `Ways` for `others`."""

    def derivative(states: Array) -> Array:
        craft, load = states[:-1], states[-1]
        hooks = jax.vmap(VehicleAgent.upper_end)(team.vehicles, craft)
        tension, ends, hooks = passed((pulls(team, states), team.load.ends(load), hooks), others)
        moving = jax.vmap(VehicleAgent.derivative)(team.vehicles, craft, effort, ends, tension)
        return jnp.concatenate([moving, team.load.derivative(load, tension, hooks)[None]])

    def step(states: Array, _: None) -> tuple[Array, None]:
        return runge_kutta(derivative, states, period / PARTS), None

    return jax.lax.scan(step, states, None, length=PARTS)[0]


def pulls(team: PlanningTeam, states: Float[Array, "m 13"]) -> Float[Array, " n"]:
    """Tension of every cable (N)."""
    craft, load = states[:-1], states[-1]
    vehicles = team.vehicles
    rotation = rotation_matrix(load[ATTITUDE])
    turning = rotation @ cross(load[RATE], team.load.attachment.T)
    speeds = jax.vmap(lambda x, hook: x[VELOCITY] + rotation_matrix(x[ATTITUDE]) @ cross(x[RATE], hook))(
        craft, vehicles.hook
    )
    along = jax.vmap(VehicleAgent.upper_end)(vehicles, craft) - team.load.ends(load)
    long = jnp.sqrt(jnp.sum(along**2, 1))
    rate = jnp.sum(along * (speeds - load[VELOCITY] - turning.T), 1) / long
    stiffness = vehicles.mass * STIFF**2
    return jnp.maximum(stiffness * (long - vehicles.length) + 2 * DAMPED * STIFF * vehicles.mass * rate, 0.0)
