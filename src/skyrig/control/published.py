"""RotorTM's payload controllers as published, with its gains and its simplifications.

Eqs. 69-73 for cables and eq. 74 for rigid links, without the integral term, with wanted cable directions and
vehicle attitudes taken as standing still (xi_des' = 0, Omega_des = 0), and evaluated at the tick: what
RotorTM's code does, without its mistakes. One cable and a point mass (eqs. 61-68) are eqs. 69-73 with n = 1,
where the load's acceleration lies along the cable; only the wanted direction differs, by the small term
m l |xi'|^2 xi inside eq. 61.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig import algebra
from skyrig.algebra import apply, apply_transposed, cross, dot
from skyrig.control.attitude import WantedFrame, projected_frame, turning
from skyrig.control.cable_geometry import spans
from skyrig.control.interface import (
    Command,
    Controller,
    Measurement,
    Target,
    axes,
    fitted,
    fitted_target,
    part,
    wanted_of,
)
from skyrig.control.links import RotorShares
from skyrig.control.sharing import cable_forces, sharing, uncontrolled_axis


class PublishedCableGains(eqx.Module):
    """RotorTM's gains; see docs/control.md for the numbers."""

    position: Float[Array, "3 ..."] = axes(1)
    """K_p (1/s^2)."""
    velocity: Float[Array, "3 ..."] = axes(1)
    """K_d (1/s)."""
    payload_attitude: Float[Array, "3 ..."] = axes(1)
    """K_RL (N m/rad)."""
    payload_rate: Float[Array, "3 ..."] = axes(1)
    """K_OmegaL (N m s/rad)."""
    cable: Float[Array, "3 n ..."] = axes(2)
    """K_xi (1/s^2)."""
    cable_rate: Float[Array, "3 n ..."] = axes(2)
    """K_omega (1/s)."""
    attitude: Float[Array, "3 n ..."] = axes(2)
    """K_R (N m/rad)."""
    rate: Float[Array, "3 n ..."] = axes(2)
    """K_Omega (N m s/rad)."""


class PublishedCables(Controller):
    """Eqs. 69-73 as RotorTM flies them; build one with `skyrig.control.build(..., flavour="published")`."""

    mass: Float[Array, "n ..."] = axes(1)
    inertia: Float[Array, "3 3 n ..."] = axes(3)
    payload_mass: Float[Array, " ..."] = axes(0)
    payload_inertia: Float[Array, "3 3 ..."] = axes(2)
    attachment: Float[Array, "3 n ..."] = axes(2)
    hook: Float[Array, "3 n ..."] | None = axes(2)
    gravity: Float[Array, " ..."] = axes(0)
    gains: PublishedCableGains = part()

    @property
    def uncontrolled_axis(self) -> np.ndarray | None:
        """Unit vector, payload frame, about which this team cannot turn the payload, or None."""
        if not np.any(np.asarray(self.payload_inertia)):
            return None
        return uncontrolled_axis(np.asarray(self.attachment).T)

    def __call__(self, memory: Any, t: Any, target: Target, measurement: Measurement) -> tuple[Any, Command]:
        """Thrusts and moments from payload errors."""
        it = fitted(self, measurement.length)
        aim = wanted_of("payload", fitted_target(target, measurement).payload)
        gains, load, craft, length = it.gains, measurement.payload, measurement.vehicles, measurement.length
        rotation = algebra.rotation_matrix(load.attitude)
        craft_rotation = algebra.rotation_matrix(craft.attitude)
        span = spans(it, load, rotation, craft, craft_rotation)

        # eqs. 69-71
        wanted = WantedFrame(algebra.rotation_matrix(aim.attitude), aim.rate[0])
        way = turning(rotation, load.rate, wanted, aim.rate[1])
        push = gains.position * (aim.position[0] - load.position) + gains.velocity * (
            aim.position[1] - load.velocity
        )
        lifted = aim.position[2] + push
        lifted = jnp.stack([lifted[0], lifted[1], lifted[2] + it.gravity])
        feed = way.rate_error + load.rate  # R^T R_d Omega_d
        feed_spin = way.spin + cross(load.rate, feed)  # R^T R_d Omega_d'
        moment = gains.payload_attitude * way.error + gains.payload_rate * way.rate_error
        moment = moment + apply(it.payload_inertia, feed_spin) + cross(feed, apply(it.payload_inertia, feed))
        team = sharing(it.attachment, jnp.ones_like(it.mass))
        local = cable_forces(team, it.payload_mass * apply_transposed(rotation, lifted), moment)
        pull = apply(rotation[:, :, None], local)

        # eqs. 68, 72, 73 with a wanted direction that stands still
        xi = span.direction
        aimed = -pull / jnp.sqrt(jnp.maximum(dot(pull, pull), 1e-12))
        omega = cross(xi, span.turn)
        arm = cross(feed_spin[:, None], it.attachment) + cross(
            feed[:, None], cross(feed[:, None], it.attachment)
        )
        end = lifted[:, None] + apply(rotation[:, :, None], arm)
        along = xi * (dot(xi, pull) + it.mass * length * dot(omega, omega) + it.mass * dot(xi, end))
        restoring = gains.cable * cross(aimed, xi) + gains.cable_rate * omega
        across = -it.mass * length * cross(xi, restoring)
        if it.mass.shape[0] > 1:  # one cable: the load accelerates along it alone (eq. 65)
            across = across - it.mass * cross(xi, cross(xi, end))
        thrust = along + across
        return memory, _attitude_command(it, thrust, craft.attitude, craft.rate)


