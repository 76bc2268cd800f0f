"""A gripper in motion: momentum, energy, free fall, steps of any size, objects."""

from itertools import product
from types import SimpleNamespace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skyrig.errors import InputError
from skyrig.rigs import Bodies
from skyrig.rigs.gripper import GripperState, SoftGripper
from skyrig.rigs.gripper.contact import RigidPose, on_solid
from skyrig.rigs.gripper.dynamics import as_quaternion, place_of, speed_of
from skyrig.rigs.gripper.momentum import OutsidePush, momenta
from skyrig.rigs.gripper.potential import GripperPlace, StepStart, potential, slices
from skyrig.rigs.gripper.solid import GraspedSolid, distance
from skyrig.rigs.gripper.step import begun
from skyrig.rigs.gripper.system import Change, matrix, moved, slope
from skyrig.rigs.protocol import Loads
from skyrig.soft import FingerDesign
from skyrig.soft.shapes import slice_of
from skyrig.vehicles.shapes import Ball, Box, Cylinder, Prism

CAN = Cylinder(radius=0.03, height=0.08)
VEHICLE = SimpleNamespace(mass=1.0, inertia=np.diag([0.08, 0.08, 0.14]))
OBJECT = SimpleNamespace(mass=0.05, shape=CAN, inertia=CAN.inertia(0.05))
PYRAMID = np.array([[0.04, 0, -0.03], [-0.03, 0.03, -0.03], [-0.03, -0.03, -0.03], [0, 0, 0.04]])
SMALL = FingerDesign(slices=2)
"""A coarse finger: what holds for it holds for any."""


def gripper(gravity: float, floor: float = -10.0) -> SoftGripper:
    return SoftGripper.build(VEHICLE, OBJECT, SMALL, gravity=gravity, floor=floor)


def start(rig: SoftGripper, object_at: tuple[float, float, float]) -> GripperState:
    places = (np.array([0.0, 0.0, 1.0]), np.array(object_at))
    return rig.placed({"vehicles": Bodies.still(places[0]), "payload": Bodies.still(places[1])})


INSIDE = slice_of(SMALL.elements, SMALL.cells).at(np.array(list(product(np.linspace(-1, 1, 9), repeat=3))))
"""Weights of a slice's nodes in points all over it."""


def deepest(rig: SoftGripper, state: GripperState) -> jax.Array:
    """How deep the fingers, inside and out, are in the object (m)."""
    at = place_of(state)
    points = jnp.einsum("ca,fsai->fsci", INSIDE, slices(rig, at))
    return jnp.maximum(-on_solid(rig.solid, points, at.object).gap, 0.0).max()


@eqx.filter_jit
def flown(
    rig: SoftGripper,
    state: GripperState,
    thrust: jax.Array,
    pairs: jax.Array,
    dt: jax.Array,
    count: jax.Array,
):
    """The state after `count` steps; momenta, energies and `deepest` on the way; whether a step failed."""
    loads = Loads(thrust, jnp.zeros((3, 1)), {}, {"tendon": pairs})
    state = rig.prepare(state, loads, dt)

    def one(k: jax.Array, it: tuple) -> tuple:
        state, rows, failed = it
        state, bad = rig.step(state, lambda share, at: loads, dt)
        more = jnp.stack([rig.energy(state), deepest(rig, state)])
        row = jnp.concatenate([momenta(rig, place_of(state), speed_of(state)), more])
        return state, rows.at[k].set(row), failed | bad

    return jax.lax.fori_loop(0, count, one, (state, jnp.zeros((200, 8)), jnp.asarray(False)))


STRAIGHT = jnp.full(8, 0.18)
CLOSED = jnp.tile(jnp.array([0.14, 0.19]), 4)
OFF = jnp.zeros(1)


@pytest.mark.slow
def test_momenta_are_kept_and_energy_never_grows() -> None:
    rig = gripper(0.0)
    state = start(rig, (0.01, 0.0, 0.85))  # between the fingers, which close on it
    spin = jnp.array([[1.0], [2.0], [0.5]])
    state = eqx.tree_at(
        lambda it: (it.motion.vehicles.rate, it.motion.payload.velocity), state, (spin, spin / 20)
    )
    before = momenta(rig, place_of(state), speed_of(state))
    _, rows, failed = flown(rig, state, OFF, CLOSED, jnp.asarray(0.01), jnp.asarray(40))
    assert not failed
    np.testing.assert_allclose(rows[:40, :6], np.tile(before, (40, 1)), atol=1e-12)
    energy = np.asarray(rows[:40, 6])
    assert (np.diff(energy) < 1e-6 * energy[0]).all()
    assert energy[-1] < energy[0]


@pytest.mark.slow
def test_nothing_passes_through_a_finger_at_a_metre_a_second() -> None:
    """Thrown at one of the fingers, out of the ring: the can pushes it along and stays inside."""
    rig = gripper(0.0)
    state = start(rig, (0.0, 0.0, 0.87))
    way = jnp.array([[1.0], [1.0], [0.0]]) / jnp.sqrt(2.0)
    state = eqx.tree_at(lambda it: it.motion.payload.velocity, state, way)
    end, rows, failed = flown(rig, state, OFF, STRAIGHT, jnp.asarray(0.01), jnp.asarray(40))
    assert not failed
    assert 0.0 < float(rows[:40, 7].max()) < 5e-3  # of the finger's 25 mm
    apart = end.motion.payload.position[:, 0] - end.motion.vehicles.position[:, 0]
    assert float(apart @ way[:, 0]) < 0.15  # by itself it would have gone 0.4 m
    pushed = np.asarray(end.mode.push)
    assert np.isfinite(pushed).all()


