"""A flight: everything that came out, as plain NumPy arrays with times first and xyz last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skyrig.errors import InputError
from skyrig.flight.records import (
    PAYLOAD,
    TEAM,
    CableSignals,
    FlightEvent,
    Impact,
    Inputs,
    Reals,
    ReferenceTrack,
    Signal,
)
from skyrig.flight.rig import RigData
from skyrig.tracks import Track

if TYPE_CHECKING:
    from skyrig.flight.verdict import Verdict

LEAST_CHANGE = 0.01
"""Impacts that change the payload's speed by less than this are left out of tables and plots (m/s)."""

__all__ = [
    "CableSignals",
    "Flight",
    "FlightEvent",
    "Impact",
    "Inputs",
    "RigData",
    "Signal",
    "Track",
    "ReferenceTrack",
]


@dataclass(frozen=True, eq=False)
class Flight:
    """What came out of flying a scenario."""

    name: str
    """The scenario's."""
    times: Reals
    """(T,) of every array below that has no times of its own (s)."""
    bodies: Mapping[str, Track]
    """As they truly moved, by group, (T, k, 3): 'vehicles', and 'payload' or what the rig has instead."""
    inputs: Inputs
    rig: RigData
    references: Mapping[str, ReferenceTrack] = field(default_factory=dict)
    """Where bodies shall be, by group, (T, k, 3)."""
    measured: Mapping[str, Track] = field(default_factory=dict)
    """What the controller was told, by group, at the times of `inputs`, (K, k, 3); empty without one."""
    signals: Mapping[str, Signal] = field(default_factory=dict, repr=False)
    """What the rig and the controller tell besides, by name: 'cable.tension', say, or of the controller
    `cables` its 'cable_belief' (0 taut, 1 slack, 2 cut) and 'missing_thrust' (N)."""
    events: tuple[FlightEvent, ...] = ()
    """In order of time."""
    jumps: Mapping[str, Track] = field(default_factory=dict, repr=False)
    """Bodies on both sides of jumps, by group, (J, 2, k, 3): just before and just after."""
    impacts: tuple[Impact, ...] = ()
    """What the cables' impacts did, from both sides of each."""
    scenario: str = field(default="", repr=False)
    """The scenario as YAML."""
    metrics: dict[str, Any] = field(default_factory=dict, repr=False)
    """See `skyrig.flight.metrics`."""
    versions: dict[str, str] = field(default_factory=dict, repr=False)
    """Of skyrig, Python and what computed the flight."""

    @property
    def duration(self) -> float:
        """From the first time to the last (s)."""
        return float(self.times[-1] - self.times[0])

    @property
    def payload(self) -> Track:
        """The payload as it truly moved, (T, 3).

        Raises:
            InputError: If the rig has none.
        """
        if PAYLOAD not in self.bodies:
            raise InputError(f"{self.name} has no payload: flight.bodies has {', '.join(self.bodies)}.")
        return self.bodies[PAYLOAD].one()

    @property
    def vehicles(self) -> Track:
        """The vehicles as they truly moved, (T, n, 3)."""
        return self.bodies[TEAM]

    @property
    def carried(self) -> Track | None:
        """The payload, or the first body of what the rig has instead, (T, 3); None for a bare team."""
        group = self.rig.carried
        track = None if group is None else self.bodies.get(group)
        return None if track is None else track.one()

    @property
    def cables(self) -> CableSignals:
        """The cables' signals; no columns where there are no cables.

        Of what the rig does not tell, tensions and lengths are NaN, and cables are taut.
        """
        names = ("tension", "length", "taut")
        known = {
            name: self.signals[f"cable.{name}"].values for name in names if f"cable.{name}" in self.signals
        }
        blank = np.full(next((it.shape for it in known.values()), (len(self.times), 0)), np.nan)
        tension, length = (known.get(name, blank) for name in names[:2])
        return CableSignals(tension, length, known.get("taut", np.ones_like(blank)).astype(bool, copy=False))

    @property
    def reference(self) -> ReferenceTrack | None:
        """Of what is carried, (T, 3)."""
        group = self.rig.carried
        wanted = None if group is None else self.references.get(group)
        return None if wanted is None else wanted.one()

    @property
    def vehicle_references(self) -> ReferenceTrack | None:
        """Of each vehicle, (T, n, 3)."""
        return self.references.get(TEAM)

    @property
    def measured_payload(self) -> Track | None:
        """What the controller was told of the payload, at the times of `inputs`, (K, 3)."""
        return self.measured[PAYLOAD].one() if PAYLOAD in self.measured else None

    @property
    def measured_vehicles(self) -> Track | None:
        """The same of the vehicles, (K, n, 3)."""
        return self.measured.get(TEAM)

    @property
    def least_impulse(self) -> float:
        """The smallest impulse of an impact that tables and plots show (N s)."""
        return LEAST_CHANGE * self.rig.payload_mass

    @property
    def shown_impacts(self) -> list[Impact]:
        """The impacts that tables show, in order of time: those that are large enough."""
        return [it for it in self.impacts if it.impulse >= self.least_impulse]

    @property
    def shown_events(self) -> list[FlightEvent]:
        """The events without impacts that are too small for tables."""
        return [it for it in self.events if it.kind != "impact" or it.impulse >= self.least_impulse]

    @property
    def hardest_impact(self) -> Impact | None:
        """The impact with the largest impulse of those that tables show; None without any."""
        return max(self.shown_impacts, key=lambda it: it.impulse, default=None)

    def signal_at(self, name: str) -> Any:
        """The values of a signal at the flight's times, (T, count); held ones by their latest row."""
        signal = self.signals[name]
        return signal.values[self.inputs.rows(self.times)] if signal.held else signal.values

    def thinned(self, rate: float | None = None) -> Flight:
        """A copy with at most `rate` samples a second (Hz); metrics, events and impacts stay as they are.

        Without a rate, as many as a file of 5 MB a minute holds: what `skyrig fly` writes.
        """
        from skyrig.flight.thinning import thinned

        return thinned(self, rate)

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row a sample, indexed by time (s), and the columns of the CSV file."""
        from skyrig.flight.export import to_pandas

        return to_pandas(self)

    def __repr__(self) -> str:
        noun = "vehicle" if self.rig.count == 1 else "vehicles"
        team = f"{self.rig.count} {noun} {self.rig.words}"
        story = f"{len(self.times)} samples, {len(self.events)} events"
        return f"Flight({self.name!r}, {team}, {self.duration:g} s, {story})"

    def _repr_html_(self) -> str:
        from skyrig.flight.notebook import flight_html

        return flight_html(self)

    @property
    def verdict(self) -> Verdict:
        """Whether it flew as asked, and if not, why; worked out now if its metrics do not know."""
        from skyrig.flight.verdict import Verdict, verdict

        known = self.metrics.get("verdict")
        return verdict(self) if known is None else Verdict(**known)

    def save(self, path: str | Path) -> Path:
        """Write one file: `path` itself if it ends in .npz, else flight.npz in the folder `path`.

        It appears whole or not at all, whenever the process may be stopped.
        """
        from skyrig.flight.storage import save

        return save(self, Path(path))

    def plot(self, folder: str | Path) -> list[Path]:
        """Draw every picture that shows something as PNG files in `folder`, and say where they are."""
        from skyrig.flight.plots import save_all

        return save_all(self, Path(folder))

    @staticmethod
    def load(path: str | Path) -> Flight:
        """The flight in a file, or in the flight.npz of a folder."""
        from skyrig.flight.storage import load

        return load(Path(path))