class PublishedLinkGains(eqx.Module):
    """RotorTM's gains; see docs/control.md for the numbers."""

    position: Float[Array, "3 ..."] = axes(1)
    """K_p (1/s^2)."""
    velocity: Float[Array, "3 ..."] = axes(1)
    """K_d (1/s)."""
    attitude: Float[Array, "3 ..."] = axes(1)
    """K_R, of angular acceleration (1/s^2)."""
    rate: Float[Array, "3 ..."] = axes(1)
    """K_Omega, of angular acceleration (1/s)."""


class PublishedLinks(Controller):
    """Eq. 74 as RotorTM flies it, with gains that act on angular acceleration."""

    mass: Float[Array, " ..."] = axes(0)
    inertia: Float[Array, "3 3 ..."] = axes(2)
    payload_offset: Float[Array, "3 ..."] = axes(1)
    gravity: Float[Array, " ..."] = axes(0)
    rotors: RotorShares = part()
    gains: PublishedLinkGains = part()

    def __call__(self, memory: Any, t: Any, target: Target, measurement: Measurement) -> tuple[Any, Command]:
        """Thrusts and moments from payload errors."""
        it = fitted(self, measurement.length)
        aim = wanted_of("payload", fitted_target(target, measurement).payload)
        gains, load = it.gains, measurement.payload
        push = gains.position * (aim.position[0] - load.position) + gains.velocity * (
            aim.position[1] - load.velocity
        )
        wanted = aim.position[2] + push
        wanted = it.mass * jnp.stack([wanted[0], wanted[1], wanted[2] + it.gravity])
        heading = algebra.rotation_matrix(aim.attitude)[:, 0]
        flat = jnp.stack([heading[0], heading[1], jnp.zeros_like(heading[2])])
        rotation = algebra.rotation_matrix(load.attitude)
        aimed = WantedFrame(projected_frame(wanted, flat), 0 * load.rate)
        way = turning(rotation, load.rate, aimed, 0 * load.rate)
        spin = gains.attitude * way.error + gains.rate * way.rate_error
        moment = apply(it.inertia, spin) + cross(load.rate, apply(it.inertia, load.rate))
        return memory, it.rotors.command(dot(wanted, rotation[:, 2]), moment)


def _attitude_command(it: Any, thrust: Array, attitude: Array, rate: Array) -> Command:
    """Eq. 73's thrusts and moments for wanted thrust vectors, at yaw zero and with Omega_des = 0."""
    forward = jnp.zeros_like(thrust).at[0].set(1.0)
    rotation = algebra.rotation_matrix(attitude)
    way = turning(rotation, rate, WantedFrame(projected_frame(thrust, forward), 0 * thrust), 0 * thrust)
    moment = it.gains.attitude * way.error + it.gains.rate * way.rate_error
    return Command(dot(thrust, rotation[:, 2]), moment + cross(rate, apply(it.inertia, rate)))
