"""Auto-Multilift's evaluation as its public code flies it: its plant, lag, thrust correction and nets.

The plant takes steps of 5 ms; tensions are held over a step, and load and quadrotors each see the others
where they were. Inputs lag behind commands. A velocity predictor corrects the thrust, by a multiple that
grows with the steps of a control period. Every control instant begins from the reference, not from the plan
before.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files as resources
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from numpy.polynomial import polynomial

from skyrig.algebra import cross, rotation_matrix
from skyrig.control.mpc.agents import LoadAgent, StageAim, VehicleAgent, Weights
from skyrig.control.mpc.bodies import ATTITUDE, POSITION, RATE, VELOCITY, runge_kutta
from skyrig.control.mpc.problem import Bounds
from skyrig.control.mpc.team import PlanningTeam

COUNT, HORIZON, PERIOD, PARTS = 6, 10, 0.02, 4
SWEEPS, TURNS = 5, 3
GRAVITY, MASS, LOAD_MASS = 9.81, 1.0, 7.0
INERTIA, LOAD_INERTIA = np.diag([0.02, 0.02, 0.04]), np.diag([1.4, 1.4, 1.75])
OFFSET = np.array([0.1, 0.1, -0.1])
"""Centre of mass from the middle of the ring (m)."""
AROUND = np.arange(COUNT) * np.pi / 3
RING = np.stack([np.cos(AROUND), np.sin(AROUND), 0 * AROUND], axis=1)
LENGTH, STIFFNESS, DAMPING, MOST_PULL = 2.0, 4000.0, 40.0, 200.0
LEAN = np.deg2rad(20)
LAG = 0.02 / (0.02 + 1 / 33)
"""Share of the way to its command that an input goes in each step of 5 ms."""
CORRECTION, PREDICTOR = 0.2857, -5.0
KNOTS = np.array([0.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0])
DURATION = 20.0
LAYERS = {"vehicle": (6, 30, 30, 28), "load": (12, 30, 30, 30)}


class SampledFlight(NamedTuple):
    """A flight at the control instants."""

    times: np.ndarray
    reference: np.ndarray
    """(K, 3) m."""
    position: np.ndarray
    """(K, 3) of the middle of the ring (m)."""
    attitude: np.ndarray
    """(K, 4) of the load."""
    tension: np.ndarray
    """(K, 6) actual (N)."""
    planned: np.ndarray
    """(K, 6) as the load plans (N)."""

    @property
    def error(self) -> np.ndarray:
        """(K, 3) m."""
        return self.position - self.reference


@lru_cache(1)
def stored() -> dict[str, np.ndarray]:
    """What the public code stored: coefficients, starts, nets and flights."""
    path = resources("skyrig.data") / "papers" / "auto-multilift" / "stored.npz"
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


def stored_flight(variant: str) -> SampledFlight:
    """A flight as the public code stored it: cl, ol or clnc."""
    rows = stored()[f"flight_{variant}"].astype(float)
    return SampledFlight(
        rows[:, 0], rows[:, 1:4], rows[:, 4:7], rows[:, 10:14], rows[:, 17:23], rows[:, 23:29]
    )


def reference(times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position, velocity and acceleration of the figure-8, (K, 3) each; held after its end."""
    times = np.clip(times, 0.0, DURATION)
    piece = np.maximum(np.searchsorted(KNOTS, times, side="right") - 1, 0)
    since = times - KNOTS[piece]
    coefficients, moments = stored()["coefficients"], list(zip(since, piece, strict=True))

    def at(order: int) -> np.ndarray:
        columns = [
            [polynomial.polyval(x, polynomial.polyder(axis[k], order)) for x, k in moments]
            for axis in coefficients
        ]
        return np.array(columns).T

    return at(0), at(1), at(2)


def aims(times: np.ndarray) -> tuple[StageAim, StageAim]:
    """What quadrotors (K, n, ...) and load (K, ...) would like at each time, as the public code has it."""
    position, velocity, acceleration = reference(times)
    level = np.broadcast_to([1.0, 0, 0, 0, 0, 0, 0], (len(times), 7))
    size = np.linalg.norm(acceleration + [0, 0, GRAVITY], axis=1)
    out = 1 + LENGTH * np.sin(LEAN)
    over = np.stack([out * np.cos(AROUND), out * np.sin(AROUND), LENGTH * np.cos(LEAN) + 0 * AROUND], axis=1)
    craft = [np.concatenate([position + place, velocity, level], axis=1) for place in over]
    effort = np.zeros((len(times), COUNT, 4))
    effort[..., 0] = (MASS + LOAD_MASS / COUNT) * size[:, None]
    load = np.concatenate([position, velocity, level], axis=1)
    tension = np.repeat((LOAD_MASS * size / COUNT)[:, None], COUNT, axis=1)
    vehicles = StageAim(jnp.asarray(np.stack(craft, axis=1)), jnp.asarray(effort))
    return vehicles, StageAim(jnp.asarray(load), jnp.asarray(tension))


