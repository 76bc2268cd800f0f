"""Braking a load that swings under its vehicles.

Tensions alone cannot push a level ring sideways: while vehicles stay where they are, cables at one lean pull
sideways only as much as they tilt. So a swing is braked by vehicles that move, and whoever plans for itself
over a small part of a swing has no reason to. Here their aims move against the load's velocity, as it will be
if it swings on as a pendulum of the cables' length; a pendulum whose pivot moves so is damped.
"""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.control.mpc.bodies import POSITION, VELOCITY
from skyrig.control.mpc.preview import Preview


def braked(wanted: Preview, load: Float[Array, "13"], brake: Array, pulsation: Array, step: Array) -> Preview:
    """What is wanted, the vehicles' places and velocities moved against the swing.

    Args:
        wanted: By the reference.
        load: State of the load.
        brake: How far vehicles move for each m/s of the load (s).
        pulsation: Of the swing (rad/s).
        step: Of the horizon (s).
    """
    off = (load - wanted.load[0]) * jnp.array([1.0, 1.0, 0.0] * 2 + [0.0] * 7, load.dtype)  # level
    place, speed = off[POSITION], off[VELOCITY]
    phase = (pulsation * step * jnp.arange(wanted.load.shape[0]))[:, None]
    later = speed * jnp.cos(phase) - pulsation * place * jnp.sin(phase)
    change = -pulsation * (speed * jnp.sin(phase) + pulsation * place * jnp.cos(phase))
    moved = -brake * jnp.concatenate([later, change], 1)
    return dataclasses.replace(wanted, vehicles=wanted.vehicles.at[:, :6].add(moved[:, :, None]))
