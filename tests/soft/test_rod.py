"""Fingers as rods: they stand where elements do, keep momenta, lose energy, and hold what they close on."""

from itertools import product
from types import SimpleNamespace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skyrig import soft
from skyrig.algebra import apply_transposed
from skyrig.rigs import Bodies
from skyrig.rigs.gripper import GripperState, RodGripper, SoftGripper
from skyrig.rigs.gripper.contact import RigidPose, on_solid
from skyrig.rigs.gripper.skin import gap
from skyrig.rigs.gripper.solid import GraspedSolid
from skyrig.rigs.protocol import Loads
from skyrig.soft import rod as rods
from skyrig.vehicles.shapes import Ball, Box, Cylinder, Prism

CAN = Cylinder(radius=0.03, height=0.08)
VEHICLE = SimpleNamespace(mass=1.0, inertia=np.diag([0.08, 0.08, 0.14]))
OBJECT = SimpleNamespace(mass=0.05, shape=CAN, inertia=CAN.inertia(0.05))
PULLS = np.array([[0.14, 0.19], [0.15, 0.17], [0.16, 0.18], [0.17, 0.15], [0.13, 0.17], [0.18, 0.16]])
"""Of the inner and the outer pair (m)."""


@pytest.mark.slow
@pytest.mark.parametrize("young", [2e4, 2e5])
def test_fingertips_are_where_those_of_elements_are(young: float) -> None:
    """Within 5 % of the way that they have gone, soft and stiff; each cut as it is by default."""
    ring = soft.Gripper.build(soft.FingerDesign(young=young), fingers=len(PULLS))
    blocks = soft.shape(ring, PULLS).blocks
    tips = np.einsum("a,fai->fi", ring.finger.tip, blocks[:, -1, ring.finger.between :])
    it = rods.rod(soft.finger(soft.FingerDesign(young=young, slices=6)))
    frames = jnp.broadcast_to(jnp.eye(3)[:, :, None], (3, 3, len(PULLS)))
    start = rods.straight(it, jnp.zeros((3, len(PULLS))), frames, 6)
    down = jnp.array([0.0, 0.0, 9.81]).reshape(3, 1, 1)
    lengths = jnp.repeat(jnp.asarray(PULLS).T, 2, axis=0)
    found = np.asarray(rods.settled(it, start, lengths, down, 2.0).place[:, -1]).T
    way = np.linalg.norm(tips - [0.0, 0.0, 0.18], axis=1)
    assert way.min() > 0.01
    assert (np.linalg.norm(found - tips, axis=1) < 0.05 * way).all()


def deepest(rig: RodGripper, state: GripperState) -> jax.Array:
    """How deep the fingers, inside and out, are in the object (m)."""
    now = rig.begun(state)
    at, _ = rig.whole(now)
    half, found = rig.rod.half, []
    for up in (0.25, 0.5, 0.75, 1.0):
        mixed = jax.tree.map(lambda leaf, up=up: (1 - up) * leaf[:, :-1] + up * leaf[:, 1:], at)
        for x, y in product((-1.0, -0.5, 0.0, 0.5, 1.0), repeat=2):
            found.append(mixed.place + half * (x * mixed.inner + y * mixed.aside))
    away = jnp.stack(found, 1) - now.object.place[:, None, None, None]
    own = apply_transposed(now.object.turn[:, :, None, None, None], away)
    return jnp.maximum(-gap(rig.solid, own)[0], 0.0).max()


@eqx.filter_jit
def flown(rig: RodGripper, state: GripperState, pairs: jax.Array, count: jax.Array) -> tuple:
    """Steps of 10 ms: the last state, momenta, energies and how deep fingers are in the object."""
    loads = Loads(jnp.zeros(1), jnp.zeros((3, 1)), {}, {"tendon": jnp.tile(pairs, 4)})
    state, span = rig.prepare(state, loads, jnp.asarray(0.01)), jnp.asarray(0.01)

    def one(k: jax.Array, it: tuple) -> tuple:
        state, rows, failed = it
        state, bad = rig.step(state, lambda share, at: loads, span)
        row = jnp.concatenate([rig.momenta(state), jnp.stack([rig.energy(state), deepest(rig, state)])])
        return state, rows.at[k].set(row), failed | bad

    return jax.lax.fori_loop(0, count, one, (state, jnp.zeros((100, 8)), jnp.asarray(False)))


