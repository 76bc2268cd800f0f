"""What comes out of a flight, as arrays with times first and xyz last."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Array, Bool, Float

from skyrig.sim.events import Event
from skyrig.sim.log import Log
from skyrig.tracks import Track

Reals = Float[Array, "..."] | Float[np.ndarray, "..."]


@dataclass(frozen=True)
class Recorded:
    """How bodies moved and signals went; times first in every array."""

    times: np.ndarray
    """(T,) s."""
    bodies: dict[str, Track]
    """By group, (T, k, 3) and (T, k, 4)."""
    signals: dict[str, Any]
    """By name, (T, count), in the units of the rig's layout; just before the inputs change, where they do."""
    events: list[Event] = field(repr=False)
    """In order of time; empty while tracing."""
    final: Any = field(repr=False)
    """The rig's state at the end, to go on from."""
    log: Log = field(repr=False)

    @property
    def payload(self) -> Track:
        """(T, 3) and (T, 4)."""
        return self.bodies["payload"].one()

    @property
    def vehicles(self) -> Track:
        """(T, n, 3) and (T, n, 4)."""
        return self.bodies["vehicles"]

    @property
    def tension(self) -> Reals:
        """(T, n) of the cables (N); none where there are no cables."""
        return self._of_cables("cable.tension")

    @property
    def taut(self) -> Bool[Array, "..."] | Bool[np.ndarray, "..."]:
        """(T, n) whether each cable is taut."""
        return self._of_cables("cable.taut", bool)

    @property
    def cable_length(self) -> Reals:
        """(T, n) free lengths (m)."""
        return self._of_cables("cable.length")

    def _of_cables(self, name: str, kind: Any = float) -> Any:
        known = self.signals.get(name)
        return np.zeros((len(self.times), 0), kind) if known is None else known
