"""Names of what a rig has. Records, metrics, plots and the studio ask these instead of the rig's class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """Bodies of one role."""

    name: str
    """'payload', 'vehicles', or a word of the mechanism's own."""
    count: int


def carried(groups: Iterable[str]) -> str | None:
    """Which of the groups of these names is carried: 'payload', or the first that is no vehicle, or none."""
    others = [name for name in groups if name != "vehicles"]
    return "payload" if "payload" in others else next(iter(others), None)


def is_course(signal: str) -> bool:
    """Whether a signal of this name tells of many places along tethers: for drawings, not for curves.

    NAME.nodes says where they run (m), NAME.along how they pull there (N), from each tether's start.
    """
    return signal.endswith((".nodes", ".along"))


@dataclass(frozen=True)
class SignalKind:
    """A named quantity over time."""

    name: str
    """Owner and quantity, such as 'cable.tension'."""
    unit: str
    """Such as 'N'; '1' for a pure number, '' for a flag."""
    count: int
    """How many owners have one."""
    says: str
    """What it is, in a few words."""

    @property
    def owner(self) -> str:
        """Whose it is: the first part of its name."""
        return self.name.split(".")[0]


@dataclass(frozen=True)
class EventKind:
    """Something that can happen at an instant."""

    name: str
    owner: str
    """To what: 'cable', or a group's name."""
    unit: str = ""
    """Of the value that goes with it; '' if none does."""
    says: str = ""


@dataclass(frozen=True)
class Drive:
    """Something the rig moves by itself, asked for like thrust: a winch, a tendon."""

    name: str
    unit: str
    """Of what is asked for."""
    count: int


@dataclass(frozen=True)
class Switch:
    """Something that can be done to a rig at an instant, such as cutting a cable."""

    name: str
    owner: str
    count: int
    places: int = 1
    """At how many places along each owner it can be thrown; flags are those of the first owner, then the
    next."""


@dataclass(frozen=True)
class End:
    """A point of a body."""

    group: str
    index: int
    """Which body of the group, from 0."""
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """In the body's frame (m)."""


@dataclass(frozen=True)
class Tether:
    """A line between points of two bodies: what is drawn, and what others must keep clear of.

    Signals of its name say how it is, column k for the k-th tether of that name: NAME.tension (N),
    NAME.length (its free length, m) and NAME.taut. A tether without the last two is drawn straight. One whose
    course is told by NAME.nodes (m, xyz of every point between its ends, tether after tether) is drawn so.
    """

    name: str
    """Such as 'cable'."""
    start: End
    end: End
    strip: bool = False
    """Whether this one and the next, each there and back, are the edges of a solid: drawn as its skin."""


@dataclass(frozen=True)
class Layout:
    """All names of a rig."""

    groups: tuple[Group, ...]
    signals: tuple[SignalKind, ...] = ()
    events: tuple[EventKind, ...] = ()
    drives: tuple[Drive, ...] = ()
    switches: tuple[Switch, ...] = ()

    def group(self, name: str) -> Group:
        """The group of that name."""
        return next(group for group in self.groups if group.name == name)

    def has(self, group: str) -> bool:
        """Whether there is a group of that name."""
        return any(it.name == group for it in self.groups)

    def signal(self, name: str) -> SignalKind | None:
        """The signal of that name, if the rig has it."""
        return next((signal for signal in self.signals if signal.name == name), None)

    def drive(self, name: str) -> Drive | None:
        """The drive of that name, if the rig has it."""
        return next((drive for drive in self.drives if drive.name == name), None)

    def switch(self, name: str) -> Switch | None:
        """The switch of that name, if the rig has it."""
        return next((switch for switch in self.switches if switch.name == name), None)

    @property
    def bodies(self) -> int:
        """How many bodies there are in all."""
        return sum(group.count for group in self.groups)
