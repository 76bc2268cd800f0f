"""How a slung rig moves between events, with a given set of cables taut.

One matrix does all a cable does (RotorTM eqs. 18-22 and 40-57 in cable space): it turns pulls into
length accelerations, impulses into length rates, and corrections into lengths.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig import algebra
from skyrig.algebra import apply, apply_transposed, cross, dot, total
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.complementarity import Coupled, Dense, System
from skyrig.rigs.on_cables import Reeled
from skyrig.rigs.protocol import Loads
from skyrig.rigs.slung.parameters import SlungMotion, SlungParameters, SlungState


class CableSpans(NamedTuple):
    """The cables' geometry: the span from hook to attachment, taut or not."""

    distance: Float[Array, "n *batch"]
    direction: Float[Array, "3 n *batch"]
    """xi: unit vector from the hook to the attachment, world frame."""
    rate: Float[Array, "n *batch"]
    """Time derivative of the distance (m/s)."""
    across: Float[Array, "n *batch"]
    """Squared relative velocity across the span, over the distance (m/s^2)."""
    body_direction: Float[Array, "3 n *batch"]
    """xi in the payload's frame."""
    lever: Float[Array, "3 n *batch"]
    """tau: attachment x xi, payload frame (m)."""
    turn: Float[Array, "3 n *batch"]
    """J_L^-1 tau: angular acceleration of the payload against a unit pull."""
    hook_lever: Float[Array, "3 n *batch"] | None
    """sigma: hook x xi, vehicle frame (m)."""
    hook_turn: Float[Array, "3 n *batch"] | None


def spans(rig: SlungParameters, state: SlungState) -> CableSpans:
    """Where the cables' ends are and how they move apart."""
    body, craft = state.payload, state.vehicles
    turn_to_world = algebra.rotation_matrix(body.attitude)[:, :, None]
    rate = body.rate[:, None]
    apart = body.position[:, None] + apply(turn_to_world, rig.attachment) - craft.position
    drift = body.velocity[:, None] + apply(turn_to_world, cross(rate, rig.attachment)) - craft.velocity
    craft_rotation = None
    if rig.hook is not None:
        craft_rotation = algebra.rotation_matrix(craft.attitude)
        apart = apart - apply(craft_rotation, rig.hook)
        drift = drift - apply(craft_rotation, cross(craft.rate, rig.hook))
    square = dot(apart, apart)
    nowhere = square == 0
    root = jnp.sqrt(jnp.where(nowhere, 1.0, square))
    distance = jnp.where(nowhere, 0.0, root)
    inverse = jnp.where(nowhere, 0.0, 1 / root)
    xi = apart * inverse
    along = dot(xi, drift)
    xi_body = apply_transposed(turn_to_world, xi)
    tau = cross(rig.attachment, xi_body)
    sigma = None
    if rig.hook is not None and craft_rotation is not None:
        sigma = cross(rig.hook, apply_transposed(craft_rotation, xi))
    return CableSpans(
        distance=distance,
        direction=xi,
        rate=along,
        across=(dot(drift, drift) - along**2) * inverse,
        body_direction=xi_body,
        lever=tau,
        turn=apply(rig.payload_inverse_inertia[:, :, None], tau),
        hook_lever=sigma,
        hook_turn=None if sigma is None else apply(rig.inverse_inertia, sigma),
    )


FEW = 6
"""Most cables whose matrix is written out; more are solved through the payload they all pull at."""


def cable_system(rig: SlungParameters, span: CableSpans) -> System:
    """The cable matrix as it is solved fastest."""
    if rig.count <= FEW:
        return Dense(cable_matrix(rig, span))
    mass = rig.payload_mass
    linear = jnp.eye(3, dtype=span.direction.dtype).reshape((3, 3) + (1,) * mass.ndim)
    # a point mass turns with nothing and has no inertia: any will do
    point = rig.payload_inertia[0, 0] == 0
    inertia = rig.payload_inertia + jnp.where(point, linear, 0.0)
    none = jnp.zeros_like(inertia)
    upper = jnp.concatenate([mass * linear + none, none], axis=1)
    return Coupled(
        own=_own(rig, span),
        reach=jnp.concatenate([span.direction, span.lever]),
        answer=jnp.concatenate([span.direction / mass, span.turn]),
        inertia=jnp.concatenate([upper, jnp.concatenate([none, inertia], axis=1)]),
    )


def cable_matrix(rig: SlungParameters, span: CableSpans) -> Float[Array, "n n *batch"]:
    """How a pull in cable k speeds up the shortening of cable j (1/kg).

    A_jk = xi_j.xi_k/m_L + tau_j.J_L^-1 tau_k + delta_jk (1/m_k + sigma_k.J_k^-1 sigma_k)
    """
    xi, tau, turn = span.direction, span.lever, span.turn
    shared = total(xi[:, :, None] * xi[:, None] / rig.payload_mass + tau[:, :, None] * turn[:, None])
    identity = jnp.eye(rig.count, dtype=xi.dtype).reshape((rig.count, rig.count) + (1,) * (xi.ndim - 2))
    return shared + identity * _own(rig, span)


