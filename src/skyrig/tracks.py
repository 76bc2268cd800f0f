"""How bodies moved: the one form in which motions pass from simulations to flights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skyrig.arrays import Array
from skyrig.brief import brief
from skyrig.turns import point_at, point_velocity


@dataclass(frozen=True, eq=False)
class Track:
    """How one body, (T, 3), or the k bodies of a group, (T, k, 3), moved or were measured to move."""

    position: Array
    """Centre of mass in the world (m)."""
    velocity: Array
    """Velocity in the world (m/s)."""
    attitude: Array
    """Quaternion (w, x, y, z), body to world, (..., 4)."""
    rate: Array
    """Angular velocity in the body frame (rad/s)."""

    __repr__ = brief

    def one(self, index: int = 0) -> Track:
        """One body of a group."""
        return Track(*(leaf[:, index] for leaf in vars(self).values()))

    def at(self, rows: Any) -> Track:
        """Some of its times."""
        return Track(*(leaf[rows] for leaf in vars(self).values()))

    def point(self, point: tuple[float, float, float] | Array) -> tuple[Array, Array]:
        """Where points of the bodies are (m) and how fast they go (m/s) in the world."""
        arm = np.asarray(point, dtype=np.float64)
        place = point_at(self.position, self.attitude, arm)
        return place, point_velocity(self.velocity, self.attitude, self.rate, arm)
