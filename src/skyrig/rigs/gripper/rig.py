"""The gripper: built from parts, placed, and flown by `sim`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from skyrig import checks
from skyrig.algebra import as_jax, rotation_matrix
from skyrig.constants import GRAVITY
from skyrig.errors import InputError
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.cables import passed
from skyrig.rigs.equilibrium import Trim, checked_pose
from skyrig.rigs.gripper.dynamics import GripperDynamics
from skyrig.rigs.gripper.parameters import GripperMode, GripperMotion, GripperState, no_grip
from skyrig.rigs.gripper.solid import GraspedSolid
from skyrig.soft.equilibrium import equilibrium
from skyrig.soft.gripper import LEVEL, Gripper, each_tendon, felt, in_body
from skyrig.soft.mesh import FingerDesign
from skyrig.soft.shapes import slice_of

ALONG = 3
"""Rows of points of the skin along a slice, at least."""
HOVERING = 0.35
"""How far above the object the vehicle of `trim` is (m)."""


class SoftGripper(GripperDynamics):
    """A vehicle with soft fingers and an object to grasp; build one with `SoftGripper.build`."""

    @classmethod
    def build(
        cls,
        vehicle: Any,
        payload: Any,
        design: FingerDesign | None = None,
        fingers: int = 4,
        radius: float = 0.06,
        drop: float = 0.02,
        shortest: float | None = None,
        longest: float | None = None,
        friction: float = 0.8,
        ground_friction: float = 0.5,
        contact_stiffness: float = 3e7,
        ground_stiffness: float = 2e3,
        floor: float = 0.0,
        belt: Any = (0.0, 0.0),
        gravity: float = GRAVITY,
    ) -> SoftGripper:
        """A gripper from its parts.

        Args:
            vehicle: Anything with `mass` (kg) and `inertia` (kg m^2), such as `skyrig.airframe(name)`.
            payload: The object: `mass` (kg), `shape`, and `inertia` (None for a uniform ball).
            design: Of every finger.
            fingers: From two to eight.
            radius: Of the ring of their bases (m).
            drop: Of the bases below the vehicle's centre of mass (m).
            shortest: Least length of the tendons (m).
            longest: Largest length of the tendons (m).
            friction: Of fingers on the object.
            ground_friction: Of everything on the ground.
            contact_stiffness: Of the skin (N/m a m^2).
            ground_stiffness: Of each corner of the object on the ground (N/m).
            floor: Height of the ground (m).
            belt: How fast the ground runs, along x and y (m/s).
            gravity: m/s^2, downwards.
        """
        design = FingerDesign() if design is None else design
        if design.mount != "clamp":
            raise InputError(f"fingers fly glued on, with mount 'clamp', not '{design.mount}'.")
        ring = Gripper.build(design, fingers, radius, drop, shortest, longest)
        mass = passed(checks.positive, "payload.mass", payload.mass)
        if payload.inertia is None:
            inertia = 0.4 * mass * payload.shape.radius**2 * np.eye(3)
        else:
            inertia = passed(checks.inertia, "payload.inertia", payload.inertia)
        skin, area = cls.skin_of(design)
        own = passed(checks.inertia, "vehicle.inertia", vehicle.inertia)
        made = cls(
            mass=as_jax([passed(checks.positive, "vehicle.mass", vehicle.mass)]),
            inertia=as_jax(np.asarray(own)[:, :, None]),
            payload_mass=as_jax(mass),
            payload_inertia=as_jax(inertia),
            gravity=as_jax(gravity),
            fingers=ring,
            solid=GraspedSolid.of(payload.shape),
            skin=as_jax(skin),
            area=as_jax(area),
            friction=as_jax(checks.nonnegative("friction", friction)),
            ground_friction=as_jax(checks.nonnegative("ground_friction", ground_friction)),
            contact_stiffness=as_jax(checks.positive("contact_stiffness", contact_stiffness)),
            ground_stiffness=as_jax(checks.positive("ground_stiffness", ground_stiffness)),
            floor=as_jax(floor),
            belt=as_jax(np.append(checks.numbers("belt", belt, (2,)), 0.0)),
        )
        return replace(made, ndims=tuple(leaf.ndim for leaf in jax.tree.leaves(made)))

    def placed(self, bodies: dict[str, Bodies]) -> GripperState:
        """A start with vehicle and object as given, the fingers hanging at rest with straight tendons."""
        craft, thing = bodies["vehicles"], bodies["payload"]
        ring = self.fingers
        nodes, drift = self.hung(craft)
        points = (ring.place.shape[0], *self.area.shape)
        mode = GripperMode(
            ring.straight.reshape(-1),
            no_grip(points),
            no_grip(points),
            no_grip((self.solid.corners.shape[0],)),
            jnp.zeros(3),
            jnp.zeros((3, 2)),
        )
        return GripperState(GripperMotion(craft, thing, nodes, drift), mode)

    def trim(self, position: Any, attitude: Any = LEVEL, lean: float | None = None) -> Trim:
        """The object at a pose, whatever holds it there, and the vehicle still above it."""
        place, turned = checked_pose(position, attitude)
        craft, thing = Bodies.still(place + [0.0, 0.0, HOVERING]), Bodies.still(place)
        thing = replace(thing, attitude=as_jax(turned[:, None]))
        state = self.placed({"vehicles": craft, "payload": thing})
        weight = float(self.gravity * (self.mass[0] + self.fingers.mass))
        note = f"The vehicle is {HOVERING:g} m above the object."
        return Trim(state, np.array([weight]), np.zeros((1, 3)), True, note, {})

    @staticmethod
    def skin_of(design: FingerDesign) -> tuple[np.ndarray, np.ndarray]:
        """Weights of a slice's nodes in the points of its skin, and the areas these stand for (m^2)."""
        return _skin(design)

    def hung(self, craft: Bodies) -> tuple[Array, Array]:
        """The fingers' nodes and their velocities, at rest below a vehicle."""
        turn = rotation_matrix(craft.attitude[:, 0])
        place = in_body(self.fingers, _hung(self.fingers, turn, self.gravity)[:, 1:]) @ turn.T
        drift = craft.velocity[:, 0] + jnp.cross(turn @ craft.rate[:, 0], place)
        return craft.position[:, 0] + place, drift

    def shifted(self, state: GripperState, bodies: dict[str, Bodies]) -> GripperState:
        """`state` with vehicle and object elsewhere; the fingers go along, anchors are let go."""
        fresh = self.placed({group: jax.tree.map(jnp.asarray, it) for group, it in bodies.items()})
        return GripperState(fresh.motion, eqx.tree_at(lambda it: it.lengths, fresh.mode, state.mode.lengths))