def _own(rig: SlungParameters, span: CableSpans) -> Array:
    """What a pull does to its own vehicle's end (1/kg)."""
    own = 1 / rig.mass
    if span.hook_lever is not None and span.hook_turn is not None:
        own = own + dot(span.hook_lever, span.hook_turn)
    return own


class Push(NamedTuple):
    """Accelerations, velocity changes or displacements of all bodies; rotations in body frames."""

    payload: Float[Array, "3 *batch"]
    payload_turn: Float[Array, "3 *batch"]
    vehicles: Float[Array, "3 n *batch"]
    vehicles_turn: Float[Array, "3 n *batch"] | None


def pull(rig: SlungParameters, span: CableSpans, tension: Float[Array, "n *batch"]) -> Push:
    """What pulls along the cables do to every body: forces to accelerations, impulses to velocity changes."""
    force = tension * span.direction
    return Push(
        payload=-total(force, 1) / rig.payload_mass,
        payload_turn=-total(tension * span.turn, 1),
        vehicles=force / rig.mass,
        vehicles_turn=None if span.hook_turn is None else tension * span.hook_turn,
    )


def free_acceleration(rig: SlungParameters, state: SlungState, loads: Loads) -> Push:
    """Accelerations of all bodies with no cable at all (RotorTM eqs. 12, 14, 15, plus external wrenches)."""
    body, craft = state.payload, state.vehicles
    down = jnp.stack([jnp.zeros_like(rig.gravity), jnp.zeros_like(rig.gravity), -rig.gravity])
    payload = down + jnp.zeros_like(body.velocity)
    torque = -cross(body.rate, apply(rig.payload_inertia, body.rate))
    outside = loads.wrenches.get("payload")
    if outside is not None:
        payload = payload + outside.force[:, 0] / rig.payload_mass
        if outside.torque is not None:
            turn = algebra.rotation_matrix(body.attitude)
            torque = torque + apply_transposed(turn, outside.torque[:, 0])
    vehicles = loads.thrust / rig.mass * algebra.upward_axis(craft.attitude) + down[:, None]
    moment = loads.moment - cross(craft.rate, apply(rig.inertia, craft.rate))
    outside = loads.wrenches.get("vehicles")
    if outside is not None:
        vehicles = vehicles + outside.force / rig.mass
        if outside.torque is not None:
            moment = moment + apply_transposed(algebra.rotation_matrix(craft.attitude), outside.torque)
    return Push(
        payload, apply(rig.payload_inverse_inertia, torque), vehicles, apply(rig.inverse_inertia, moment)
    )


def free_stretch(
    rig: SlungParameters, state: SlungState, span: CableSpans, free: Push
) -> Float[Array, "n *batch"]:
    """Acceleration at which each span would outgrow its cable if no cable pulled (m/s^2).

    b - l_ddot of the cable matrix's equation: free accelerations of both ends along the span, centripetal
    terms of the lever arms, and the relative velocity across the span.
    """
    rate, spin = state.payload.rate[:, None], free.payload_turn[:, None]
    local = cross(spin, rig.attachment) + cross(rate, cross(rate, rig.attachment))
    ends = span.direction * (free.payload[:, None] - free.vehicles) + span.body_direction * local
    if rig.hook is not None and free.vehicles_turn is not None:
        whirl = state.vehicles.rate
        xi = apply_transposed(algebra.rotation_matrix(state.vehicles.attitude), span.direction)
        ends = ends - xi * (cross(free.vehicles_turn, rig.hook) + cross(whirl, cross(whirl, rig.hook)))
    b = total(ends) + span.across
    return b - state.drive


def motion(
    rig: SlungParameters, state: SlungState, loads: Loads
) -> tuple[SlungMotion, Float[Array, "n *batch"], CableSpans, Float[Array, "n *batch"]]:
    """Derivative with the taut set fixed, tensions (N), spans, and the stretch left over (m/s^2)."""
    span = spans(rig, state)
    free = free_acceleration(rig, state, loads)
    stretch = free_stretch(rig, state, span, free)
    system = cable_system(rig, span)
    tension = system.solve(stretch[None], state.taut)[0]
    left = stretch - system.times(tension)
    by = pull(rig, span, tension)
    body, craft = state.payload, state.vehicles
    assert free.vehicles_turn is not None
    turn = free.vehicles_turn if by.vehicles_turn is None else free.vehicles_turn + by.vehicles_turn
    derivative = SlungMotion(
        payload=Bodies(
            body.velocity,
            free.payload + by.payload,
            algebra.attitude_rate(body.attitude, body.rate),
            free.payload_turn + by.payload_turn,
        ),
        vehicles=Bodies(
            craft.velocity,
            free.vehicles + by.vehicles,
            algebra.attitude_rate(craft.attitude, craft.rate),
            turn,
        ),
        reeled=None if state.motion.reeled is None else Reeled(state.reel, state.drive),
    )
    return derivative, tension, span, left
