"""A quadrotor with soft fingers and an object, as arrays, and where they are."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.rigs.bodies import Bodies
from skyrig.rigs.gripper.solid import GraspedSolid
from skyrig.rigs.layout import Drive, Group, Layout, SignalKind
from skyrig.rigs.protocol import Rig, State
from skyrig.soft.gripper import Gripper


class GripperMotion(eqx.Module):
    """What has a derivative."""

    vehicles: Bodies
    """(3, 1, *batch)."""
    payload: Bodies
    """The object, (3, 1, *batch)."""
    nodes: Float[Array, "fingers slices own 3 *batch"]
    """Of the fingers, without those of their bases (m, world)."""
    drift: Float[Array, "fingers slices own 3 *batch"]
    """Their velocities (m/s)."""


class Grip(eqx.Module):
    """Where things touch and stick: a spring along the surface, let go at the cone of friction."""

    anchor: Float[Array, "*shape 3"]
    """Where the point stuck: in the object's frame, or in the world (m)."""
    force: Float[Array, "*shape"]
    """Normal force at the end of the last step (N); zero where nothing touches."""


class GripperMode(eqx.Module):
    """What is held over a step."""

    lengths: Float[Array, "pairs *batch"]
    """Of the pairs of tendons, finger by finger, inner pair first (m)."""
    held: Grip
    """Fingers on the object, (fingers, slices, points)."""
    grazed: Grip
    """Fingers on the ground, (fingers, slices, points)."""
    stood: Grip
    """The object on the ground, (corners,)."""
    torque: Float[Array, "3 *batch"]
    """Of the fingers on the vehicle about its centre of mass, over the last step (N m, world)."""
    push: Float[Array, "3 2 *batch"]
    """Of all that touches the object on it, and of the fingers on the vehicle, likewise (N, world)."""


class GripperState(State):
    """Where a gripper is."""

    motion: GripperMotion
    mode: GripperMode


class GripperParameters(Rig):
    """One vehicle with soft fingers, and a solid object it may grasp, above level ground."""

    mechanism: ClassVar[str] = "gripper"
    integrator: ClassVar[str] = "own"

    mass: Float[Array, "1 *batch"]
    inertia: Float[Array, "3 3 1 *batch"]
    payload_mass: Float[Array, "*batch"]
    payload_inertia: Float[Array, "3 3 *batch"]
    gravity: Float[Array, "*batch"]
    fingers: Gripper
    solid: GraspedSolid
    skin: Float[Array, "points nodes"]
    """Weights of a slice's nodes in the points of its skin that may touch something."""
    area: Float[Array, "slices points"]
    """That these points stand for (m^2)."""
    friction: Float[Array, "*batch"]
    """Of fingers on the object."""
    ground_friction: Float[Array, "*batch"]
    """Of everything on the ground."""
    contact_stiffness: Float[Array, "*batch"]
    """Of the skin, N/m a m^2, pressed as well as rubbed."""
    ground_stiffness: Float[Array, "*batch"]
    """Of each corner of the object on the ground (N/m)."""
    floor: Float[Array, "*batch"]
    """Height of the ground (m)."""
    belt: Float[Array, "3 *batch"]
    """How fast the ground runs, as a conveyor belt does (m/s, level)."""
    ndims: tuple[int, ...] = eqx.field(static=True, default=())
    """How many axes each number has of its own, in the order of the tree: more are a batch's."""

    @property
    def count(self) -> int:
        """Number of vehicles."""
        return 1

    @property
    def layout(self) -> Layout:
        """One vehicle, one object, the fingers' signals, the tendons' drives."""
        return _layout(self.fingers.place.shape[0], self.fingers.finger.rest.shape[0])


@cache
def _layout(fingers: int, slices: int) -> Layout:
    pairs = 2 * fingers
    return Layout(
        groups=(Group("payload", 1), Group("vehicles", 1)),
        signals=(
            SignalKind("tendon.tension", "N", pairs, "pull of each pair of tendons, inner pair first"),
            SignalKind("tendon.length", "m", pairs, "length of each pair of tendons, inner pair first"),
            SignalKind("fingertip.gap", "m", fingers, "distance of each fingertip from the object's surface"),
            SignalKind("finger.force", "N", fingers, "press of each finger on the object"),
            SignalKind("ground.force", "N", 1, "press of the object on the ground"),
            SignalKind(
                "object.held", "", 1, "whether the object touches two fingers or more, and not the ground"
            ),
            SignalKind("gripper.torque", "N m", 3, "of the fingers on the vehicle, world x, y, z"),
            SignalKind("gripper.bound", "N m", 1, "what a rigid gripper's weight would turn it by (eq. 22)"),
            SignalKind("gripper.assumed", "", 1, "whether eq. 22's assumptions hold"),
            *(
                SignalKind(f"push.{axis}", "N", 2, f"on the object, of the fingers on the vehicle, {axis}")
                for axis in "xyz"
            ),
            SignalKind(
                "tendon.nodes", "m", 3 * 4 * slices * fingers, "along each finger's edges, xyz by xyz"
            ),
        ),
        drives=(Drive("tendon", "m", pairs), Drive("tendon_pace", "m/s", pairs)),
    )


def one_by_one(rig: GripperParameters, function: object, batch: int) -> object:
    """`function(rig, state, ...)` of one flight, for a batch of them behind every array, or for none."""
    run = function
    for _ in range(batch):
        leaves, tree = jax.tree.flatten(rig)
        shared = [None if leaf.ndim <= own else -1 for leaf, own in zip(leaves, rig.ndims, strict=True)]
        run = jax.vmap(run, in_axes=(jax.tree.unflatten(tree, shared), -1, -1, -1), out_axes=-1)  # pyright: ignore[reportArgumentType] - a tree of axes
    return run


def in_turn(rig: Any, state: Any, push: Any, dt: Array) -> Any:
    """The rig's `step_alone` of every flight of a batch, one after the other.

    One flight's step stays in the processor's caches, and waits for nobody else's turns of Newton's method;
    side by side, flights cost several times more.
    """
    if dt.ndim == 0:
        return rig.step_alone(state, push, dt)
    leaves, tree = jax.tree.flatten(rig)
    own = [k for k, (leaf, ndim) in enumerate(zip(leaves, rig.ndims, strict=True)) if leaf.ndim > ndim]

    def one(at: Any) -> Any:
        mine = list(leaves)
        for k, leaf in zip(own, at[0], strict=True):
            mine[k] = leaf
        return in_turn(jax.tree.unflatten(tree, mine), *at[1:])

    first = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, -1, 0), ([leaves[k] for k in own], state, push, dt))
    return jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, -1), jax.lax.map(one, first))


def no_grip(shape: tuple[int, ...]) -> Grip:
    """Nothing touches."""
    return Grip(jnp.zeros((*shape, 3)), jnp.zeros(shape))
