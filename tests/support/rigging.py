"""Rigs and states for tests, and the quantities a physicist checks on them."""

import dataclasses
from types import SimpleNamespace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from skyrig import airframe, payload
from skyrig.algebra import apply, cross, dot, rotation_matrix
from skyrig.elements import Pushes
from skyrig.rigs import Cable, Slung, Winch, Wrench
from skyrig.rigs.complementarity import masked_solve
from skyrig.rigs.slung.motion import cable_matrix, pull, spans
from skyrig.sim import Effort, Plant

GRAVITY = 9.81


def drop():
    """RotorTM Fig. 16: rig, state and hover thrust of the open-loop drop."""
    rig = Slung.build([airframe("dragonfly")], payload("point-mass"), [Cable(0.5)])
    state = rig.state([0.15, 0.0, 1 - 0.3 * np.cos(np.pi / 6)], [[0.0, 0.0, 1.0]])
    return rig, state, [0.25 * GRAVITY]


def triangle(length=1.0, hook=None, gravity=GRAVITY):
    """Three dragonflies on the triangle."""
    load = payload("triangle")
    cables = [Cable(length, point, hook) for point in load.attachment_points("cable", 3)]
    return Slung.build([airframe("dragonfly")] * 3, load, cables, gravity=gravity)


def box(n=6):
    """Four or six dragonflies on the box."""
    load = payload("box")
    cables = [Cable(0.5, point) for point in load.attachment_points("cable", n)]
    return Slung.build([airframe("dragonfly-bullnose")] * n, load, cables)


def random_rig(rng, n, hooks=False, point=False, restitution=0.0, winch=False):
    """A rig of n different vehicles, with a payload of random shape."""
    vehicles = []
    for _ in range(n):
        sides = rng.uniform(0.1, 0.4, 3)
        mass = rng.uniform(0.1, 1.0)
        vehicles.append(SimpleNamespace(mass=mass, inertia=_cuboid(mass, sides, rng)))
    mass = rng.uniform(0.1, 1.0)
    load = SimpleNamespace(mass=mass, inertia=None if point else _cuboid(mass, rng.uniform(0.2, 0.8, 3), rng))
    cables = [
        Cable(
            rng.uniform(0.3, 1.5),
            np.zeros(3) if point else rng.uniform(-0.4, 0.4, 3),
            rng.uniform(-0.1, 0.1, 3) if hooks else None,
            Winch(0.5, 2.0, 0.1, 3.0) if winch else None,
        )
        for _ in range(n)
    ]
    return Slung.build(vehicles, load, cables, restitution=restitution)


def _cuboid(mass, sides, rng):
    squares = sides**2
    principal = np.diag(mass / 12 * (squares.sum() - squares))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return turn @ principal @ turn.T


def unit(rng, *shape):
    """Random unit vectors or quaternions."""
    vector = rng.normal(size=shape)
    return vector / np.linalg.norm(vector, axis=-1, keepdims=True)


def random_state(rng, rig, taut=0.5, speed=1.0, spin=1.0):
    """A state with random poses; each cable at its length with chance `taut`, velocities made consistent."""
    n = rig.count
    position = rng.normal(size=3) + [0, 0, 10.0]
    attitude = unit(rng, 4)
    craft_attitude = unit(rng, n, 4)
    turn = np.asarray(rotation_matrix(jnp.asarray(attitude)))
    ends = position + np.asarray(rig.attachment).T @ turn.T
    hooks = np.zeros((n, 3))
    if rig.hook is not None:
        turns = np.asarray(rotation_matrix(jnp.asarray(craft_attitude.T)))
        hooks = np.einsum("ijk,jk->ki", turns, np.asarray(rig.hook))
    full = rng.uniform(size=n) < taut
    reach = np.asarray(rig.length) * np.where(full, 1.0, rng.uniform(0.2, 0.98, n))
    state = rig.state(
        position,
        ends - hooks - reach[:, None] * unit(rng, n, 3),
        payload_velocity=speed * rng.normal(size=3),
        payload_attitude=attitude,
        payload_rate=spin * rng.normal(size=3),
        vehicle_velocity=speed * rng.normal(size=(n, 3)),
        vehicle_attitude=craft_attitude,
        vehicle_rate=spin * rng.normal(size=(n, 3)),
    )
    if rng.uniform() < 0.5:
        # half of the states start with their full cables taut: rates taken out by a reset
        state = eqx.tree_at(lambda s: s.mode.taut, state, jnp.asarray(full))
    return state


