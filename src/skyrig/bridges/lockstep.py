"""A rig flown by autopilots in lockstep: physics never runs ahead of an answer.

While autopilots boot, the world stands still and only the clock of their sensors goes on; it is let go once
all of them are armed and push as the hover asks. So it does not matter how long each takes, a load in the
air does not fall while rotors spin up, and a flight begins the same way every time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from msgspec import structs

from skyrig.bridges.autopilot import Answer, AutopilotMoment, Link, LinkLost
from skyrig.bridges.guidance import Guidance
from skyrig.bridges.offboard import Offboard
from skyrig.flight.flight import Flight
from skyrig.runs.sensed import first_truth
from skyrig.runs.session import Session
from skyrig.scenario import Scenario
from skyrig.scenario.build import Built
from skyrig.sensing.sensor import Sensors

NEEDED = ("imu", "gnss", "barometer", "magnetometer")
BOOT = 120.0
"""Longest that autopilots may take to arm and to push, by their own clock (s)."""
ENOUGH = 0.97
"""Share of the thrust to begin with at which a vehicle is let go."""


def waiting(built: Built) -> Sensors:
    """Sensors while the world waits: with the biases that they have when the flight begins.

    Filters learn biases while they wait; if others held in the flight, a vehicle would tilt by what changed.
    """
    spec = built.scenario.spec
    said = {}
    for name, it in spec.instruments.items():
        walks = dict.fromkeys((field for field in it.__struct_fields__ if field.endswith("walk")), 0.0)
        said[name] = structs.replace(it, **walks)
    return Sensors(said, built.scenario.parts.carrier(spec.loop.control_rate), built.seed)


@dataclass(frozen=True)
class LockstepFlight:
    """What came out."""

    flight: Flight | None
    """As far as it went; None if it never began."""
    lost: str
    """Why it ended early; '' if it did not."""
    exchanged: int
    """Messages to each vehicle that were answered during the flight."""


def fitted(scenario: Scenario, rate: float, duration: float | None = None) -> Scenario:
    """The scenario at an autopilot's rate (Hz), with the sensors that it needs."""
    changes: dict[str, object] = {"loop.control_rate": rate}
    changes |= {f"sensors.{name}": {} for name in NEEDED if name not in scenario.spec.instruments}
    if duration is not None:
        changes["duration"] = duration
    return scenario.with_overrides(changes)


def ready(scenario: Scenario, rate: float, guided: Callable[[Built], Guidance]) -> tuple[Scenario, Guidance]:
    """The scenario as it will be flown at that rate (Hz), and what its vehicles shall follow."""
    guidance = guided(fitted(scenario, rate).build())
    said = scenario.spec.duration
    return fitted(scenario, rate, guidance.duration if said is None else said), guidance


def fly(
    scenario: Scenario,
    link: Link,
    offboard: Offboard,
    guidance: Guidance,
    progress: Callable[[float], None] = lambda time: None,
    pace: float | None = None,
) -> LockstepFlight:
    """Fly a scenario that is `ready` with autopilots that are connected.

    Args:
        scenario: What is flown.
        link: To the autopilots.
        offboard: Their companions.
        guidance: What vehicles shall follow.
        progress: Called now and then with the time flown (s).
        pace: Seconds of flight in a second of real time; None for as fast as it goes.
    """
    session = Session(scenario, pace=pace)
    pilot = _Pilot(session, link, offboard, guidance)
    lost = ""
    try:
        pilot.boot()
        while not session.done:
            pilot.step()
            if session.tick % 25 == 0:
                progress(session.time)
    except LinkLost as error:
        lost = str(error)
    return LockstepFlight(session.flight if session.tick else None, lost, pilot.exchanged)


class _Pilot:
    """The loop: readings out, controls in, a tick of physics."""

    def __init__(self, session: Session, link: Link, offboard: Offboard, guidance: Guidance) -> None:
        self.session, self.link, self.offboard, self.guidance = session, link, offboard, guidance
        self.tick_usec = round(1e6 / link.rate)
        self.every = max(round(link.rate / guidance.rate), 1)
        self.ticks = 0
        """Since the simulator was started, boot included."""
        self.exchanged = 0
        frames = session.built.team.airframes
        rotors = max(it.rotor_count for it in frames)
        self.most = np.zeros((len(frames), rotors))
        for row, frame in zip(self.most, frames, strict=True):
            row[: frame.rotor_count] = frame.thrust_max * frame.shares
        self.answer: Answer | None = None

    def boot(self) -> None:
        """Let autopilots start, arm and push, while the world stands still."""
        built = self.session.built
        rest = first_truth(built)
        sensors = waiting(built)
        while self.answer is None or not self._carried(self.answer).all():
            if self.ticks > BOOT * self.link.rate:
                raise LinkLost(self._never())
            truth = replace(rest, time=self.ticks / self.link.rate)
            self.offboard.listen()
            if not self.offboard.firmware.takes_off and self.ticks % self.every == 0:
                self.guidance.wait(self.offboard, self.ticks * self.tick_usec)
            self.answer = self._exchange(sensors.show(truth), truth)
            if self.answer is not None and self.offboard.complete and self.ticks % round(self.link.rate) == 0:
                self.offboard.begin()

    def step(self) -> None:
        """One tick of physics with what was answered, then the next exchange."""
        assert self.answer is not None
        session, self.offboard.waiting = self.session, False
        session.step(rotors=self.answer.controls**2 * self.most)
        self.offboard.listen()
        if self.ticks % self.every == 0 or session.tick == 1:
            self.guidance.aim(session, self.offboard, self.ticks * self.tick_usec)
        if session.time > self.guidance.over and self.ticks % round(self.link.rate / 4) == 0:
            self.offboard.disarm()
        answer = self._exchange(session.sensors, session.truth)
        if answer is None:
            raise LinkLost("a vehicle stopped answering.")
        self.answer, self.exchanged = answer, self.exchanged + 1

    def _exchange(self, readings: Any, truth: Any) -> Answer | None:
        self.ticks += 1
        return self.link.exchange(AutopilotMoment(self.ticks * self.tick_usec, readings, truth))

    def _carried(self, answer: Answer) -> Any:
        """(n,) which vehicles are armed and push as the hover asks, so that they can be let go."""
        pushed = (answer.controls**2 * self.most).sum(axis=1)
        return self._armed(answer) & (pushed >= ENOUGH * self.guidance.push)

    def _armed(self, answer: Answer) -> Any:
        return answer.armed | self.offboard.armed

    def _never(self) -> str:
        """Why the world was not let go."""
        armed = np.zeros(len(self.most), dtype=bool) if self.answer is None else self._armed(self.answer)
        late, missing = int(np.argmin(armed)), "arm" if not armed.all() else "push as it must to begin with"
        if armed.all():
            late = int(np.argmin(self._carried(self.answer))) if self.answer is not None else 0
        return f"vehicle {late} did not {missing} in {BOOT:g} s{self.offboard.said(late)}."
