"""Soft fingers in a ring below a vehicle, and where their tips are for given tendon lengths."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Shaped

from skyrig import checks
from skyrig.algebra import as_jax, rotation_matrix
from skyrig.constants import GRAVITY
from skyrig.errors import InputError
from skyrig.soft.equilibrium import FingerEquilibrium, equilibrium, polished, tips
from skyrig.soft.mesh import Finger, FingerDesign, finger

SHORTEST, LONGEST = 2 / 3, 19 / 18
"""How far tendons can be pulled in and let out, in lengths of the finger."""


LEVEL = (1.0, 0.0, 0.0, 0.0)


class Gripper(eqx.Module):
    """Fingers that hang from a vehicle, each with an inner and an outer pair of tendons.

    A pair is pulled as one, so that fingers do not twist: lengths are (fingers, 2), inner pair first.
    """

    finger: Finger
    place: Float[Array, "fingers 3"]
    """Of the fingers' bases, in the vehicle's frame (m)."""
    turn: Float[Array, "fingers 3 3"]
    """From the fingers' frames to the vehicle's; x points to the axis, z along the finger, down."""
    shortest: Float[Array, ""]
    """m."""
    longest: Float[Array, ""]
    """m."""

    @staticmethod
    def build(
        design: FingerDesign | None = None,
        fingers: int = 4,
        radius: float = 0.06,
        drop: float = 0.02,
        shortest: float | None = None,
        longest: float | None = None,
    ) -> Gripper:
        """A ring of fingers, the first half a spacing beyond the vehicle's x axis.

        Args:
            design: Of every finger; the paper's if left out.
            fingers: From two to eight.
            radius: Of the ring of bases (m).
            drop: Of the bases below the vehicle's centre of mass (m).
            shortest: A tendon can be pulled to this (m); two thirds of the finger if left out.
            longest: A tendon can be let out to this (m); a bit more than the finger if left out.
        """
        design = FingerDesign() if design is None else design
        if not 2 <= fingers <= 8:
            raise InputError(f"fingers must be from 2 to 8, not {fingers}.")
        checks.positive("radius", radius)
        low = SHORTEST * design.length if shortest is None else shortest
        high = LONGEST * design.length if longest is None else longest
        if not 0 < low < design.length <= high:
            raise InputError(
                f"shortest and longest must enclose the finger's {design.length:g} m, not {low:g}, {high:g}."
            )
        angle = np.pi / fingers + 2 * np.pi * np.arange(fingers) / fingers
        none, one = np.zeros(fingers), np.ones(fingers)
        inward = np.stack([-np.cos(angle), -np.sin(angle), none], 1)
        down = np.stack([none, none, -one], 1)
        turn = np.stack([inward, np.cross(down, inward), down], -1)
        place = -radius * inward - [0.0, 0.0, drop]
        return Gripper(finger(design), as_jax(place), as_jax(turn), as_jax(low), as_jax(high))

    @property
    def fingers(self) -> int:
        """How many."""
        return self.place.shape[0]

    @property
    def straight(self) -> Float[Array, "fingers 2"]:
        """Lengths at which the tendons of fingers at rest are just straight (m)."""
        return jnp.broadcast_to(self.finger.length, (self.fingers, 2))

    @property
    def mass(self) -> Float[Array, ""]:
        """Of all fingers (kg)."""
        return self.fingers * self.finger.mass


def each_tendon(lengths: Shaped[Array, "fingers 2"]) -> Shaped[Array, "fingers 4"]:
    """Lengths of all tendons, or whether they pull, from those of the pairs."""
    return jnp.repeat(lengths, 2, axis=-1)


def felt(
    gripper: Gripper, rotation: Float[Array, "3 3"], gravity: Any = GRAVITY
) -> Float[Array, "fingers 3"]:
    """Gravity in the fingers' frames when the vehicle is turned by `rotation` (m/s^2)."""
    down = jnp.asarray([0.0, 0.0, -1.0]) * gravity
    return jnp.einsum("fji,kj,k->fi", gripper.turn, rotation, down)


def in_body(gripper: Gripper, points: Float[Array, "fingers ... 3"]) -> Float[Array, "fingers ... 3"]:
    """Points of the fingers' frames in the vehicle's frame (m)."""
    place = gripper.place.reshape((gripper.fingers,) + (1,) * (points.ndim - 2) + (3,))
    return place + jnp.einsum("fij,f...j->f...i", gripper.turn, points)


def shape(gripper: Gripper, lengths: Any, attitude: Any = LEVEL) -> FingerEquilibrium:
    """Where the fingers' nodes come to rest, in their own frames (eq. 10).

    Args:
        gripper: The fingers.
        lengths: (fingers, 2) of the inner and outer pairs of tendons (m).
        attitude: Of the vehicle, wxyz.
    """
    return _shape(gripper, *_checked(gripper, lengths, attitude))


def fingertips(
    gripper: Gripper,
    lengths: Any,
    position: Any = (0.0, 0.0, 0.0),
    attitude: Any = LEVEL,
) -> Float[Array, "fingers 3"]:
    """Where the fingertips come to rest (m, world), differentiable by lengths, pose and the fingers' numbers.

    Args:
        gripper: The fingers.
        lengths: (fingers, 2) of the inner and outer pairs of tendons (m).
        position: Of the vehicle (m).
        attitude: Of the vehicle, wxyz.
    """
    own, turn = _checked(gripper, lengths, attitude)
    return _fingertips(gripper, own, jnp.asarray(position, own.dtype), turn)


def _checked(gripper: Gripper, lengths: Any, attitude: Any) -> tuple[Array, Array]:
    own = jnp.asarray(lengths, gripper.place.dtype)
    if own.shape != (gripper.fingers, 2):
        raise InputError(f"lengths must be of shape ({gripper.fingers}, 2), a finger a row, not {own.shape}.")
    return own, rotation_matrix(jnp.asarray(attitude, own.dtype))


@eqx.filter_jit
def _shape(gripper: Gripper, lengths: Array, rotation: Array) -> FingerEquilibrium:
    return equilibrium(gripper.finger, each_tendon(lengths), felt(gripper, rotation))


@eqx.filter_jit
def _fingertips(gripper: Gripper, lengths: Array, position: Array, rotation: Array) -> Array:
    tendons, down = each_tendon(lengths), felt(gripper, rotation)
    found = equilibrium(*jax.lax.stop_gradient((gripper.finger, tendons, down)))
    blocks = polished(gripper.finger, found, tendons, down)
    return position + in_body(gripper, tips(gripper.finger, blocks)) @ rotation.T