@eqx.filter_jit
def _hung(ring: Gripper, turn: Any, gravity: Any) -> Any:
    return equilibrium(ring.finger, each_tendon(ring.straight), felt(ring, turn, gravity)).blocks


def _skin(design: FingerDesign) -> tuple[np.ndarray, np.ndarray]:
    """Points of the inner and outer faces of a slice and of the tip, and the areas they stand for (m^2).

    Rows are not further apart than points of a row are: an edge of the object would go in between.
    """
    part = slice_of(design.elements, design.cells)
    count = max(ALONG, int(np.ceil(2 * design.length / design.slices / design.width - 1e-9)))
    rows = (2 * np.arange(count) + 1) / count - 1
    sides = [(x, y, z) for x in (-1.0, 1.0) for z in rows for y in (-1.0, 0.0, 1.0)]
    tip = [(x, y, 1.0) for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0)]
    strip = design.length / design.slices / count * design.width
    share = {-1.0: 0.25, 0.0: 0.5, 1.0: 0.25}
    area = np.zeros((design.slices, len(sides) + len(tip)))
    area[:, : len(sides)] = [strip * share[y] for _, y, _ in sides]
    area[-1, len(sides) :] = [design.width**2 * share[x] * share[y] for x, y, _ in tip]
    return part.at(np.array(sides + tip)), area