def nets(variant: str) -> tuple[list[Any], list[Any]]:
    """Layers of the quadrotors' nets, n in front, and of the load's; every matrix divided by its norm."""
    raw, at, found = stored()[f"nets_{variant}"].astype(float), 0, []
    for sizes in [LAYERS["vehicle"]] * COUNT + [LAYERS["load"]]:
        layers = []
        for before, after in zip(sizes[:-1], sizes[1:], strict=True):
            matrix = raw[at : at + before * after].reshape(after, before)
            at += matrix.size
            layers.append((matrix / np.linalg.norm(matrix, 2), raw[at : at + after]))
            at += after
        found.append(layers)
    own = [
        tuple(np.stack(part) for part in zip(*layer, strict=True)) for layer in zip(*found[:-1], strict=True)
    ]
    return own, found[-1]


def weights(net: list[Any], inputs: Array) -> Array:
    """What a net answers: weights from 0.01 to 100."""
    for matrix, bias in net[:-1]:
        inputs = jax.nn.relu(matrix @ inputs + bias)
    matrix, bias = net[-1]
    return 0.01 + 99.99 * jax.nn.sigmoid(matrix @ inputs + bias)


def team(own: Array, load: Array) -> PlanningTeam:
    """The agents of the public code with these weights: (n, 28) and (30,)."""

    def shared(value: Any) -> Array:
        return jnp.broadcast_to(jnp.asarray(value, float), (COUNT, *np.shape(value)))

    def single(value: Any) -> Array:
        return jnp.asarray(value, float)

    def common(as_array: Any, mass: float, inertia: np.ndarray) -> dict[str, Array]:
        return {
            "mass": as_array(mass),
            "inertia": as_array(inertia),
            "inverse_inertia": as_array(np.linalg.inv(inertia)),
            "gravity": as_array(GRAVITY),
            "step": as_array(PERIOD),
            "scale": as_array(PERIOD),  # the solver of the public code multiplies stages by their length
            "approach": as_array(0.0),
            "push": as_array(np.zeros(6)),
            "softness": as_array(1e-4),
        }

    vehicles = VehicleAgent(
        **common(shared, MASS, INERTIA),
        weights=Weights(own[:, :12], own[:, 12:24], own[:, 24:]),
        hook=shared(np.zeros(3)),
        length=shared(LENGTH),
        hangs=shared(1.0),
        apart=shared(0.4),
        shy=shared(0.0),
    )
    cargo = LoadAgent(
        **common(single, LOAD_MASS, LOAD_INERTIA),
        weights=Weights(load[:12], load[12:24], load[24:]),
        attachment=single(RING - OFFSET),
        length=jnp.full(COUNT, LENGTH),
        hangs=jnp.ones(COUNT),
        ballast=jnp.zeros(COUNT),
        centre=single(-OFFSET),
        reach=single(0.0),
        shy=single(0.0),
        own_frame=True,
    )
    thrusts = Bounds(shared([0.01, -0.5, -0.5, -0.5]), shared([40.0, 0.5, 0.5, 0.5]), shared(1e-6))
    tensions = Bounds(jnp.full(COUNT, 0.01), jnp.full(COUNT, 100.0), single(1e-6))
    return PlanningTeam(vehicles, cargo, thrusts, tensions, jnp.zeros((0, 3)), SWEEPS, TURNS, "serial")


class TheirPlant(NamedTuple):
    """States of all bodies, and what the plant and its thrust correction remember."""

    vehicles: Array
    load: Array
    given: Array
    """(n, 4) what the lagging inputs are."""
    predicted: Array
    """(n, 3) velocities."""


def flown(variant: str = "cl", duration: float = DURATION) -> SampledFlight:
    """The figure-8 with a variant's nets from its stored start, planned by skyrig's solver."""
    count = round(duration / PERIOD)
    wanted = aims(PERIOD * np.arange(count + HORIZON + 2))
    rows = _fly(nets(variant), wanted, started(variant), count)
    position, _, _ = reference(PERIOD * np.arange(count))
    return SampledFlight(PERIOD * np.arange(count), position, *(np.asarray(each) for each in rows))


