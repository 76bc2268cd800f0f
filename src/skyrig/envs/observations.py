"""What an agent sees: numbers about the load, about each vehicle, and about what the task wants."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import apply, rotation_matrix
from skyrig.control.interface import Measurement
from skyrig.envs.pool import PooledRig

LOAD = 6
"""Numbers about the load: position error, velocity error."""
TURN = 12
"""More about a load that can turn: rotation matrix, body rate."""
VEHICLE = 18
"""Numbers about a vehicle: velocity, rotation matrix, body rate, cable."""


class Goal(NamedTuple):
    """Where the load shall be now."""

    position: Float[Array, "3 *batch"]
    velocity: Float[Array, "3 *batch"]


class ObservedParts(NamedTuple):
    """An observation in its parts."""

    shared: Float[Array, "s *batch"]
    """About the load and the task."""
    vehicles: Float[Array, "18 n *batch"]
    """About each vehicle."""
    places: Float[Array, "3 n *batch"]
    """Each vehicle from the load, world frame (m)."""
    points: Float[Array, "3 n *batch"]
    """Where each cable holds the load, load frame (m)."""


def view(
    plant: PooledRig, seen: Measurement, wanted: Goal, extras: Array | None, turns: bool
) -> ObservedParts:
    """The observation's parts.

    Args:
        plant: What is flown.
        seen: What is measured.
        wanted: Where the load shall be.
        extras: (k, *batch) what the task adds.
        turns: Whether the load has an attitude worth telling.
    """
    load, craft = seen.payload, seen.vehicles
    parts = [wanted.position - load.position, wanted.velocity - load.velocity]
    turn = rotation_matrix(load.attitude)
    if turns:
        parts += [turn.reshape((9, *turn.shape[2:])), load.rate]
    if extras is not None:
        parts.append(extras)
    rotation = rotation_matrix(craft.attitude)
    ends = load.position[:, None] + apply(turn[:, :, None], plant.attachment)
    hooks = craft.position + apply(rotation, plant.hook)
    each = [
        craft.velocity,
        rotation.reshape((9, *rotation.shape[2:])),
        craft.rate,
        (ends - hooks) / plant.reach,
    ]
    return ObservedParts(
        jnp.concatenate(parts),
        jnp.concatenate(each),
        craft.position - load.position[:, None],
        plant.attachment,
    )


def central(parts: ObservedParts) -> Float[Array, "size *batch"]:
    """One observation for all: what is shared, then vehicle after vehicle; float32."""
    vehicles = jnp.moveaxis(parts.vehicles, 1, 0)
    flat = vehicles.reshape((-1, *vehicles.shape[2:]))
    return _clean(jnp.concatenate([parts.shared, flat]))


def by_agent(parts: ObservedParts) -> Float[Array, "size n *batch"]:
    """One observation for each vehicle: what is shared, itself, its attachment, and where the others are.

    The others come in order round the team, beginning with the next one; float32.
    """
    n = parts.places.shape[1]
    shared = jnp.broadcast_to(parts.shared[:, None], (parts.shared.shape[0], n, *parts.shared.shape[1:]))
    others = [jnp.roll(parts.places, -k, axis=1) for k in range(1, n)]
    return _clean(jnp.concatenate([shared, parts.vehicles, parts.points, *others]))


def _clean(values: Array) -> Array:
    """Float32, zero where not finite: an ended episode's last observation is still an observation."""
    return jnp.where(jnp.isfinite(values), values, 0.0).astype(jnp.float32)
