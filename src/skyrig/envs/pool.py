"""What an environment flies: a rig with its rotors and its hover, one or a pool of varied ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from skyrig import algebra
from skyrig.algebra import as_jax
from skyrig.constants import GRAVITY
from skyrig.control.actuators import Actuators
from skyrig.control.gains import Clock, vehicle_bandwidths
from skyrig.elements import Element
from skyrig.errors import InputError
from skyrig.rigs import trim
from skyrig.scenario import Scenario
from skyrig.scenario.build import build_elements
from skyrig.scenario.mechanisms import RigParts
from skyrig.sim.batch import stack
from skyrig.sim.motors import Motors
from skyrig.sim.plant import Plant
from skyrig.turns import turn


class PooledRig(eqx.Module):
    """A rig as an environment flies it; in a pool, the rigs are the last axis of every array."""

    rig: Any
    elements: dict[str, Element]
    """What pushes it all the time."""
    actuators: Actuators
    hover: Any
    """State at rest, the payload level at the origin."""
    inertia: Float[Array, "3 3 n *pool"]
    """Of each vehicle, body frame (kg m^2)."""
    payload_mass: Float[Array, "*pool"]
    """kg."""
    hook: Float[Array, "3 n *pool"]
    """Where each vehicle holds the load's line or link, its body frame (m)."""
    attachment: Float[Array, "3 n *pool"]
    """Where that ends on the load, its frame (m)."""
    reach: Float[Array, "n *pool"]
    """From one to the other in hover (m); 1 where they are one point."""
    thrust: Float[Array, "n *pool"]
    """Of each vehicle in hover (N)."""
    moment: Float[Array, "3 n *pool"]
    """Of each vehicle in hover, body frame (N m)."""
    push: Float[Array, "3 n *pool"]
    """Thrust vector of each vehicle in hover, world frame (N)."""
    thrust_min: Float[Array, "n *pool"]
    thrust_max: Float[Array, "n *pool"]
    """What each vehicle's rotors give together (N)."""
    loaded: Float[Array, "n *pool"]
    """Each vehicle's mass with what it carries in hover (kg)."""
    bandwidth: Float[Array, "3 n *pool"]
    """What each vehicle's roll, pitch and yaw can follow (rad/s)."""

    @staticmethod
    def of(scenario: Scenario, period: float, driven: tuple[str, ...] = ()) -> PooledRig:
        """The plant of a scenario's rig, commanded every `period` (s), with drives that actions reach."""
        parts = scenario.parts
        load = parts.payload
        if load is None:
            raise InputError(f"{scenario.where}: rig must have a payload in a learning environment.")
        rig = parts.build()
        for drive in rig.layout.drives:
            if drive.name not in driven:
                raise InputError(
                    f"{scenario.where}: rig must have no {drive.name} in a learning environment."
                )
        lag = scenario.spec.loop.rotor_lag
        still = trim(rig, np.zeros(3), lean=scenario.spec.start.lean)
        most = np.array([frame.total_thrust_max for frame in parts.airframes])
        for k in np.flatnonzero(still.thrust > most):
            raise InputError(
                f"{scenario.where}: rig.vehicles[{k}] must push {still.thrust[k]:.4g} N to hover with its "
                f"load, but gives {most[k]:.4g} N at most."
            )
        loaded = still.thrust / GRAVITY
        craft = rig.bodies(still.state)["vehicles"]
        up = np.asarray(algebra.upward_axis(craft.attitude))
        hook, attachment, reach = _lines(parts, np.asarray(craft.position).T, np.asarray(craft.attitude).T)
        own = np.array([frame.mass for frame in parts.airframes])
        clock = Clock(period, lag or 0.0)
        return PooledRig(
            rig=rig,
            elements=build_elements(scenario.spec, parts),
            actuators=Actuators.build(parts.airframes, lag=lag or None),
            hover=still.state,
            inertia=as_jax(np.stack([frame.inertia for frame in parts.airframes], axis=-1)),
            payload_mass=as_jax(np.asarray(load.mass)),
            hook=as_jax(hook.T.copy()),
            attachment=as_jax(attachment.T.copy()),
            reach=as_jax(reach),
            thrust=as_jax(still.thrust),
            moment=as_jax(still.moment.T),
            push=as_jax(still.thrust * up),
            thrust_min=as_jax(np.array([frame.total_thrust_min for frame in parts.airframes])),
            thrust_max=as_jax(most),
            loaded=as_jax(loaded),
            bandwidth=as_jax(vehicle_bandwidths(parts.airframes, loaded - own, GRAVITY, clock).vehicle),
        )

    @staticmethod
    def pool(scenarios: Sequence[Scenario], period: float, driven: tuple[str, ...] = ()) -> PooledRig:
        """The plants of several scenarios that differ in numbers only, along the last axis."""
        plants = [PooledRig.of(scenario, period, driven) for scenario in scenarios]
        shapes = [jax.tree.map(jnp.shape, plant) for plant in plants]
        if any(shape != shapes[0] for shape in shapes):
            raise InputError("vary must leave the number of vehicles, rotors and hooks as they are.")
        return stack(plants)

    @property
    def flown(self) -> Plant:
        """The rig with its rotors, as it is stepped; of a plant that was picked."""
        return Plant(self.rig, self.elements, Motors.of(self.actuators), self.rig.integrator)

    @property
    def size(self) -> int:
        """How many plants this pool holds."""
        return self.thrust.shape[-1]

    def pick(self, index: Int[Array, "*batch"]) -> PooledRig:
        """The plants of a pool that each flight of a batch flies."""
        if self.size == 1:
            return jax.tree.map(
                lambda leaf: jnp.broadcast_to(
                    leaf[..., 0].reshape(leaf.shape[:-1] + (1,) * index.ndim), leaf.shape[:-1] + index.shape
                ),
                self,
            )
        return jax.tree.map(lambda leaf: leaf[..., index], self)


def _lines(parts: RigParts, places: Any, attitudes: Any) -> tuple[Any, Any, Any]:
    """Hooks (n, 3), attachments (n, 3) and the distances between them (n,) in hover (m)."""
    n = parts.count
    hook, attachment = np.zeros((n, 3)), np.zeros((n, 3))
    if len(parts.points) == n:
        attachment = np.array(parts.points, dtype=np.float64)
    for tether in parts.tethers:
        if tether.start.group == "vehicles" and tether.end.group == "payload":
            hook[tether.start.index] = tether.start.point
            attachment[tether.start.index] = tether.end.point
    apart = np.linalg.norm(places + turn(attitudes, hook) - attachment, axis=1)  # the load is at the origin
    return hook, attachment, np.where(apart > 1e-9, apart, 1.0)
