"""Vehicles as point robots that push with a wanted force: Michael, Fink and Kumar (RSS 2009), eqs. 10-13.

    F = m (g e3 + x_d'' + k_p e + k_d e' + k_i int e) + pull of the cable      (11, PID with feed-forward)
    f_z = |F|,   R(alpha, beta, gamma) e3 = F / f_z for the yaw gamma that there is                 (12, 13)
    tau = J (w^2 (wanted - angle) - 2 w rate) about each axis            (their attitude loop, Sect. IV-A)

The pull fed forward is the one that the cables have at this moment if their upper ends go on as they do, from
the estimated payload. Estimates (`skyrig.control.estimate`) carry measurements over noise, delay and lag, and
are the measurements where there is none of these. The paper leaves the payload's swing to itself; with a
`swing` above zero the vehicles damp it (see `skyrig.control.swing`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig.algebra import (
    apply,
    apply_transposed,
    as_jax,
    attitude_rate,
    cross,
    dot,
    rotation_matrix,
    upward_axis,
)
from skyrig.control.attitude import within_reach
from skyrig.control.cable_belief import Margins
from skyrig.control.cable_geometry import spans
from skyrig.control.estimate import Estimate, Filter, Late
from skyrig.control.feedback import accumulated, limited, pid
from skyrig.control.gains import Clock, Gain, read_gains, vehicle_bandwidths
from skyrig.control.interface import (
    Command,
    Controller,
    Measurement,
    Noise,
    Target,
    axes,
    fitted,
    fitted_target,
    part,
    wanted_of,
)
from skyrig.control.sharing import weight_shares
from skyrig.control.swing import across, damping, eye, solved, swayed, turned_matrix
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.cables import OnCables
from skyrig.vehicles import Airframe

NEAR = 0.02
"""A cable shorter than its length by this share of it pulls nothing."""
LEARNT = 0.1
"""Share of `reach` up to which position errors are learnt from."""


class PointRobotGains(eqx.Module):
    """Gains of point robots."""

    position: Float[Array, "3 ..."] = axes(1)
    """Bandwidth of the position along x, y, z (rad/s)."""
    attitude: Float[Array, "3 n ..."] = axes(2)
    """Bandwidth of roll, pitch, yaw of each vehicle (rad/s)."""
    integral: Float[Array, " ..."] = axes(0)
    """Rate at which constant disturbances are learnt (rad/s)."""
    damping: Float[Array, " ..."] = axes(0)
    """Damping ratio of the position (1)."""
    carry: Float[Array, " ..."] = axes(0)
    """Share of the cables' pull that is fed forward (1)."""
    swing: Float[Array, " ..."] = axes(0)
    """Damping ratio that vehicles give the payload's swing (1); zero leaves it to itself."""
    keep: Float[Array, " ..."] = axes(0)
    """Vehicles nearer to each other than this push each other away (m)."""
    reach: Float[Array, " ..."] = axes(0)
    """Position errors count up to this length (m)."""


class PointRobotMemory(eqx.Module):
    """What point robots remember."""

    push: Float[Array, "3 n ..."]
    """The integral of position errors (m/s^2)."""
    load: Estimate
    craft: Estimate


class Suspension(NamedTuple):
    """How the payload hangs."""

    up: Float[Array, "3 n ..."]
    """Directions of the cables, upwards."""
    pull: Float[Array, "n ..."]
    """N."""
    sway: Float[Array, "3 n ..."]
    """How far each attachment is from rest (m)."""
    moving: Float[Array, "6 ..."]
    """What pulls and weight make of it: acceleration (m/s^2), angular in its own frame (rad/s^2)."""


