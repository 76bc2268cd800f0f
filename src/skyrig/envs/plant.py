"""What an environment flies: a rig with its rotors and its hover, one or a pool of varied ones."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from skyrig import algebra
from skyrig.algebra import as_jax
from skyrig.control.actuators import Actuators
from skyrig.control.gains import Clock, vehicle_bandwidths
from skyrig.errors import InputError
from skyrig.rigs import Slung, trim
from skyrig.rigs.slung import SlungState
from skyrig.scenario import Scenario
from skyrig.scenario.build import make_team
from skyrig.sim.batch import stack
from skyrig.sim.plant import Motors
from skyrig.sim.plant import Plant as Whole


class Plant(eqx.Module):
    """A slung rig as an environment flies it; in a pool, the plants are the last axis of every array."""

    rig: Slung
    actuators: Actuators
    hover: SlungState
    """At rest, the payload level at the origin."""
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
    def of(scenario: Scenario, period: float) -> Plant:
        """The plant of a scenario's rig, commanded every `period` (s)."""
        parts = scenario.parts
        if parts.mechanism == "links":
            raise InputError(
                f"{scenario.where}: rig.mechanism must be cables in a learning environment, not links."
            )
        team = make_team(parts)
        rig = team.rig
        assert isinstance(rig, Slung)
        if rig.winch is not None:
            raise InputError(f"{scenario.where}: rig.cables must have no winch in a learning environment.")
        lag = scenario.spec.loop.rotor_lag
        still = trim(rig, np.zeros(3), lean=scenario.spec.start.lean)
        most = np.array([frame.total_thrust_max for frame in team.airframes])
        for k in np.flatnonzero(still.thrust > most):
            raise InputError(
                f"{scenario.where}: rig.vehicles[{k}] must push {still.thrust[k]:.4g} N to hover with its "
                f"load, but gives {most[k]:.4g} N at most."
            )
        gravity = float(rig.gravity)
        loaded = still.thrust / gravity
        up = np.asarray(algebra.upward_axis(still.state.vehicles.attitude))
        clock = Clock(period, lag or 0.0)
        load = loaded - np.asarray(rig.mass)
        return Plant(
            rig=rig,
            actuators=Actuators.build(team.airframes, lag=lag or None),
            hover=still.state,
            thrust=as_jax(still.thrust),
            moment=as_jax(still.moment.T),
            push=as_jax(still.thrust * up),
            thrust_min=as_jax(np.array([frame.total_thrust_min for frame in team.airframes])),
            thrust_max=as_jax(most),
            loaded=as_jax(loaded),
            bandwidth=as_jax(vehicle_bandwidths(team.airframes, load, gravity, clock).vehicle),
        )

    @staticmethod
    def pool(scenarios: Sequence[Scenario], period: float) -> Plant:
        """The plants of several scenarios that differ in numbers only, along the last axis."""
        plants = [Plant.of(scenario, period) for scenario in scenarios]
        shapes = [jax.tree.map(jnp.shape, plant) for plant in plants]
        if any(shape != shapes[0] for shape in shapes):
            raise InputError("vary must leave the number of vehicles, rotors and hooks as they are.")
        return stack(plants)

    @property
    def flown(self) -> Whole:
        """The rig with its rotors, as it is stepped; of a plant that was picked."""
        lag = self.actuators.lag
        return Whole(self.rig, {}, None if lag is None else Motors(self.actuators.mixing, lag))

    @property
    def size(self) -> int:
        """How many plants this pool holds."""
        return self.thrust.shape[-1]

    def pick(self, index: Int[Array, "*batch"]) -> Plant:
        """The plants of a pool that each flight of a batch flies."""
        if self.size == 1:
            return jax.tree.map(
                lambda leaf: jnp.broadcast_to(
                    leaf[..., 0].reshape(leaf.shape[:-1] + (1,) * index.ndim), leaf.shape[:-1] + index.shape
                ),
                self,
            )
        return jax.tree.map(lambda leaf: leaf[..., index], self)
