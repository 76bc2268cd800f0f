"""All configurations that hold a pose within limits, as a sampled set: its volume, pictures and tables.

For three robots the set lives in the paper's coordinates {x1, y1, y2} (its Figs. 3 and 9); for other teams
in the coordinates z of `skyrig.statics.inverse.Pulls`, over the payload's weight. Samples are drawn evenly
from a box that holds the whole set, so that the share of valid ones is the set's volume over the box's, with
a standard error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from skyrig import checks
from skyrig.checks import Numbers
from skyrig.errors import InputError
from skyrig.statics.configuration import Configuration
from skyrig.statics.inverse import Limits, check_lift, misses, pulls, room
from skyrig.statics.push import UNDER
from skyrig.statics.team import Pose, Team
from skyrig.statics.three import frame, pulled

CHUNK = 20_000
"""Samples looked at together where no compiled form serves."""


@dataclass(frozen=True, eq=False)
class Workspace:
    """Samples of the configurations that hold a pose."""

    team: Team
    pose: Pose
    names: tuple[str, ...]
    """Of the coordinates."""
    box: Numbers
    """(d, 2) from where to where samples were drawn."""
    samples: Numbers
    """(N, d)."""
    room: dict[str, Numbers]
    """(N,) by limit: how far within it each sample is (see `skyrig.statics.inverse.room`)."""
    tension: Numbers
    """(N, n) N."""
    made: Callable[[Numbers], Configuration] = field(repr=False)
    """The configurations of coordinates (..., d)."""

    @property
    def valid(self) -> npt.NDArray[np.bool_]:
        """(N,) which samples keep to every limit, a push included if there is one."""
        return np.all([values >= 0 for values in self.room.values()], axis=0)

    @property
    def static(self) -> npt.NDArray[np.bool_]:
        """(N,) which samples keep to every limit while nothing pushes."""
        calm = [values >= 0 for name, values in self.room.items() if not name.endswith(UNDER)]
        return np.all(calm, axis=0)

    @property
    def share(self) -> float:
        """Of the samples that are valid."""
        return float(self.valid.mean())

    @property
    def volume(self) -> tuple[float, float]:
        """Volume of the valid set in its coordinates, and the standard error of that."""
        return self._volume(self.valid)

    @property
    def static_volume(self) -> tuple[float, float]:
        """The same of the set that is valid while nothing pushes."""
        return self._volume(self.static)

    def _volume(self, kept: npt.NDArray[np.bool_]) -> tuple[float, float]:
        whole = float(np.prod(self.box[:, 1] - self.box[:, 0]))
        p, n = float(kept.mean()), len(self.samples)
        return whole * p, whole * float(np.sqrt(max(p * (1 - p), 1 / n) / n))

    @property
    def trouble(self) -> str | None:
        """Which limit keeps every sample out, and by how much at best; None if some are valid."""
        if self.valid.any():
            return None
        whole = np.stack(list(self.room.values()))
        best = int(whole.min(axis=0).argmax())
        worst = int(whole[:, best].argmin())
        return misses(self.team, list(self.room)[worst], -float(whole[worst, best]))

    def configuration(self, rows: Any) -> Configuration:
        """The configurations of some samples, by a number, a slice or an array of rows."""
        return self.made(self.samples[rows])

    def shares(self) -> dict[str, float]:
        """Share of the samples that keeps to each limit by itself."""
        return {name: float((values >= 0).mean()) for name, values in self.room.items()}

    def table(self) -> dict[str, Numbers]:
        """Columns for other tools: coordinates, tensions (N), room in every limit, whether it is valid."""
        columns = {name: self.samples[:, k] for k, name in enumerate(self.names)}
        columns |= {f"tension_{k}": self.tension[:, k] for k in range(self.team.count)}
        columns |= {name.replace(" ", "_"): values for name, values in self.room.items()}
        return columns | {"valid": self.valid.astype(float)}


def workspace(
    team: Team,
    pose: Pose,
    limits: Limits | None = None,
    samples: int = 200_000,
    seed: int = 0,
) -> Workspace:
    """Sample the configurations that hold a pose.

    Args:
        team: The team.
        pose: Where the payload shall be.
        limits: What they must keep to; the defaults of `Limits` if left out.
        samples: How many.
        seed: Of the samples.

    Raises:
        InputError: If no pulls hold the pose, or the team cannot lift the payload.
    """
    check_lift(team)
    count = int(checks.positive("samples", samples))
    kept = (limits or Limits()).filled(team)
    rng = np.random.default_rng(seed)
    if team.count == 3 and team.freedoms == 6 and not team.hook.any() and not team.moment.any():
        return _three(team, pose, kept, count, rng)
    every = pulls(team, pose)
    d = every.free.shape[2]
    if d == 0:
        raise InputError("these cables can hold the pose in one way only: there is no set to sample.")
    # no pull is longer than the strongest vehicle's thrust and weight, so no z is
    reach = np.minimum(team.thrust_max + team.vehicle_mass * team.gravity, kept.tension_max or np.inf)
    size = float(np.sqrt((reach**2).sum())) / team.weight
    drawn = rng.uniform(-size, size, (count, d))

    def made(z: Numbers) -> Configuration:
        return Configuration(team, pose, every.at(z * team.weight))

    rooms: list[dict[str, Numbers]] = []
    tensions = []
    for begin in range(0, count, CHUNK):
        found = made(drawn[begin : begin + CHUNK])
        rooms.append({name: values.min(axis=-1) for name, values in room(found, kept).items()})
        tensions.append(found.tension)
    whole = {name: np.concatenate([each[name] for each in rooms]) for name in rooms[0]}
    names = tuple(f"z{k + 1}" for k in range(d))
    box = np.tile([-size, size], (d, 1))
    return Workspace(team, pose, names, box, drawn, whole, np.concatenate(tensions), made)


def _three(team: Team, pose: Pose, kept: Limits, count: int, rng: np.random.Generator) -> Workspace:
    from skyrig.statics.workspace_three import rooms_of

    at = frame(team, pose)
    if at.upward.min() <= 0:
        worst = int(at.upward.argmin())
        raise InputError(
            f"the pose is outside the workspace: cable {worst} would have to push with "
            f"{-at.upward[worst]:.3g} N."
        )
    strongest = np.minimum(team.thrust_max + team.vehicle_mass * team.gravity, kept.tension_max or np.inf)
    slope = np.sqrt(np.maximum((strongest / at.upward) ** 2 - 1, 0.0))
    if not slope.all():
        worst = int((strongest / at.upward).argmin())
        raise InputError(
            f"the pose is outside the workspace: cable {worst} pulls with {at.upward[worst]:.3g} N across "
            f"the payload's plane however it leans, more than its most of {strongest[worst]:.3g} N."
        )
    half = slope[[0, 0, 1]]
    drawn = rng.uniform(-1.0, 1.0, (count, 3)) * half
    rooms, tension = rooms_of(team, pose, at, kept, drawn)
    box = np.stack([-half, half], axis=1)

    def made(normalised: Numbers) -> Configuration:
        return Configuration(team, pose, pulled(at, normalised))

    return Workspace(team, pose, ("x1", "y1", "y2"), box, drawn, rooms, tension, made)
