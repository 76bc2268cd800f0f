"""What goes wrong in a flight while it is flown: the verdict of a recorded flight, tick by tick."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from skyrig.contacts import NONE, named
from skyrig.flight.flight import FlightEvent
from skyrig.flight.frames import Frames
from skyrig.flight.limits import Limits
from skyrig.flight.records import TEAM
from skyrig.flight.rig import RigData
from skyrig.flight.verdict import Outcome, Verdict, contacts_of, judge, outlines_of, place_of


class Judge:
    """Looks at frames as they come; see `skyrig.flight.verdict` for what it looks at.

    Attributes:
        held: When a cable last held what is carried (s); None if none ever did.
    """

    def __init__(self, rig: RigData, limits: Limits) -> None:
        self.rig, self.limits = rig, limits
        self.held: float | None = None
        self._shape = outlines_of(rig, limits)

    def look(self, frames: Frames, events: Iterable[FlightEvent]) -> Verdict | None:
        """What went wrong first in `frames`, or None; `events` are those of the whole flight so far."""
        times, team = frames.times, frames.bodies[TEAM]
        load = frames.bodies[self.rig.carried or TEAM]
        taut = np.asarray(frames.signals.get("cable.taut", np.zeros((len(times), 0), bool)), bool)
        cuts = {event.index: event.time for event in events if event.kind == "cut"}
        released = 0 < taut.shape[1] <= len(cuts)
        since = -np.inf if self.rig.carried is None else max(cuts.values()) if released else np.inf
        one = (load.position[:, 0], load.attitude[:, 0])
        found = contacts_of(self._shape, one, team, taut, times > since)
        holding = times[taut.any(axis=1)] if taut.shape[1] else times[:0]
        self.held = float(holding[-1]) if len(holding) else self.held
        hit = np.flatnonzero(found != NONE)
        row = int(hit[0]) if len(hit) else len(times) - 1
        contact = named(self.rig.count)[int(found[row])] if len(hit) else None
        place = place_of(contact, one[0][row], team.position[row])
        said = judge(
            Outcome(float(times[-1]), contact, float(times[row]), place, self.held, released), self.limits
        )
        return None if said.flew else said
