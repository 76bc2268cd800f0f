"""One law for any body whose thrust points along its own z axis: a vehicle by itself, or a whole linked rig.

Position errors ask for a thrust vector, this for an attitude (Lee, Leok and McClamroch's geometric control).
The wanted attitude's rate has a nominal part from the reference and a feedback part from the acceleration
that the body has just now, so the two levels need not be far apart. Arrays carry n bodies, (3, n, *batch).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from skyrig import algebra
from skyrig.algebra import dot
from skyrig.arrays import Array, namespace
from skyrig.control.attitude import heading_frame, turning, turning_moment, turning_spin, within_reach
from skyrig.control.estimate import Estimate, Late
from skyrig.control.feedback import accumulated, ahead, ease, limited, pid
from skyrig.control.interface import axes, components_first
from skyrig.control.nominal import heading_rate, second_derivative, upwards
from skyrig.planning import taylor
from skyrig.planning.taylor import Series
from skyrig.rigs.bodies import Bodies


class PositionNominal(eqx.Module):
    """n bodies on their references, for one tick (times first in a stack)."""

    position: Float[Array, ...] = axes(3)
    """(4, 3, n): position and its first three derivatives (m/s^j)."""
    heading: Float[Array, ...] = axes(2)
    """(3, n): (cos yaw, sin yaw, 0)."""
    yaw_rate: Float[Array, ...] = axes(1)
    """(n,): rate of the yaw (rad/s)."""
    rate: Float[Array, ...] = axes(3)
    """(2, 3, n): body rate and its derivative (rad/s, rad/s^2)."""


def position_nominal(position: Series, yaw: Series, gravity: Any, projected: bool = False) -> PositionNominal:
    """Body rates and accelerations from positions (5 coefficients) and yaw: (k, times, *batch, n[, 3])."""
    xp = namespace(position, yaw, gravity)
    thrust = upwards(second_derivative(position[:5]), gravity[..., None])
    rate, _ = heading_rate(thrust, yaw, projected)
    still = xp.zeros_like(yaw[0])
    heading = xp.stack([xp.cos(yaw[0]), xp.sin(yaw[0]), still], axis=-1)

    def rows(series: Series) -> Array:
        return components_first(xp.moveaxis(taylor.derivatives(series), 0, -2), 2, 1)

    return PositionNominal(
        position=rows(position[:4]),
        heading=components_first(heading, 1, 1),
        yaw_rate=components_first(yaw[1], 0, 1),
        rate=rows(rate[:2]),
    )


class PositionGains(eqx.Module):
    """Gains and limits of bodies that hold a course."""

    position: Float[Array, "3 ..."] = axes(1)
    """Bandwidth of the position along x, y, z (rad/s)."""
    attitude: Float[Array, "3 n ..."] = axes(2)
    """Bandwidth of roll, pitch, yaw of each body (rad/s)."""
    integral: Float[Array, " ..."] = axes(0)
    """Rate at which constant disturbances are learnt (rad/s)."""
    damping: Float[Array, " ..."] = axes(0)
    """Damping ratio of all of them (1)."""
    reach: Float[Array, " ..."] = axes(0)
    """Position errors count up to this length (m)."""
    learn: Float[Array, " ..."] = axes(0)
    """Errors count in the integral up to this (m, rad)."""
    most_side: Float[Array, " ..."] = axes(0)
    """Most horizontal (and downward) acceleration that feedback asks for (m/s^2)."""
    most_up: Float[Array, " ..."] = axes(0)
    """Most upward acceleration that feedback asks for (m/s^2)."""
    most_push: Float[Array, " ..."] = axes(0)
    """Bound of the integral part, linear (m/s^2)."""
    most_turn: Float[Array, " ..."] = axes(0)
    """Bound of the integral part, angular (rad/s^2)."""


class PositionMemory(eqx.Module):
    """What bodies on a course are remembered by."""

    push: Float[Array, "3 n ..."]
    """Integral part of the wanted acceleration (m/s^2, world frame)."""
    turn: Float[Array, "3 n ..."]
    """Integral part of the wanted angular acceleration (rad/s^2, body frame)."""
    estimate: Estimate
    """Of the bodies."""

    @staticmethod
    def start(bodies: Bodies, late: Late) -> PositionMemory:
        """Nothing learnt, nothing measured."""
        zero = jnp.zeros_like(bodies.position)
        return PositionMemory(zero, zero, Estimate.start(bodies, late.delay))


class LoopOutput(NamedTuple):
    """What bodies are asked for."""

    thrust: Float[Array, "n ..."]
    moment: Float[Array, "3 n ..."]
    memory: PositionMemory


def hold_course(
    it: Any,
    nominal: PositionNominal,
    measured: Bodies,
    memory: PositionMemory,
    felt: Float[Array, "3 n ..."] | None = None,
) -> LoopOutput:
    """Thrust and moment of every body.

    Args:
        it: The controller: `mass`, `inertia`, `gravity`, `thrust_min`, `thrust_max`, `late`,
            `sight` and `gains`.
        nominal: Where the bodies shall be in the middle of the hold.
        measured: Where they are.
        memory: Integral parts.
        felt: What else is known to accelerate them (m/s^2); None for nothing.
    """
    gains = it.gains
    estimate = memory.estimate.measured(it.sight, it.late, measured)
    bodies = ahead(estimate.due(it.late), it.late.period / 2, nominal.position[2], nominal.rate[1])
    rotation = algebra.rotation_matrix(bodies.attitude)
    law = pid(gains.position[:, None], gains.damping, gains.integral)
    error = limited(nominal.position[0] - bodies.position, gains.reach)
    drift = nominal.position[1] - bodies.velocity
    push = law.p * error + law.d * drift
    left = ease(push, gains.most_side, gains.most_up)
    push = left * push
    zero = jnp.zeros_like(it.gravity)
    up = jnp.stack([zero, zero, it.gravity])[:, None]
    spare = memory.push if felt is None else memory.push - felt
    wanted = it.mass * (nominal.position[2] + up + push + spare)
    wanted, cut = within_reach(wanted, it.thrust_min, 0.95 * it.thrust_max)

    axis = rotation[:, 2]
    thrust = dot(wanted, axis)
    error_2 = -push - (thrust * axis - wanted) / it.mass
    push_1 = left * (law.p * drift + law.d * error_2 + law.i * error)
    frame = heading_frame(wanted, it.mass * (nominal.position[3] + push_1), nominal.heading, nominal.yaw_rate)
    way = turning(rotation, bodies.rate, frame, nominal.rate[1])
    spin = turning_spin(way, gains.attitude, gains.damping)
    moment = turning_moment(it.inertia, bodies.rate, spin + memory.turn)

    calm = jnp.where(cut > 0, 0.0, it.late.period)
    slow = pid(gains.attitude, gains.damping, gains.integral)
    learnt = PositionMemory(
        accumulated(memory.push, law.i * limited(error, gains.learn), calm, gains.most_push),
        accumulated(memory.turn, slow.i * limited(way.error, gains.learn), calm, gains.most_turn),
        # what integrals ask for only makes up for something else
        estimate.commanded(thrust * axis / it.mass - up - spare, spin),
    )
    return LoopOutput(thrust, moment, learnt)
