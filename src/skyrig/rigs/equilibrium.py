"""Hover: the state and inputs in which a rig stays where it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skyrig import checks


@dataclass(frozen=True)
class Trim:
    """An equilibrium of a rig."""

    state: Any
    thrust: np.ndarray
    """(n,) N."""
    moment: np.ndarray
    """(n, 3) N m, vehicles' body frames."""
    exact: bool
    """Whether the payload holds the pose that was asked for."""
    note: str
    """One sentence on what was found."""
    signals: dict[str, np.ndarray]
    """The rig's signals there, such as 'cable.tension' (n,) in N."""

    @property
    def tension(self) -> np.ndarray:
        """(n,) of the cables (N); empty where there are none."""
        return self.signals.get("cable.tension", np.zeros(0))


def trim(
    rig: Any,
    position: npt.ArrayLike,
    attitude: npt.ArrayLike = (1.0, 0.0, 0.0, 0.0),
    lean: float | None = None,
) -> Trim:
    """The hover of `rig` with its payload at a pose.

    Slung rigs hang on cables that lean outwards by `lean`; the payload keeps the attitude asked for if cables
    that only pull can hold it there, else it takes the nearest one in which they can, and `note` says so.
    Linked rigs can only hover with the thrusts upright: they keep the yaw and level out.

    Args:
        rig: The rig.
        position: (3,) where the payload's centre of mass shall be (m).
        attitude: (4,) quaternion wxyz of the payload.
        lean: Angle of the cables from the vertical (rad). By default 0, or 0.35 where several cables share
            one attachment point and would otherwise put the vehicles in one place.
    """
    return rig.trim(position, attitude, lean)


def checked_pose(position: Any, attitude: Any) -> tuple[np.ndarray, np.ndarray]:
    """A place (3,) and a unit quaternion (4,), checked."""
    return (
        checks.numbers("position", position, (3,)),
        checks.unit_quaternion("attitude", np.asarray(attitude, dtype=float)),
    )
