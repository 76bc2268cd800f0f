"""What the vehicles and the load of a team plan, each for itself, knowing what the others said they will do.

A vehicle knows where its cable will be tied to the load and how hard it will be pulled; the load knows where
the vehicles will be and chooses how hard each pulls. Cable lengths are soft: (L - L_0)^2 / (2 softness) joins
the cost of both sides, so that their plans come together over a few exchanges.

What moves and costs is compiled by itself, so that solvers and derivatives, which ask for it again and again,
trace it once.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import cross, rotation_matrix
from skyrig.control.mpc import bodies
from skyrig.control.mpc.bodies import ATTITUDE, POSITION, RATE, VELOCITY
from skyrig.control.mpc.problem import Problem, traced_once


class Weights(eqx.Module):
    """Of one agent's errors: position, velocity, attitude, rate (12), and of its inputs."""

    stage: Float[Array, "..."]  # (12)
    final: Float[Array, "..."]  # (12)
    effort: Float[Array, "..."]  # (nu)


class StageAim(eqx.Module):
    """Where an agent would like to be at a stage."""

    state: Float[Array, "..."]  # (13)
    effort: Float[Array, "..."]  # (nu)
    """What inputs it would like."""


class VehicleStage(eqx.Module):
    """What a vehicle knows of a stage."""

    aim: StageAim
    tied: Float[Array, "..."]  # (3)
    """Where its cable will end at the load, world frame (m)."""
    tension: Float[Array, "..."]
    """How hard that cable will pull (N)."""
    others: Float[Array, "..."]  # (m, 3)
    """Where the others will be (m)."""
    obstacles: Float[Array, "..."]  # (k, 3)
    """Upright round obstacles: x, y of the axis, and radius (m)."""


class Rigid(Problem):
    """An agent that is one rigid body."""

    mass: Float[Array, "..."]
    inertia: Float[Array, "..."]  # (3, 3)
    inverse_inertia: Float[Array, "..."]  # (3, 3)
    gravity: Float[Array, "..."]
    step: Float[Array, "..."]
    """Of the horizon (s)."""
    weights: Weights
    scale: Float[Array, "..."]
    """Factor on the cost of a stage, beside the end's."""
    approach: Float[Array, "..."]
    """At the end of the horizon errors should die out at this rate (1/s)."""
    push: Float[Array, "..."]  # (6)
    """What nobody planned, as it was observed: acceleration, world frame (m/s^2), and angular acceleration,
    body frame (rad/s^2)."""

    def moved(self, x: Array, d: Array) -> Array:
        """A state moved by a tangent vector."""
        return bodies.moved(x, d)

    def between(self, x: Array, y: Array) -> Array:
        """The tangent vector between two states."""
        return bodies.between(x, y)

    def tangents(self, x: Array) -> int:
        """Twelve."""
        return bodies.TANGENTS

    def error(self, x: Array, aim: StageAim) -> Float[Array, "12"]:
        """How far a state is from where it should be."""
        turned = bodies.attitude_error(aim.state[ATTITUDE], x[ATTITUDE])
        return jnp.concatenate([x[:6] - aim.state[:6], turned, x[RATE] - aim.state[RATE]])

    def unplanned(self) -> Float[Array, "3"]:
        """Gravity, and whatever else accelerates it (m/s^2)."""
        return self.push[:3].at[2].add(-self.gravity)

    def twist(self) -> Float[Array, "3"]:
        """Torque that nobody planned, body frame (N m)."""
        return self.inertia @ self.push[3:]

    def at_end(self, error: Float[Array, "12"]) -> Float[Array, "12"]:
        """Errors at the end of the horizon: speeds count from those at which errors die out."""
        away = jnp.concatenate([error[:3], jnp.zeros(3, error.dtype)])
        return error + self.approach * jnp.concatenate([away[3:], away[:3], jnp.zeros(6, error.dtype)])