def made_taut(rig, state):
    """`state` with all cables taut: their length rates are taken out both ways, pulling or pushing."""
    state = eqx.tree_at(lambda s: s.mode.taut, state, jnp.ones(rig.count, bool))
    span = spans(rig, state)
    jerk = masked_solve(cable_matrix(rig, span), span.rate[None], state.taut)[0]
    by = pull(rig, span, jerk)
    spin = state.vehicles.rate if by.vehicles_turn is None else state.vehicles.rate + by.vehicles_turn
    return eqx.tree_at(
        lambda s: (s.vehicles.velocity, s.vehicles.rate, s.payload.velocity, s.payload.rate),
        state,
        (
            state.vehicles.velocity + by.vehicles,
            spin,
            state.payload.velocity + by.payload,
            state.payload.rate + by.payload_turn,
        ),
    )


def random_inputs(rng, rig, wrench=True):
    """Thrusts around hover, small moments and wrenches."""
    n = rig.count
    weight = (np.asarray(rig.mass) + float(rig.payload_mass) / n) * GRAVITY
    pushes = {}
    if wrench:
        load = (rng.normal(size=3), 0.002 * rng.normal(size=3))
        craft = (0.5 * rng.normal(size=(3, n)), 0.001 * rng.normal(size=(3, n)))
        pushes = {
            "payload": Wrench(*(jnp.asarray(it)[None, :, None] for it in load)),
            "vehicles": Wrench(*(jnp.asarray(it)[None] for it in craft)),
        }
    drives = {} if rig.winch is None else {"winch": jnp.asarray(rng.uniform(-0.6, 0.6, n))}
    effort = Effort(
        jnp.asarray(weight * rng.uniform(-0.2, 2.0, n)), jnp.asarray(1e-3 * rng.normal(size=(3, n))), drives
    )
    return effort, {"pushes": Pushes(jnp.zeros(1), pushes)} if wrench else {}


def loads(rig, state, inputs):
    """What acts on a rig under `random_inputs`."""
    effort, elements = inputs
    plant = Plant(rig, elements)
    return plant.loads(0.0, plant.start(state), effort)


def momentum(rig, state):
    """Linear and angular momentum (about the origin), and kinetic energy."""
    body, craft = state.payload, state.vehicles
    spin = apply(rig.payload_inertia, body.rate)
    spins = apply(rig.inertia, craft.rate)
    linear = rig.payload_mass * body.velocity + (rig.mass * craft.velocity).sum(1)
    angular = (
        cross(body.position, rig.payload_mass * body.velocity)
        + apply(rotation_matrix(body.attitude), spin)
        + (
            cross(craft.position, rig.mass * craft.velocity) + apply(rotation_matrix(craft.attitude), spins)
        ).sum(1)
    )
    kinetic = 0.5 * (
        rig.payload_mass * dot(body.velocity, body.velocity)
        + dot(body.rate, spin)
        + (rig.mass * dot(craft.velocity, craft.velocity) + dot(craft.rate, spins)).sum(0)
    )
    return linear, angular, kinetic


class Audited(Slung):
    """A slung rig whose impacts check themselves: one that breaks physics counts as unsolved."""

    def reset(self, t, state, loads, patience=1.0):
        after, record = Slung.reset(self, t, state, loads, patience)
        linear, angular, kinetic = momentum(self, state)
        linear_after, angular_after, kinetic_after = momentum(self, after)
        kept = jnp.all(jnp.abs(linear - linear_after) < 1e-10, axis=0)
        kept &= jnp.all(jnp.abs(angular - angular_after) < 1e-10 * (1 + jnp.abs(angular)), axis=0)
        kept &= kinetic_after <= kinetic + 1e-10 * (1 + kinetic)
        pulls = jnp.all(record.events["impact"].value >= 0, axis=0)
        return after, eqx.tree_at(lambda r: r.solved, record, record.solved & kept & pulls)


def audited(rig):
    """`rig` with audited impacts."""
    return Audited(**{name: getattr(rig, name) for name in (field.name for field in dataclasses.fields(rig))})


def flat(tree):
    """All float leaves of a tree in one array."""
    leaves = [leaf for leaf in jax.tree.leaves(tree) if jnp.issubdtype(leaf.dtype, jnp.floating)]
    return np.concatenate([np.asarray(leaf).ravel() for leaf in leaves])
