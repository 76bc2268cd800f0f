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
from skyrig.control.mpc.preview import Preview
from skyrig.control.mpc.team import PlanningTeam

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


def flown(controller: DistributedMpc, lesson: Lesson) -> tuple[Array, Array]:
    """States of all bodies, the load last, from the start to the last tick's end, and the cost of each tick.

    They are (T + 1, n + 1, 13) and (T).
    """
    length = controller.length
    still = jnp.zeros((controller.mass.shape[0] + 1, 3), length.dtype)
    world = controller.team(length, still.at[-1].set(lesson.push), controller.weights)
    begin = jnp.concatenate([lesson.vehicles, lesson.load[None]])
    memory = controller.begun(lesson.vehicles.T, lesson.load, length)

    def tick(carry: tuple[Any, Array], now: Preview) -> tuple[tuple[Any, Array], tuple[Array, Array]]:
        memory, states = carry
        memory, effort = controller.decided(memory, jnp.asarray(0.0), now, states[:-1].T, states[-1], length)
        after = moved(world, states, effort.T, controller.period)
        return (memory, after), (after, cost(now, states))

    _, (states, costs) = jax.lax.scan(jax.checkpoint(tick), (memory, begin), lesson.wanted)
    return jnp.concatenate([begin[None], states]), costs


def cost(wanted: Preview, states: Float[Array, "m 13"]) -> Float[Array, ""]:
    """Squared errors at a tick (m^2)."""
    own, load = errors(wanted, states[:-1].T, states[-1])
    away = jnp.sum(load[:3] ** 2) + ATTITUDE_COUNTS * jnp.sum(load[6:9] ** 2)
    return away + VEHICLE_COUNTS * jnp.mean(jnp.sum(own[:, :3] ** 2, 1))


def moved(
    team: PlanningTeam, states: Float[Array, "m 13"], effort: Float[Array, "n 4"], period: Any
) -> Array:
    """The bodies after a control period, thrusts and moments held."""

    def derivative(states: Array) -> Array:
        craft, load = states[:-1], states[-1]
        tension = pulls(team, states)
        ends, hooks = team.load.ends(load), jax.vmap(VehicleAgent.upper_end)(team.vehicles, craft)
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
