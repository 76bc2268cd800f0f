"""Commands that nobody decides in flight: thrusts and moments held by a table."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np
import numpy.typing as npt

from skyrig.algebra import as_jax
from skyrig.control.interface import Command, Target

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeldCommands:
    """Row k is held from `times[k]` to the next; give one to `skyrig.closed_loop` in a controller's place."""

    times: Numbers
    """(K,) since when, the first being 0 (s)."""
    thrust: Numbers
    """(K, n) along each vehicle's z axis (N)."""
    moment: Numbers
    """(K, n, 3) in each vehicle's body frame (N m)."""

    @property
    def target(self) -> Target:
        """The rows as targets of ticks, for a controller that passes them on."""
        rows = [
            Command(as_jax(push), as_jax(twist.T.copy()))
            for push, twist in zip(self.thrust, self.moment, strict=True)
        ]
        return Target(None, None, jax.tree.map(lambda *leaves: as_jax(np.stack(leaves)), *rows))