class PointRobots(Controller):
    """Eqs. 10-13 for every vehicle, with active damping; build one with `skyrig.control.build`."""

    mass: Float[Array, "n ..."] = axes(1)
    inertia: Float[Array, "3 3 n ..."] = axes(3)
    payload_mass: Float[Array, " ..."] = axes(0)
    payload_inertia: Float[Array, "3 3 ..."] = axes(2)
    payload_inverse_inertia: Float[Array, "3 3 ..."] = axes(2)
    attachment: Float[Array, "3 n ..."] = axes(2)
    hook: Float[Array, "3 n ..."] | None = axes(2)
    gravity: Float[Array, " ..."] = axes(0)
    thrust_min: Float[Array, "n ..."] = axes(1)
    thrust_max: Float[Array, "n ..."] = axes(1)
    late: Late = part()
    sight: Filter = part()
    """How far measurements are believed."""
    near: Float[Array, "n ..."] = axes(1)
    """A cable so much shorter than its length pulls nothing, however little noise there is (m)."""
    slack: Float[Array, "n ..."] = axes(1)
    """The same with the noise there is (m)."""
    gains: PointRobotGains = part()

    def told_of_noise(self, noise: Noise) -> PointRobots:
        """The same, believing measurements as far as their noise lets them be believed."""
        sight = Filter.of(noise, self.late.period)
        margins = Margins.of(self.near, self.near, sight, sight, self.attachment, noise)
        return dataclasses.replace(self, sight=sight, slack=margins.slack)

    def start(self, measurement: Measurement) -> PointRobotMemory:
        """Nothing learnt, nothing measured."""
        load, craft = (
            Estimate.start(it, self.late.delay) for it in (measurement.payload, measurement.vehicles)
        )
        return PointRobotMemory(jnp.zeros_like(measurement.vehicles.position), load, craft)

    def __call__(
        self, memory: PointRobotMemory, t: Any, target: Target, measurement: Measurement
    ) -> tuple[PointRobotMemory, Command]:
        """Thrusts and moments from position errors, pulls and swing."""
        it = fitted(self, measurement.length)
        aim = wanted_of("vehicles", fitted_target(target, measurement).vehicles)
        load_seen = memory.load.measured(it.sight, it.late, measurement.payload)
        craft_seen = memory.craft.measured(it.sight, it.late, measurement.vehicles)
        load, craft, gains = load_seen.due(it.late), craft_seen.due(it.late), it.gains
        law = pid(gains.position[:, None], gains.damping, gains.integral)
        error = limited(aim.position[0] - craft.position, gains.reach)
        hung, drift = it.hung(load, craft, measurement.length, aim.position[2:4])
        slow = aim.position[1] - craft.velocity
        push = aim.position[2] + law.p * error + law.d * slow + memory.push
        calming = damping(
            gains.swing, gains.position[:, None], gains.damping, it.pendulum(measurement.length)
        )
        push = push + across(hung.up, calming.push(hung.sway, drift, -slow))
        push = push + it.apart(craft.position, law.p)
        held = hung.pull * hung.up
        wanted = it.mass * push.at[2].add(it.gravity) + gains.carry * held
        wanted, cut = within_reach(wanted, it.thrust_min, 0.95 * it.thrust_max)
        calm = jnp.where(cut > 0, 0.0, it.late.period)
        # a robot that is far off is on its way back: only what stays is a disturbance to be learnt
        stays = limited(error, LEARNT * gains.reach)
        learnt = accumulated(memory.push, law.i * stays, calm, 0.3 * it.gravity)
        thrust, angles = force_to_attitude(wanted, euler(craft)[2])
        bend = angles - euler(craft)
        bend = bend.at[2].set(-_wrapped(euler(craft)[2] - 2 * jnp.arctan2(aim.attitude[3], aim.attitude[0])))
        spin = gains.attitude**2 * bend - 2 * gains.attitude * craft.rate
        moment = apply(it.inertia, spin) + cross(craft.rate, apply(it.inertia, craft.rate))
        # what integrals ask for only makes up for something else
        moving = (thrust * upward_axis(craft.attitude) - held) / it.mass - memory.push
        kept = PointRobotMemory(
            learnt,
            load_seen.commanded(hung.moving[:3], hung.moving[3:]),
            craft_seen.commanded(moving.at[2].add(-it.gravity), spin),
        )
        return kept, Command(thrust, moment)

    def pendulum(self, length: Array) -> Array:
        """Natural frequency of a weight on the mean cable (rad/s)."""
        return jnp.sqrt(self.gravity / jnp.maximum(length.mean(0), 1e-6))

    def hung(self, load: Bodies, craft: Bodies, length: Array, speeding: Array) -> tuple[Suspension, Array]:
        """How the payload hangs, and at what rate its sway changes (m/s).

        Args:
            load: The payload.
            craft: The vehicles.
            length: Of the cables (m).
            speeding: (2, 3, n) accelerations that are wanted of the vehicles (m/s^2), and their rates.
        """

        def later(seconds: Array) -> Suspension:
            turned = load.attitude + seconds * attitude_rate(load.attitude, load.rate)
            there = Bodies(load.position + seconds * load.velocity, load.velocity, turned, load.rate)
            hooks, wanted = craft.position + seconds * craft.velocity, speeding[0] + seconds * speeding[1]
            return self._held(there, eqx.tree_at(lambda it: it.position, craft, hooks), length, wanted)

        now = jnp.zeros_like(load.position[0])
        found, rate = jax.jvp(later, (now,), (jnp.ones_like(now),))
        return found, rate.sway

    def _held(
        self, load: Bodies, craft: Bodies, length: Array, speeding: Float[Array, "3 n ..."]
    ) -> Suspension:
        """With hooks held still.

        Lengths stay: W^T M^-1 (W pull + load) = 0, so pull = -(W^T M^-1 W)^-1 W^T M^-1 load.
        """
        turn = rotation_matrix(load.attitude)
        span = spans(self, load, turn, craft, rotation_matrix(craft.attitude))
        up = -span.direction
        lever = cross(self.attachment, apply_transposed(turn[:, :, None], up))
        spun = apply(self.payload_inverse_inertia[:, :, None], lever)
        taut = (span.distance > length - self.slack).astype(up.dtype)
        matrix = (up[:, :, None] * up[:, None]).sum(0) / self.payload_mass
        matrix = (matrix + (lever[:, :, None] * spun[:, None]).sum(0)) * taut[:, None] * taut[None]
        n = len(taut)
        # a trace of softness: with more cables than freedoms the least pulls are taken
        soft = (1e-8 if matrix.dtype == jnp.float64 else 1e-5) * (matrix * eye(n, matrix)).sum((0, 1)) / n
        matrix = matrix + eye(n, matrix) * (soft + (1 - taut))
        pull = jnp.maximum(solved(matrix, taut * up[2] * self.gravity), 0.0) * taut
        arm = apply(turn[:, :, None], self.attachment)
        inertia = turned_matrix(turn, self.payload_inertia)
        sway = swayed(arm, up, pull, length, speeding, self.gravity, self.payload_mass, inertia)
        weight = jnp.zeros_like(load.position).at[2].set(self.gravity)
        moving = [(pull * up).sum(1) / self.payload_mass - weight, (pull * spun).sum(1)]
        return Suspension(up, pull, sway, jnp.concatenate(moving))

    def apart(self, position: Float[Array, "3 n ..."], stiffness: Array) -> Float[Array, "3 n ..."]:
        """A potential around each vehicle that others are pushed out of (m/s^2)."""
        away = position[:, :, None] - position[:, None]
        far = jnp.sqrt(jnp.maximum(dot(away, away), 1e-12))
        n = position.shape[1]
        deep = jnp.maximum(self.gains.keep - far, 0.0) * (1 - eye(n, far))
        return 4 * stiffness * (away / far * deep).sum(2)