@pytest.fixture(scope="module")
def thrown() -> tuple[RodGripper, GripperState]:
    """Without gravity, a can between the fingers that flies at 1 m/s onto one of them."""
    design = soft.FingerDesign(slices=6)  # as scenarios fly
    rig = RodGripper.build(VEHICLE, OBJECT, design, gravity=0.0, floor=-10.0, friction=1.2)
    places = (np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.85]))
    state = rig.placed({"vehicles": Bodies.still(places[0]), "payload": Bodies.still(places[1])})
    turned, thrown = jnp.array([[0.3], [0.6], [0.2]]), jnp.array([[0.71], [0.71], [0.0]])
    return rig, eqx.tree_at(
        lambda it: (it.motion.vehicles.rate, it.motion.payload.velocity), state, (turned, thrown)
    )


@pytest.mark.slow
def test_momenta_are_kept_and_energy_falls(thrown: tuple[RodGripper, GripperState]) -> None:
    """While fingers close at once, by a jerk of 80 N a tendon: the can is not pressed through half of one."""
    rig, state = thrown
    before = rig.momenta(state)
    _, rows, failed = flown(rig, state, jnp.array([0.14, 0.19]), jnp.asarray(60))
    assert not failed
    np.testing.assert_allclose(rows[:60, :6], np.tile(before, (60, 1)), atol=1e-9)
    assert np.diff(np.asarray(rows[:60, 6], dtype=float)).max() < 2e-3 * float(rows[0, 6])
    assert float(rows[59, 6]) < 0.5 * float(rows[0, 6])
    assert float(rows[:60, 7].max()) < 12.5e-3


@pytest.mark.slow
def test_nothing_passes_through_a_finger_at_a_metre_a_second(
    thrown: tuple[RodGripper, GripperState],
) -> None:
    """The can pushes the finger along and dents its skin: never by a fifth of the finger's width."""
    rig, state = thrown
    end, rows, failed = flown(rig, state, jnp.array([0.18, 0.18]), jnp.asarray(40))
    assert not failed
    assert 0.0 < float(rows[:40, 7].max()) < 5e-3
    apart = end.motion.payload.position[:, 0] - end.motion.vehicles.position[:, 0]
    assert float(apart @ jnp.array([0.71, 0.71, 0.0])) < 0.25  # by itself it would have gone 0.4 m


def test_distances_are_those_of_the_elements_contacts() -> None:
    places = np.random.default_rng(0).uniform(-0.06, 0.06, (200, 3))
    shapes = [
        Ball(radius=0.03),
        Box(size=np.array([0.05, 0.06, 0.07])),
        CAN,
        Prism(outline=np.array([[0.04, 0.0], [-0.02, 0.03], [-0.02, -0.03]]), height=0.06),
    ]
    for shape in shapes:
        solid = GraspedSolid.of(shape)
        touch = on_solid(solid, jnp.asarray(places), RigidPose(jnp.zeros(3), jnp.eye(3)))
        distance, way = gap(solid, jnp.asarray(places).T)
        np.testing.assert_allclose(distance, touch.gap, atol=1e-12)
        np.testing.assert_allclose(way.T, touch.normal, atol=1e-12)


def test_elements_and_rods_are_chosen_by_name() -> None:
    import skyrig

    known = skyrig.load("soft-grasp")
    assert type(known.parts.build()) is SoftGripper
    assert type(known.with_overrides({"rig.finger.elements": "rod"}).parts.build()) is RodGripper
