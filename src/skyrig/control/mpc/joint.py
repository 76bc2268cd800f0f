"""Vehicles and load as one agent, planned by one planner: the yardstick of the distributed plans."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig.control.mpc import bodies
from skyrig.control.mpc.agents import LoadAgent, LoadStage, StageAim, VehicleAgent, VehicleStage
from skyrig.control.mpc.problem import Problem


class JointStage(eqx.Module):
    """What is wanted at a stage."""

    vehicles: StageAim
    """n behind the stages."""
    load: StageAim
    obstacles: Float[Array, "..."]  # (k, 3)


class Joint(Problem):
    """All bodies in one state, the load last; thrusts and moments, then tensions, are its inputs."""

    vehicles: VehicleAgent
    load: LoadAgent

    @property
    def count(self) -> int:
        """Number of vehicles."""
        return self.vehicles.mass.shape[0]

    def moved(self, x: Array, d: Array) -> Array:
        """Every body moved."""
        return jax.vmap(bodies.moved)(_bodies(x), d.reshape(-1, bodies.TANGENTS)).reshape(-1)

    def between(self, x: Array, y: Array) -> Array:
        """Of every body."""
        return jax.vmap(bodies.between)(_bodies(x), _bodies(y)).reshape(-1)

    def tangents(self, x: Array) -> int:
        """Twelve a body."""
        return x.shape[-1] // bodies.STATES * bodies.TANGENTS

    def advance(self, x: Array, u: Array, stage: JointStage) -> Array:
        """One step of the horizon, cables pulling along where they are."""
        own, tension = self._inputs(u)

        def derivative(all_of_them: Array) -> Array:
            craft, load = all_of_them[:-1], all_of_them[-1]
            ends = self.load.ends(load)
            moving = jax.vmap(VehicleAgent.derivative)(self.vehicles, craft, own, ends, tension)
            hooks = jax.vmap(VehicleAgent.upper_end)(self.vehicles, craft)
            return jnp.concatenate([moving, self.load.derivative(load, tension, hooks)[None]])

        return bodies.runge_kutta(derivative, _bodies(x), self.load.step).reshape(-1)

    def residual(self, x: Array, u: Array, stage: JointStage) -> tuple[Array, Array]:
        """Of all agents."""
        own, tension = self._inputs(u)
        known, load = self._stages(x, tension, stage)
        craft = jax.vmap(VehicleAgent.residual)(self.vehicles, _bodies(x)[:-1], own, known)
        return _together(craft, self.load.residual(_bodies(x)[-1], tension, load))

    def final(self, x: Array, stage: JointStage) -> tuple[Array, Array]:
        """Of all agents."""
        known, load = self._stages(x, jnp.zeros(self.count, x.dtype), stage)
        craft = jax.vmap(VehicleAgent.final)(self.vehicles, _bodies(x)[:-1], known)
        return _together(craft, self.load.final(_bodies(x)[-1], load))

    def _inputs(self, u: Array) -> tuple[Array, Array]:
        return u[: 4 * self.count].reshape(self.count, 4), u[4 * self.count :]

    def _stages(self, x: Array, tension: Array, stage: JointStage) -> tuple[VehicleStage, LoadStage]:
        """What each agent would know if it knew everything."""
        craft, count = _bodies(x)[:-1], self.count
        among = np.array([[j for j in range(count) if j != i] for i in range(count)], int)
        others = craft[among.reshape(count, count - 1), :3]
        fixed = jnp.broadcast_to(stage.obstacles, (count, *stage.obstacles.shape))
        known = VehicleStage(stage.vehicles, self.load.ends(_bodies(x)[-1]), tension, others, fixed)
        return known, LoadStage(
            stage.load, jax.vmap(VehicleAgent.upper_end)(self.vehicles, craft), stage.obstacles
        )


def _bodies(x: Array) -> Float[Array, "m 13"]:
    return x.reshape(-1, bodies.STATES)


def _together(vehicles: tuple[Array, Array], load: tuple[Array, Array]) -> tuple[Array, Array]:
    residual, weight = (jnp.concatenate([a.reshape(-1), b]) for a, b in zip(vehicles, load, strict=True))
    return residual, weight
