"""What all autopilots have in common: what is sent to them at a tick, what they answer, how a link ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from skyrig.sensing.sensor import Numbers, Reading, Truth

LOCAL = "127.0.0.1"


class LinkLost(Exception):
    """An autopilot is gone or makes no sense any more; one sentence says how."""


@dataclass(frozen=True)
class AutopilotMoment:
    """What is sent to autopilots at a tick."""

    usec: int
    """Since the simulator was started (microseconds): the autopilots' clock."""
    readings: Mapping[str, Reading]
    """What the sensors read."""
    truth: Truth


@dataclass(frozen=True)
class Answer:
    """What autopilots answer."""

    controls: Numbers
    """(n, r) of every rotor, between 0 and 1: its share of the largest speed."""
    armed: npt.NDArray[np.bool_]
    """(n,) whether each lets its rotors turn."""


@runtime_checkable
class Link(Protocol):
    """A connection to all autopilots."""

    rate: float
    """At which it is asked (Hz)."""

    def open(self) -> str:
        """Begin to listen; a sentence for people says where."""
        ...

    def connect(self) -> None:
        """Wait until every autopilot is there."""
        ...

    def exchange(self, moment: AutopilotMoment) -> Answer | None:
        """Send, and wait for every autopilot's answer; None while one of them does not answer yet."""
        ...

    def close(self) -> None:
        """Hang up."""
        ...
