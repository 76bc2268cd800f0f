"""What hands do to a rig in flight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skyrig.constants import GRAVITY
from skyrig.tracks import Track
from skyrig.turns import cross

Numbers = npt.NDArray[np.float64]

SPRING = 5.0
"""How fast a pulled body alone would swing on the spring (rad/s)."""
DAMPING = 0.4
"""Of that swing (1)."""
MOST_PULL = GRAVITY
"""Newtons a kilogram of the body: pulled up by more than its weight, a vehicle turns over to push down."""


@dataclass(frozen=True)
class Pull:
    """A spring from a point of a body to somewhere in the world."""

    group: str
    index: int
    point: Numbers
    """(3,) where it holds the body, in the body's frame (m)."""
    goal: Numbers
    """(3,) where it pulls to, world (m)."""
    mass: float
    """Of the body (kg)."""
    who: int = -1
    """Which viewer pulls."""

    def wrench(self, moving: Track) -> tuple[Numbers, Numbers]:
        """Force (N) and torque about the centre of mass (N m), world, on the body of a group in motion."""
        one = Track(*(leaf[self.index] for leaf in vars(moving).values()))
        at, speed = one.point(self.point)
        force = self.mass * (SPRING**2 * (self.goal - at) - 2 * DAMPING * SPRING * speed)
        size = float(np.linalg.norm(force))
        force = force * min(1.0, MOST_PULL * self.mass / max(size, 1e-9))
        return force, cross(at - one.position, force)


@dataclass(frozen=True)
class Hands:
    """What somebody does to the rig until they do something else; nothing at all by default."""

    pose: tuple[Numbers, Numbers] | None = None
    """Where the payload shall hover instead of following its reference: position (m) and roll, pitch, yaw."""
    share: Numbers | None = None
    """(n,) share of its thrust that each vehicle's rotors are left with."""
    force: Numbers | None = None
    """(3,) on the payload, world frame (N)."""
    torque: Numbers | None = None
    """(3,) on the payload, world frame (N m)."""
    pull: Pull | None = None
    """What the mouse pulls at."""

    @property
    def idle(self) -> bool:
        """Whether nothing is done."""
        return self.pose is self.share is self.force is self.torque is self.pull is None

    @property
    def pushing(self) -> bool:
        """Whether forces or torques act."""
        return not (self.force is self.torque is self.pull is None)


def moving(bodies: Any) -> Track:
    """The bodies of a group at one moment, (k, 3), from those of a rig, (3, k)."""
    leaves = (bodies.position, bodies.velocity, bodies.attitude, bodies.rate)
    return Track(*(np.asarray(leaf, float).T for leaf in leaves))