def point_robot(
    rig: OnCables, airframes: Sequence[Airframe], gains: Mapping[str, Any] | None, flavour: str, clock: Clock
) -> Controller:
    """Every vehicle follows its own reference as a point robot, in either flavour."""
    gravity = float(rig.gravity)
    share = weight_shares(np.asarray(rig.attachment), float(rig.payload_mass))
    bandwidth = vehicle_bandwidths(airframes, share, gravity, clock)
    known = {
        "position": Gain(np.full(3, bandwidth.tilt.min() / 10), "3"),
        "attitude": Gain(bandwidth.vehicle, "3n"),
        "integral": Gain(0.4 * bandwidth.tilt.min() / 10, zero=True),
        "damping": Gain(0.9),
        "carry": Gain(1.0, zero=True),
        "swing": Gain(0.0, zero=True),
        "keep": Gain(1.8 * max(each.radius for each in airframes), zero=True),
        "reach": Gain(0.5),
    }
    near = as_jax(NEAR * np.asarray(rig.length))
    return PointRobots(
        mass=rig.mass,
        inertia=rig.inertia,
        payload_mass=rig.payload_mass,
        payload_inertia=rig.payload_inertia,
        payload_inverse_inertia=rig.payload_inverse_inertia,
        attachment=rig.attachment,
        hook=rig.hook,
        gravity=rig.gravity,
        thrust_min=as_jax(np.array([each.total_thrust_min for each in airframes])),
        thrust_max=as_jax(np.array([each.total_thrust_max for each in airframes])),
        late=Late.of(clock),
        sight=Filter.sharp(),
        near=near,
        slack=near,
        gains=PointRobotGains(**read_gains(gains, known, rig.count)),
    )


def force_to_attitude(force: Float[Array, "3 ..."], yaw: Array) -> tuple[Array, Float[Array, "3 ..."]]:
    """Thrust f_z (N) and the roll and pitch (rad) that point it along a force, at a yaw that stays: eq. 13.

    The paper writes both by arc cosines and chooses their signs by cases; these are the same angles.
    """
    x, y, z = force
    thrust = jnp.sqrt(jnp.maximum(dot(force, force), 1e-12))
    ahead = x * jnp.cos(yaw) + y * jnp.sin(yaw)
    aside = y * jnp.cos(yaw) - x * jnp.sin(yaw)
    return thrust, jnp.stack([-jnp.arcsin(jnp.clip(aside / thrust, -1.0, 1.0)), jnp.arctan2(ahead, z), yaw])


def euler(bodies: Bodies) -> Float[Array, "3 ..."]:
    """Roll, pitch, yaw (rad) with R = Rz(yaw) Ry(pitch) Rx(roll)."""
    w, x, y, z = bodies.attitude
    roll = jnp.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = jnp.arcsin(jnp.clip(2 * (w * y - z * x), -1.0, 1.0))
    return jnp.stack([roll, pitch, jnp.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))])


def _wrapped(angle: Array) -> Array:
    return jnp.arctan2(jnp.sin(angle), jnp.cos(angle))
