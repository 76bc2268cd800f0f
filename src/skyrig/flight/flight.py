"""A flight: everything that came out, as plain NumPy arrays with times first and xyz last."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from skyrig.brief import brief

if TYPE_CHECKING:
    from skyrig.flight.verdict import Verdict

Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Track:
    """How one body, (T, 3), or n vehicles, (T, n, 3), moved or were measured to move."""

    position: Reals
    """Centre of mass in the world (m)."""
    velocity: Reals
    """Velocity in the world (m/s)."""
    attitude: Reals
    """Quaternion (w, x, y, z), body to world, (..., 4)."""
    rate: Reals
    """Angular velocity in the body frame (rad/s)."""

    __repr__ = brief


@dataclass(frozen=True, eq=False)
class Wanted:
    """The reference at the flight's times: of the payload, (T, 3), or of n vehicles, (T, n, 3)."""

    position: Reals
    """World (m)."""
    velocity: Reals
    """World (m/s)."""
    acceleration: Reals
    """World (m/s^2)."""
    attitude: Reals
    """Quaternion (w, x, y, z), body to world, (..., 4)."""
    rate: Reals
    """Body rate in the body frame (rad/s)."""

    __repr__ = brief


@dataclass(frozen=True, eq=False)
class Cables:
    """The cables; no columns where vehicles are rigidly linked."""

    tension: Reals
    """(T, n) N."""
    length: Reals
    """(T, n) free length (m)."""
    taut: Bools
    """(T, n)."""

    __repr__ = brief


@dataclass(frozen=True, eq=False)
class Inputs:
    """What was asked of the vehicles and what their rotors gave, each row held until the next."""

    times: Reals
    """(K,) since when (s)."""
    commanded_thrust: Reals
    """(K, n) along each vehicle's z axis (N)."""
    commanded_moment: Reals
    """(K, n, 3) in each vehicle's body frame (N m)."""
    thrust: Reals
    """(K, n) produced (N)."""
    moment: Reals
    """(K, n, 3) produced (N m)."""
    saturated: Reals
    """(K, n) share of the vehicle's rotors that are at a limit (1)."""

    __repr__ = brief


@dataclass(frozen=True, eq=False)
class RigData:
    """What metrics and drawings need to know of the rig."""

    mechanism: str
    """'cables' or 'links'."""
    payload_mass: float
    """kg."""
    payload_is_point: bool
    """Whether the payload has no attitude."""
    payload_corners: Reals
    """(c, 3) in the payload frame (m)."""
    vehicle_mass: Reals
    """(n,) kg."""
    vehicle_radius: Reals
    """(n,) with propellers (m)."""
    vehicle_thrust_max: Reals
    """(n,) all rotors together (N)."""
    attachments: Reals
    """(n, 3) in the payload frame (m)."""
    hooks: Reals
    """(n, 3) in the vehicles' frames (m)."""

    __repr__ = brief

    @property
    def count(self) -> int:
        """How many vehicles there are."""
        return len(self.vehicle_mass)


@dataclass(frozen=True)
class FlightEvent:
    """Something that happened at an instant."""

    time: float
    """When (s)."""
    kind: str
    """'impact', 'taut', 'slack', 'cut', 'poke' or 'ground' (the payload passes z = 0)."""
    cable: int | None = None
    """Which cable, counted from 0; None where none is concerned."""
    impulse: float = 0.0
    """Impulse along the cable at an impact; size of the impulse of a poke (N s)."""


@dataclass(frozen=True, eq=False)
class Impact:
    """One cable's impact. Its direction points from the vehicle to the payload, so apart is positive."""

    time: float
    """When (s)."""
    cable: int
    """Which cable, counted from 0."""
    impulse: float
    """Impulse along the cable (N s)."""
    along: Reals
    """(2,) velocity of the payload's end against the vehicle's along the cable, before and after (m/s)."""
    across: Reals
    """(2,) the same across the cable: the size of what is left (m/s)."""
    payload_velocity: Reals
    """(2, 3) before and after (m/s), world."""
    vehicle_velocity: Reals
    """(2, 3) of the cable's vehicle, before and after (m/s), world."""
    momentum: Reals
    """(2, 3) of payload and all vehicles together, before and after (kg m/s), world."""

    __repr__ = brief


@dataclass(frozen=True, eq=False)
class Flight:
    """What came out of flying a scenario."""

    name: str
    """The scenario's."""
    times: Reals
    """(T,) of every array below that has no times of its own (s)."""
    payload: Track
    """As it truly moved, (T, 3)."""
    vehicles: Track
    """As they truly moved, (T, n, 3)."""
    cables: Cables
    inputs: Inputs
    rig: RigData
    reference: Wanted | None = None
    """Of the payload, (T, 3)."""
    vehicle_references: Wanted | None = None
    """Of each vehicle, (T, n, 3)."""
    measured_payload: Track | None = None
    """What the controller was told, at the times of `inputs`, (K, 3); None without a controller."""
    measured_vehicles: Track | None = None
    """The same of the vehicles, (K, n, 3)."""
    events: tuple[FlightEvent, ...] = ()
    """In order of time."""
    impacts: tuple[Impact, ...] = ()
    """Velocities on either side of each impact; none where rotors lag."""
    signals: dict[str, Reals] = field(default_factory=dict, repr=False)
    """What the controller said of itself, (K, n) each, at the times of `inputs`: of `cables`, cable_belief
    (0 taut, 1 slack, 2 cut) and missing_thrust (N)."""
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
        team = f"{self.rig.count} {noun} on {self.rig.mechanism}"
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
