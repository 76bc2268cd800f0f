"""What goes wrong in a flight while it is flown: the verdict of a recorded flight, tick by tick."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from skyrig.flight.flight import FlightEvent
from skyrig.flight.frames import Frames
from skyrig.flight.limits import FlightLimits
from skyrig.flight.records import TEAM
from skyrig.flight.rig import RigData
from skyrig.flight.verdict import Outcome, Verdict, judge, looked_on, outlines_of


class Judge:
    """Looks at frames as they come; see `skyrig.flight.verdict` for what it looks at.

    Attributes:
        held: When a cable last held what is carried (s); None if none ever did.
    """

    def __init__(self, rig: RigData, limits: FlightLimits) -> None:
        self.rig, self.limits = rig, limits
        self.held: float | None = None
        self._shape = outlines_of(rig, limits)

    def look(self, frames: Frames, events: Iterable[FlightEvent]) -> Verdict | None:
        """What went wrong first in `frames`, or None; `events` are those of the whole flight so far."""
        times, team = frames.times, frames.bodies[TEAM]
        load = frames.bodies[self.rig.carried or TEAM]
        taut = np.asarray(frames.signals.get("cable.taut", np.zeros((len(times), 0), bool)), bool)
        found = looked_on(
            Outcome(0.0, held=self.held),
            self._shape,
            times,
            (load.position[:, 0], load.attitude[:, 0]),
            (team.position, team.attitude),
            taut,
            events,
            self.rig.carried is not None,
        )
        self.held = found.held
        said = judge(found, self.limits)
        return None if said.flew else said
