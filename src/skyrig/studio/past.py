"""Where a live flight has been, to go on from there."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple

from skyrig.flight.frames import Frames

CAPACITY = 6000
"""Moments kept: a minute and a half at real time, where there are 60 a second at most."""


@dataclass(frozen=True, eq=False)
class Moment:
    """A live flight at an instant."""

    time: float
    """s."""
    frame: Frames
    """What was seen."""
    saved: Any
    """What `Live.restore` takes."""
    held: float | None
    """What its judge knew."""
    events: int
    """How many there had been."""
    piece: Any = None
    """What a file keeps of how it came here from the moment before; None at the start."""


class Undo(NamedTuple):
    """What was before somebody did something."""

    what: str
    """In a few words."""
    time: float
    """s."""
    hands: Any
    acts: list[Any]
    clock: float
    """When it was done, by the machine's clock (s)."""


class Past:
    """The latest moments of a flight that goes on; whoever uses it from several threads holds a lock."""

    def __init__(self, first: Moment) -> None:
        self._kept: deque[Moment] = deque([first], maxlen=CAPACITY)

    def keep(self, moment: Moment) -> None:
        """Add the present."""
        self._kept.append(moment)

    def back_to(self, time: float) -> Moment:
        """The latest moment that is not after `time` (s), or the first there is; later ones are forgotten."""
        while len(self._kept) > 1 and self._kept[-1].time > time + 1e-9:
            self._kept.pop()
        return self._kept[-1]

    @property
    def pieces(self) -> list[Any]:
        """What a file keeps of all that is remembered."""
        return [it.piece for it in self._kept if it.piece is not None]
