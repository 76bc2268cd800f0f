"""What hands do to a rig in flight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]


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

    @property
    def idle(self) -> bool:
        """Whether nothing is done."""
        return self.pose is self.share is self.force is self.torque is None