class VehicleAgent(Rigid):
    """A vehicle on its cable: thrust (N) and moment (N m) are its inputs."""

    hook: Float[Array, "..."]  # (3)
    """Where its cable is tied, from its centre of mass (m)."""
    length: Float[Array, "..."]
    hangs: Float[Array, "..."]
    """One, or zero if its cable is not to be counted on."""
    softness: Float[Array, "..."]
    apart: Float[Array, "..."]
    """Least distance between vehicles, seen from above (m); half of it is kept from obstacles."""
    shy: Float[Array, "..."]
    """Weight of coming nearer than that (1/m^2)."""

    @traced_once
    def advance(self, x: Array, u: Array, stage: VehicleStage) -> Array:
        """One step of the horizon, pulled by the cable as told."""
        return bodies.runge_kutta(lambda x: self.derivative(x, u, stage.tied, stage.tension), x, self.step)

    @traced_once
    def derivative(self, x: Array, u: Array, tied: Array, tension: Array) -> Float[Array, "13"]:
        """Of the state, while the cable pulls with `tension` (N) towards where it is tied."""
        rotation = rotation_matrix(x[ATTITUDE])
        along = x[POSITION] + rotation @ self.hook - tied
        pull = -self.hangs * tension * along / jnp.sqrt(jnp.sum(along * along))
        acceleration = (rotation[:, 2] * u[0] + pull) / self.mass + self.unplanned()
        torque = u[1:] + cross(self.hook, rotation.T @ pull) + self.twist()
        return bodies.rate_of_change(x, acceleration, torque, self.inertia, self.inverse_inertia)

    def upper_end(self, x: Array) -> Float[Array, "3"]:
        """Where its cable hangs on it, world frame (m)."""
        return x[POSITION] + rotation_matrix(x[ATTITUDE]) @ self.hook

    @traced_once
    def residual(self, x: Array, u: Array, stage: VehicleStage) -> tuple[Array, Array]:
        """Errors, efforts, the cable's length, and what it comes too near to."""
        own, weight = self._at(x, stage, self.weights.stage)
        r = jnp.concatenate([own, u - stage.aim.effort])
        return r, self.scale * jnp.concatenate([weight, self.weights.effort])

    @traced_once
    def final(self, x: Array, stage: VehicleStage) -> tuple[Array, Array]:
        """The same without efforts."""
        r, weight = self._at(x, stage, self.weights.final)
        return jnp.concatenate([self.at_end(r[:12]), r[12:]]), weight

    def _at(self, x: Array, stage: VehicleStage, weights: Array) -> tuple[Array, Array]:
        along = self.upper_end(x) - stage.tied
        long = jnp.sqrt(jnp.sum(along * along)) - self.length
        apart = jnp.broadcast_to(self.apart, stage.others.shape[:1])
        close = jnp.concatenate(
            [
                too_near(x, stage.others, apart),
                too_near(x, stage.obstacles, self.apart / 2 + stage.obstacles[:, 2]),
            ]
        )
        r = jnp.concatenate([self.error(x, stage.aim), long[None], close])
        rest = jnp.full(close.shape, self.shy)
        return r, jnp.concatenate([weights, (self.hangs / self.softness)[None], rest])


def too_near(x: Array, others: Float[Array, "k 3"], least: Float[Array, " k"]) -> Float[Array, " k"]:
    """By how much a state is nearer to others than it should be, seen from above (m)."""
    near = others[:, :2] - x[:2]
    return jnp.maximum(least - jnp.sqrt(jnp.sum(near * near, 1) + 1e-9), 0.0)


class LoadStage(eqx.Module):
    """What the load knows of a stage."""

    aim: StageAim
    hooks: Float[Array, "..."]  # (n, 3)
    """Where the vehicles' ends of the cables will be (m)."""
    obstacles: Float[Array, "..."]  # (k, 3)
    """As a vehicle knows them."""


