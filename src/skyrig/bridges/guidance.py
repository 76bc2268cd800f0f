"""What autopilots are told to follow: places on the way of the load, or what a controller asks for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from skyrig.bridges.attitude import attitude_asked
from skyrig.bridges.mission import Mission
from skyrig.bridges.offboard import Firmware, Offboard
from skyrig.constants import GRAVITY
from skyrig.control.known import OPEN_LOOP
from skyrig.errors import InputError
from skyrig.runs.asked import AskedController
from skyrig.runs.session import Session
from skyrig.sensing.sensor import Numbers
from skyrig.turns import turn

if TYPE_CHECKING:
    from skyrig.scenario.build import Built

LIFT = 0.05
"""Upward acceleration that is told while vehicles wait (m/s^2): for PX4 that means to take off."""
REST = 1.0
"""How long a rig is left alone once it is down, rotors off (s)."""


def hover_thrusts(built: Built) -> Numbers:
    """(n,) what each vehicle must push in the hover with its load (N); its own weight where none is known."""
    if built.hover is not None:
        return np.asarray(built.hover.thrust, dtype=np.float64)
    return np.array([frame.mass * GRAVITY for frame in built.team.airframes])


@runtime_checkable
class Guidance(Protocol):
    """Set-points of all vehicles."""

    start: Numbers
    """(n, 3) where vehicles are at the start (m)."""
    rate: float
    """Set-points a second (Hz)."""
    push: Numbers
    """(n,) what each must push before it is let go (N)."""
    duration: float
    """Of all of it (s)."""
    over: float
    """After this time rotors shall stop (s)."""

    def wait(self, offboard: Offboard, usec: int) -> None:
        """Set-points while the world stands still."""
        ...

    def aim(self, session: Session, offboard: Offboard, usec: int) -> None:
        """Set-points for the period that begins now."""
        ...


class PositionGuidance:
    """Each vehicle is told its place, velocity and acceleration above the load's reference."""

    rate = 50.0

    def __init__(self, built: Built) -> None:
        self._mission = Mission(built)
        self.start, self.push = self._mission.start, hover_thrusts(built)
        self.over = self._mission.duration if self._mission.rise else math.inf
        self.duration = self._mission.duration + (REST if self._mission.rise else 0.0)

    def wait(self, offboard: Offboard, usec: int) -> None:
        """The first place."""
        first = self._mission(0.0)
        offboard.aim(replace(first, acceleration=first.acceleration + [0.0, 0.0, LIFT]), usec)

    def aim(self, session: Session, offboard: Offboard, usec: int) -> None:
        """Where vehicles shall be now."""
        offboard.aim(self._mission(session.time), usec)


class AttitudeGuidance:
    """Each vehicle is told the attitude and thrust by which firmware does what the controller asks."""

    over = math.inf

    def __init__(self, built: Built, firmware: Firmware) -> None:
        if built.controller.name == OPEN_LOOP:
            raise InputError(f"{built.scenario.where}: controller.name must be one that asks for thrusts.")
        self.rate, self.duration = built.scenario.spec.loop.control_rate, built.duration
        vehicles = built.rig.bodies(built.state)["vehicles"]
        self.start = np.asarray(vehicles.position, dtype=np.float64).T
        self._frames, self._firmware = built.team.airframes, firmware
        self._inertia = np.stack([frame.inertia for frame in self._frames])
        idle = np.array([frame.total_thrust_min for frame in self._frames])
        self.push = hover_thrusts(built) if built.hover is not None else idle
        self._first = np.asarray(vehicles.attitude, dtype=np.float64).T
        self._controller: AskedController | None = None

    def wait(self, offboard: Offboard, usec: int) -> None:
        """The attitude and thrust to begin with."""
        self._tell(offboard, self._first, self.push, usec)

    def aim(self, session: Session, offboard: Offboard, usec: int) -> None:
        """What the controller asks for, as an attitude; at the end, what it asked for last."""
        if session.done:
            return
        if self._controller is None:
            self._controller = AskedController(session)
        thrust, moment = self._controller()
        seen = self._controller.seen["vehicles"]
        now, rate = np.asarray(seen.attitude), np.asarray(seen.rate)
        wanted = attitude_asked(self._firmware.loops, self._inertia, now, rate, moment)
        self._tell(offboard, wanted, thrust, usec)

    def _tell(self, offboard: Offboard, attitude: Numbers, thrust: Numbers, usec: int) -> None:
        up = turn(attitude, np.array([0.0, 0.0, 1.0]))[:, 2]
        told = zip(self._frames, thrust.tolist(), up.tolist(), strict=True)
        offboard.turn(attitude, [self._firmware.throttle(*each) for each in told], usec)


POSITION, ATTITUDE = "position", "attitude"
KINDS: dict[str, Callable[[Built, Firmware], Guidance]] = {
    POSITION: lambda built, firmware: PositionGuidance(built),
    ATTITUDE: AttitudeGuidance,
}
"""By what set-points are called."""
