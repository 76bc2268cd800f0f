"""The motion of a cable rig that follows its reference exactly (RotorTM eqs. 69-73 run backwards in time).

Reference -> payload wrench -> least-norm cable forces -> cable directions -> vehicle positions -> thrust
vectors -> attitudes. Each arrow that differentiates twice takes two derivatives of the reference with it: the
vehicles' angular accelerations need its sixth.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from skyrig.algebra import as_jax
from skyrig.arrays import namespace
from skyrig.control.interface import axes, components_first
from skyrig.control.nominal import (
    apply_last,
    least_turn_rate,
    motion,
    rotate,
    rotate_back,
    second_derivative,
    upwards,
)
from skyrig.control.sharing import Sharing, sharing
from skyrig.planning import Sample, taylor
from skyrig.planning.taylor import Series


class CableNominal(eqx.Module):
    """A cable rig on its reference in the middle of a hold, for one tick (times first in a stack)."""

    position: Float[Array, ...] = axes(2)
    """(3, 3): payload position, velocity, acceleration (m, m/s, m/s^2)."""
    rotation: Float[Array, ...] = axes(2)
    """(3, 3): payload frame to world."""
    rate: Float[Array, ...] = axes(2)
    """(2, 3): payload body rate and its derivative (rad/s, rad/s^2)."""
    direction: Float[Array, ...] = axes(3)
    """(3, 3, n): xi and its first two derivatives."""
    pull_rate: Float[Array, ...] = axes(2)
    """(3, n): time derivative of the cables' forces on the payload (N/s)."""
    vehicle: Float[Array, ...] = axes(3)
    """(4, 3, n): position of each cable's upper end and its first three derivatives (m/s^j)."""
    vehicle_spin: Float[Array, ...] = axes(2)
    """(3, n): angular acceleration of the vehicles, their body frames (rad/s^2)."""


def batch_first(value: Any, components: int) -> Any:
    """A parameter (*components, n, *batch) as (*batch, n, *components), the layout of series."""
    xp = namespace(value)
    order = range(components + 1, value.ndim)
    return xp.transpose(value, [*order, components, *range(components)])


def cable_forces_series(team: Sharing, internal: Any, force: Series, moment: Series) -> Series:
    """Least-norm cable forces in the payload frame, (coefficients, times, *batch, n, 3).

    Args:
        team: Who shares, as numbers with components first.
        internal: Forces that make no wrench, (3, n, *batch) N.
        force: Wanted force, payload frame.
        moment: Wanted moment, payload frame.
    """
    xp = namespace(force, moment, *team)
    share, arm, inner = batch_first(team.share, 0), batch_first(team.arm, 1), batch_first(internal, 1)
    centre = xp.moveaxis(team.centre, 0, -1)
    inverse = xp.moveaxis(team.inverse, (0, 1), (-2, -1))
    left = moment - _cross(centre, force)
    turn = apply_last(inverse, left)
    forces = share[..., None] * force[..., None, :]
    forces = forces + _cross(turn[..., None, :], arm)
    return xp.concatenate([forces[:1] + inner, forces[1:]])


def _cross(a: Any, b: Any) -> Any:
    """Vector products, components last."""
    x, y, z = (a[..., k] for k in range(3))
    u, v, w = (b[..., k] for k in range(3))
    return taylor.beside([y * w - z * v, z * u - x * w, x * v - y * u])


def cable_nominal(model: Any, payload: Sample, ahead: Any) -> CableNominal:
    """The rig's motion on a reference, `ahead` (s) of its samples.

    Args:
        model: What the rig weighs, as numbers: `mass`, `payload_mass`, `payload_inertia`, `attachment`,
            `length`, `gravity`, `available`, `internal`, with components first.
        payload: The payload's reference at every tick.
        ahead: How long after each tick to look (s).
    """
    body = motion(payload, ahead)
    rotation, rate = body.rotation, body.rate
    xp = namespace(rotation, model.mass)
    inertia = xp.moveaxis(model.payload_inertia, (0, 1), (-2, -1))
    heavy = model.payload_mass[..., None]

    force = heavy * upwards(second_derivative(body.position), model.gravity)
    spinning = apply_last(inertia, rate)
    moment = taylor.differentiate(spinning) + taylor.cross(rate, spinning)[:5]
    team = sharing(model.attachment, model.available)
    turn = rotation[:5, ..., None, :, :]
    forces = cable_forces_series(team, model.internal, rotate_back(rotation[:5], force), moment)
    pull = rotate(turn, forces)
    # a cable that carries nothing hangs straight down
    direction = -taylor.unit(upwards(pull, 1.0 - batch_first(model.available, 0)))

    arms = apply_last(rotation[..., None, :, :], batch_first(model.attachment, 1))
    ends = body.position[..., None, :] + arms
    length, mass = batch_first(model.length, 0)[..., None], batch_first(model.mass, 0)[..., None]
    craft = ends[:5] - length * direction
    thrust = mass * upwards(second_derivative(craft), model.gravity[..., None]) + pull[:3]
    spin = taylor.differentiate(least_turn_rate(thrust))[0]

    def rows(series: Series, count: int, bodies: int) -> Array:
        return as_jax(components_first(xp.moveaxis(taylor.derivatives(series[:count]), 0, -2), 2, bodies))

    return CableNominal(
        position=rows(body.position, 3, 0),
        rotation=as_jax(components_first(rotation[0], 2)),
        rate=rows(rate, 2, 0),
        direction=rows(direction, 3, 1),
        pull_rate=as_jax(components_first(pull[1], 1, 1)),
        vehicle=rows(craft, 4, 1),
        vehicle_spin=as_jax(components_first(spin, 1, 1)),
    )