@pytest.mark.slow
def test_free_fall_leaves_fingers_as_they_are() -> None:
    rig = gripper(9.81)
    away = (2.0, 0.0, 1.0)
    rest = start(gripper(0.0), away)
    state = eqx.tree_at(lambda it: it.motion.nodes, start(rig, away), rest.motion.nodes)
    end, _, failed = flown(rig, state, OFF, STRAIGHT, jnp.asarray(0.01), jnp.asarray(20))
    assert not failed
    fallen = end.motion.vehicles.position[:, 0] - state.motion.vehicles.position[:, 0]
    np.testing.assert_allclose(
        end.motion.nodes - state.motion.nodes, np.broadcast_to(fallen, rest.motion.nodes.shape), atol=1e-8
    )
    np.testing.assert_allclose(fallen[2], -9.81 * 0.01**2 * 20 * 21 / 2, rtol=1e-9)  # backward Euler's fall


@pytest.mark.slow
@pytest.mark.parametrize("dt", [0.002, 0.005, 0.01])
def test_hanging_fingers_come_to_rest_at_any_step(dt: float) -> None:
    rig = gripper(9.81)
    weight = (rig.mass + rig.fingers.mass) * 9.81
    state = start(rig, (2.0, 0.0, 1.0))
    kicked = eqx.tree_at(lambda it: it.motion.drift, state, state.motion.drift.at[:, -1].add(0.3))
    end, rows, failed = flown(rig, kicked, weight, STRAIGHT, jnp.asarray(dt), jnp.asarray(60))
    assert not failed and np.isfinite(np.asarray(rows[:60])).all()
    assert float(jnp.abs(end.motion.drift).max()) < 0.5


def test_the_matrix_is_near_the_slopes_derivative() -> None:
    """Newton's matrix may leave out what bends down, but without contacts it is the Hessian but for turns."""
    rig = gripper(9.81)
    state = start(rig, (2.0, 0.0, 1.0))
    at, speed = place_of(state), speed_of(state)
    zero = jnp.zeros(3)
    step = begun(rig, at, speed, state.mode, OutsidePush(zero, zero, zero, zero), jnp.asarray(0.01))
    push = jax.random.normal(jax.random.PRNGKey(0), at.nodes.shape) * 1e-6

    @jax.jit
    def compare(step: StepStart, at: GripperPlace) -> tuple[jax.Array, jax.Array]:
        none = jnp.zeros(6)
        _, wanted = jax.jvp(
            lambda shift: slope(rig, step, moved(at, Change(shift, none, none), 1.0)).nodes,
            (0 * push,),
            (push,),
        )
        shaft = matrix(rig, step, at, 0.0)
        flat = push.reshape(*shaft.vehicle.shape[:3], 1)
        made = shaft.blocks.diagonal @ flat
        made = made.at[:, 1:].add(shaft.blocks.below[:, 1:] @ flat[:, :-1])
        made = made.at[:, :-1].add(jnp.swapaxes(shaft.blocks.below[:, 1:], -1, -2) @ flat[:, 1:])
        pulls = jnp.einsum("fkrt,fkrc->ftc", shaft.tendons, flat) / -shaft.soft[..., None]
        made = made + jnp.einsum("fkrt,ftc->fkrc", shaft.tendons, pulls)
        return made.reshape(push.shape), wanted

    made, wanted = compare(step, at)
    np.testing.assert_allclose(made, wanted, rtol=1e-8, atol=1e-8 * float(jnp.abs(wanted).max()))
    assert np.isfinite(float(potential(rig, step, at)))


def test_distances_from_solids() -> None:
    random = np.random.default_rng(0).uniform(-0.06, 0.06, (200, 3))
    shapes = [
        Ball(radius=0.03),
        Box(size=np.array([0.05, 0.06, 0.07])),
        CAN,
        Prism(outline=np.array([[0.04, 0.0], [-0.02, 0.03], [-0.02, -0.03]]), height=0.06),
        SimpleNamespace(kind="mesh", corners=PYRAMID),
    ]
    for shape in shapes:
        solid = GraspedSolid.of(shape)
        gap, way = distance(solid, jnp.asarray(random))
        np.testing.assert_allclose(np.linalg.norm(way, axis=1), 1.0, atol=1e-6)
        # a small step along the way out changes the distance by as much
        again, _ = distance(solid, jnp.asarray(random) + 1e-7 * way)
        smooth = np.abs((np.asarray(again) - np.asarray(gap)) / 1e-7 - 1) < 1e-3
        assert smooth.mean() > 0.97
        assert (np.asarray(gap)[np.linalg.norm(random, axis=1) < 0.01] < 0).all()
    assert float(distance(GraspedSolid.of(CAN), jnp.array([[0.05, 0.0, 0.0]]))[0][0]) == pytest.approx(
        0.02, abs=1e-9
    )


def test_pinned_fingers_do_not_fly() -> None:
    with pytest.raises(InputError, match="fingers fly glued on"):
        SoftGripper.build(VEHICLE, OBJECT, FingerDesign(mount="pins"))


def test_quaternions_of_any_turn() -> None:
    from skyrig.algebra import rotation_matrix

    for q in np.random.default_rng(2).normal(size=(20, 4)):
        q = q / np.linalg.norm(q)
        back = np.asarray(as_quaternion(rotation_matrix(jnp.asarray(q))))
        assert abs(back @ q) == pytest.approx(1.0, abs=1e-12)
    assert RigidPose(jnp.zeros(3), jnp.eye(3)).turn.shape == (3, 3)