def started(variant: str) -> TheirPlant:
    """A variant's stored start; the load's state is that of its centre of mass."""
    start = stored()["starts"][["cl", "ol", "clnc"].index(variant)]
    load = start[0]
    rotation = np.asarray(rotation_matrix(jnp.asarray(load[ATTITUDE])))
    moving = rotation @ (load[VELOCITY] + np.cross(load[RATE], OFFSET))
    begun = np.concatenate([load[POSITION] + rotation @ OFFSET, moving, load[6:]])
    still = np.tile([GRAVITY, 0.0, 0.0, 0.0], (COUNT, 1))
    return TheirPlant(*map(jnp.asarray, (start[1:], begun, still, np.zeros((COUNT, 3)))))


@eqx.filter_jit
def _fly(nets: Any, wanted: tuple[StageAim, StageAim], now: TheirPlant, count: int) -> Any:
    own, cargo = nets

    def tick(now: TheirPlant, k: Array) -> tuple[TheirPlant, Any]:
        def window(first: Array) -> tuple[StageAim, StageAim]:
            craft, load = jax.tree.map(
                lambda leaf: jax.lax.dynamic_slice_in_dim(leaf, first, HORIZON + 1), wanted
            )
            return jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 1, 0), craft), load

        (craft, load), guess = window(k), window(k + 1)
        error = now.vehicles[:, :6] - craft.state[:, 0, :6]
        blank = team(jnp.ones((COUNT, 28)), jnp.ones(30))
        off = blank.load.error(blank.load.point(now.load), jax.tree.map(lambda leaf: leaf[0], load))
        crew = team(jax.vmap(weights)(own, error), weights(cargo, off))
        deaf = jnp.zeros(COUNT, bool)
        plans, _ = crew.plan(now.vehicles, now.load, craft, load, crew.first(*guess), deaf)
        thrust, tension = plans.vehicles.inputs[:, 0], plans.load.inputs[0]
        middle = now.load[POSITION] - rotation_matrix(now.load[ATTITUDE]) @ OFFSET
        row = (middle, now.load[ATTITUDE], pulled(now.vehicles, now.load)[0], tension)
        predicted, correction = _predicted(now, thrust, tension)
        return stepped(now._replace(predicted=predicted), thrust, CORRECTION * correction), row

    return jax.lax.scan(tick, now, jnp.arange(count))[1]


def pulled(vehicles: Array, load: Array) -> tuple[Array, Array]:
    """Tensions (n) and directions from the load to the vehicles (n, 3)."""
    rotation = rotation_matrix(load[ATTITUDE])
    tied = jnp.asarray(RING - OFFSET) @ rotation.T
    moving = cross(load[RATE], jnp.asarray(RING - OFFSET).T).T @ rotation.T
    along = vehicles[:, :3] - load[POSITION] - tied
    length = jnp.sqrt(jnp.sum(along**2, 1))
    way = along / length[:, None]
    rate = jnp.sum(way * (vehicles[:, 3:6] - load[VELOCITY] - moving), 1)
    return jnp.clip(STIFFNESS * (length - LENGTH) + DAMPING * rate, 0.0, MOST_PULL), way


def _predicted(now: TheirPlant, inputs: Array, tension: Array) -> tuple[Array, Array]:
    """The velocity predictor after a control period, and the thrust that nobody planned (n)."""
    decay = np.exp(PREDICTOR * PERIOD)
    error = now.predicted - now.vehicles[:, 3:6]
    unplanned = -MASS * decay * PREDICTOR / (decay - 1) * error
    up = jax.vmap(lambda x: rotation_matrix(x[ATTITUDE])[:, 2])(now.vehicles)
    _, way = pulled(now.vehicles, now.load)
    force = up * inputs[:, :1] - tension[:, None] * way + unplanned
    rate = force / MASS - jnp.array([0.0, 0.0, GRAVITY]) + PREDICTOR * error
    return now.predicted + PERIOD * rate, jnp.sum(up * unplanned, 1)


def stepped(now: TheirPlant, inputs: Array, correction: Array) -> TheirPlant:
    """The plant after a control period."""
    crew = team(jnp.ones((COUNT, 28)), jnp.ones(30))
    for part in range(PARTS):
        asked = inputs.at[:, 0].add(-(part + 1) * correction)
        given = now.given + LAG * (asked - now.given)
        tension, _ = pulled(now.vehicles, now.load)
        tied, hooks = crew.load.ends(now.load), now.vehicles[:, :3]

        def craft(own: VehicleAgent, x: Array, u: Array, tied: Array, tension: Array) -> Array:
            return runge_kutta(lambda x: own.derivative(x, u, tied, tension), x, PERIOD / PARTS)

        vehicles = jax.vmap(craft)(crew.vehicles, now.vehicles, given, tied, tension)
        load = runge_kutta(
            lambda x, t=tension, h=hooks: crew.load.derivative(x, t, h), now.load, PERIOD / PARTS
        )
        now = TheirPlant(vehicles, load, given, now.predicted)
    return now
