"""What a flight is made of: motions, references, signals, inputs, events, as NumPy arrays, times first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from skyrig.brief import brief

Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

TEAM = "vehicles"
"""The group of those who fly."""
PAYLOAD = "payload"
"""The group of what is carried, in most rigs."""


@dataclass(frozen=True, eq=False)
class ReferenceTrack:
    """The reference at the flight's times: of one body, (T, 3), or of the k bodies of a group, (T, k, 3)."""

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

    def one(self, index: int = 0) -> ReferenceTrack:
        """That of one body of a group."""
        return ReferenceTrack(*(leaf[:, index] for leaf in vars(self).values()))

    def at(self, rows: Any) -> ReferenceTrack:
        """Some of its times."""
        return ReferenceTrack(*(leaf[rows] for leaf in vars(self).values()))


@dataclass(frozen=True, eq=False)
class Signal(np.lib.mixins.NDArrayOperatorsMixin):
    """A named quantity over time; NumPy takes it for its values, in arithmetic and comparisons too."""

    values: npt.NDArray[Any]
    """(T, count) at the flight's times, or (K, count) at those of its inputs."""
    unit: str
    """Such as 'N'; '1' for a pure number, '' for a flag."""
    says: str = ""
    """What it is, in a few words."""
    owner: str = ""
    """Whose it is: 'cable', say, or 'controller'."""
    held: bool = False
    """Whether its times are those of the inputs, each row held until the next."""

    __repr__ = brief

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the values."""
        return self.values.shape

    @property
    def count(self) -> int:
        """How many owners have one."""
        return self.values.shape[1]

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **more: Any) -> Any:
        """What NumPy makes of the values."""
        plain = [it.values if isinstance(it, Signal) else it for it in inputs]
        return getattr(function, method)(*plain, **more)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Any:
        """Some of the values."""
        return self.values[rows]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """The values."""
        made = self.values if dtype is None else self.values.astype(dtype, copy=False)
        return made.copy() if copy else made


@dataclass(frozen=True, eq=False)
class CableSignals:
    """The cables; no columns where there are none."""

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

    def rows(self, times: Reals) -> npt.NDArray[np.integer]:
        """Rows in force at `times` (s): the latest that are not after them."""
        return np.clip(np.searchsorted(self.times, times + 1e-9, side="right") - 1, 0, None)


@dataclass(frozen=True)
class FlightEvent:
    """Something that happened at an instant."""

    time: float
    """When (s)."""
    kind: str
    """'impact', 'taut', 'slack' of a cable; 'cut', 'poke', 'ground' (what is carried passes z = 0); or a
    word of the mechanism's own."""
    owner: str = ""
    """To what it happened: 'cable', or a group of bodies."""
    index: int | None = None
    """To which of them, counted from 0; None for none in particular."""
    value: float = 0.0
    """The number that goes with it: an impact's impulse along its cable, the size of a poke's (N s)."""
    unit: str = ""
    """Of the value; '' if none goes with it."""
    values: tuple[float, ...] = field(default=(), repr=False)
    """The same of all owners at that instant."""
    jump: int | None = field(default=None, repr=False)
    """Row of the flight's `jumps`, where both sides are kept; None where none are."""

    @property
    def cable(self) -> int | None:
        """Which cable, counted from 0; None where none is concerned."""
        return self.index if self.owner == "cable" else None

    @property
    def impulse(self) -> float:
        """The impulse that goes with it (N s)."""
        return self.value


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
    """(2, 3) of all bodies together, before and after (kg m/s), world."""

    __repr__ = brief


def ordered(groups: Iterable[str]) -> tuple[str, ...]:
    """Groups of bodies in the order in which they are told: what is carried first, vehicles last."""
    named = list(groups)
    rank = {PAYLOAD: 0, TEAM: 2}
    return tuple(sorted(named, key=lambda name: (rank.get(name, 1), named.index(name))))


def label(group: str, index: int, count: int) -> str:
    """What a body is called in tables: 'payload', 'vehicle0'."""
    one = group.removesuffix("s")
    return group if count == 1 and group == one else f"{one}{index}"


def people(group: str, index: int, count: int) -> str:
    """The same for people: 'payload', 'vehicle 0'."""
    one = group.removesuffix("s")
    return group if count == 1 and group == one else f"{one} {index}"
