"""Geometric control of single vehicles with decoupled yaw, as the multilift paper states it (eqs. 25-32).

    a_d = x_d'' + k_p e_p + k_v e_v + g e_3                                   (26, errors wanted minus actual)
    f = m |a_d|                                                               (27)
    b_3 = a_d / |a_d|, b_2 = b_3 x b_1* / |...|, b_1 = b_2 x b_3              (28, 29)
    M = k_R e_R + k_Omega e_Omega + Omega x J Omega
        - J (Omega x R^T R_d Omega_d - R^T R_d Omega_d')                      (32)

There is no integral term, and rates of the wanted attitude come from the reference alone.
"""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig import algebra
from skyrig.algebra import apply, cross, dot
from skyrig.control.attitude import WantedFrame, projected_frame, turning
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
from skyrig.control.nominal import motion
from skyrig.control.position_loop import PositionNominal, position_nominal
from skyrig.planning import Sample


class YawDecoupledGains(eqx.Module):
    """Gains of eqs. 26 and 32."""

    position: Float[Array, "3 ..."] = axes(1)
    """k_p (1/s^2)."""
    velocity: Float[Array, "3 ..."] = axes(1)
    """k_v (1/s)."""
    attitude: Float[Array, "3 n ..."] = axes(2)
    """k_R (N m/rad)."""
    rate: Float[Array, "3 n ..."] = axes(2)
    """k_Omega (N m s/rad)."""


class YawDecoupled(Controller):
    """Eqs. 25-32 for every vehicle; build one with `skyrig.control.build`."""

    prepares_from: ClassVar[tuple[str, ...] | None] = ("gravity",)

    mass: Float[Array, "n ..."] = axes(1)
    inertia: Float[Array, "3 3 n ..."] = axes(3)
    gravity: Float[Array, " ..."] = axes(0)
    load: Float[Array, "n ..."] = axes(1)
    """Weight that hangs on each vehicle (N), added to its own."""
    feed: Float[Array, " ..."] = axes(0)
    """One: rates of the wanted attitude come from the reference; zero: they are left out (RotorTM's code)."""
    gains: YawDecoupledGains = part()

    def prepare(self, payload: Sample | None = None, vehicles: Sample | None = None) -> PositionNominal:
        """Body rates and accelerations that the vehicles' references ask for."""
        vehicles = wanted_of("vehicles", vehicles)
        model = jax.tree.map(concrete, self)
        body = motion(vehicles, 0 * model.gravity, bodies=1)
        return position_nominal(body.position, body.euler[..., 2], model.gravity, projected=True)

    def __call__(self, memory: Any, t: Any, target: Target, measurement: Measurement) -> tuple[Any, Command]:
        """Thrusts and moments from position and yaw errors."""
        it = fitted(self, measurement.length)
        nominal: PositionNominal = fitted_target(target, measurement).nominal
        gains, craft = it.gains, measurement.vehicles
        push = gains.position[:, None] * (nominal.position[0] - craft.position) + gains.velocity[:, None] * (
            nominal.position[1] - craft.velocity
        )
        wanted = nominal.position[2] + push
        wanted = jnp.stack([wanted[0], wanted[1], wanted[2] + it.gravity + it.load / it.mass])
        rotation = algebra.rotation_matrix(craft.attitude)
        aimed = WantedFrame(projected_frame(wanted, nominal.heading), it.feed * nominal.rate[0])
        way = turning(rotation, craft.rate, aimed, it.feed * nominal.rate[1])
        moment = gains.attitude * way.error + gains.rate * way.rate_error
        moment = moment + apply(it.inertia, way.spin) + cross(craft.rate, apply(it.inertia, craft.rate))
        return memory, Command(it.mass * jnp.sqrt(dot(wanted, wanted)), moment)