class LoadAgent(Rigid):
    """The load under its vehicles: its inputs are the cables' tensions (N)."""

    attachment: Float[Array, "..."]  # (n, 3)
    """Where cables are tied, from its centre of mass (m)."""
    length: Float[Array, "..."]  # (n)
    hangs: Float[Array, "..."]  # (n)
    """One, or zero for cables that are not to be counted on."""
    ballast: Float[Array, "..."]  # (n)
    """Weight of what hangs dead from each attachment (N)."""
    softness: Float[Array, "..."]
    centre: Float[Array, "..."]  # (3)
    """The point of the load whose motion counts, from its centre of mass (m)."""
    reach: Float[Array, "..."]
    """How far the load's axis keeps from obstacles, seen from above (m)."""
    shy: Float[Array, "..."]
    """Weight of coming nearer than that (1/m^2)."""
    own_frame: bool = eqx.field(static=True)
    """Whether velocities are compared in the load's own frame, as the public code of Auto-Multilift does."""

    @traced_once
    def advance(self, x: Array, u: Array, stage: LoadStage) -> Array:
        """One step of the horizon, each cable pulling towards where its vehicle will be."""
        return bodies.runge_kutta(lambda x: self.derivative(x, u, stage.hooks), x, self.step)

    @traced_once
    def derivative(self, x: Array, u: Array, hooks: Array) -> Float[Array, "13"]:
        """Of the state, while cables pull with `u` (N) towards their hooks."""
        rotation = rotation_matrix(x[ATTITUDE])
        along = hooks - x[POSITION] - self.attachment @ rotation.T
        pull = (self.hangs * u)[:, None] * along / jnp.sqrt(jnp.sum(along * along, 1, keepdims=True))
        pull = pull.at[:, 2].add(-self.ballast)
        torque = jnp.sum(cross(self.attachment.T, (pull @ rotation).T), 1) + self.twist()
        acceleration = jnp.sum(pull, 0) / self.mass + self.unplanned()
        return bodies.rate_of_change(x, acceleration, torque, self.inertia, self.inverse_inertia)

    def point(self, x: Array) -> Float[Array, "13"]:
        """The state of the point whose motion counts."""
        rotation = rotation_matrix(x[ATTITUDE])
        velocity = x[VELOCITY] + rotation @ cross(x[RATE], self.centre)
        if self.own_frame:
            velocity = rotation.T @ velocity
        return jnp.concatenate([x[POSITION] + rotation @ self.centre, velocity, x[ATTITUDE], x[RATE]])

    def under(self, aim: Float[Array, "13"]) -> Float[Array, "13"]:
        """The state in which that point would be where an aim has it (its velocity in the world frame)."""
        rotation = rotation_matrix(aim[ATTITUDE])
        velocity = aim[VELOCITY] - rotation @ cross(aim[RATE], self.centre)
        return jnp.concatenate([aim[POSITION] - rotation @ self.centre, velocity, aim[ATTITUDE], aim[RATE]])

    def ends(self, x: Array) -> Float[Array, "n 3"]:
        """Where cables are tied, world frame (m)."""
        return x[POSITION] + self.attachment @ rotation_matrix(x[ATTITUDE]).T

    @traced_once
    def residual(self, x: Array, u: Array, stage: LoadStage) -> tuple[Array, Array]:
        """Errors, tensions, and the cables' lengths."""
        own, weight = self._at(x, stage, self.weights.stage)
        r = jnp.concatenate([own, u - stage.aim.effort])
        return r, self.scale * jnp.concatenate([weight, self.weights.effort])

    @traced_once
    def final(self, x: Array, stage: LoadStage) -> tuple[Array, Array]:
        """The same without tensions."""
        r, weight = self._at(x, stage, self.weights.final)
        return jnp.concatenate([self.at_end(r[:12]), r[12:]]), weight

    def _at(self, x: Array, stage: LoadStage, weights: Array) -> tuple[Array, Array]:
        along = stage.hooks - self.ends(x)
        long = jnp.sqrt(jnp.sum(along * along, 1)) - self.length
        close = too_near(x, stage.obstacles, self.reach + stage.obstacles[:, 2])
        r = jnp.concatenate([self.error(self.point(x), stage.aim), long, close])
        rest = jnp.full(close.shape, self.shy)
        return r, jnp.concatenate([weights, self.hangs / self.softness, rest])
