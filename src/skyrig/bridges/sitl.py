"""A scenario flown by autopilots: links, companions and processes put together."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import dataclass

from skyrig.bridges import ardupilot, guidance, lockstep, offboard, px4
from skyrig.bridges.autopilot import LOCAL, Link, LinkLost
from skyrig.bridges.launch import Launched
from skyrig.bridges.mavlink import dialect
from skyrig.scenario import Scenario
from skyrig.sensing.geodesy import ORIGIN

PX4, ARDUPILOT = "px4", "ardupilot"


@dataclass(frozen=True)
class Settings:
    """How autopilots are reached."""

    protocol: str = PX4
    """'px4' or 'ardupilot'."""
    launch: str | None = None
    """A program to start for each vehicle, or 'stand-in'; None to wait for those that others start."""
    port: int | None = None
    """Of the first vehicle's simulator link; the protocol's own if left out."""
    companion: int = offboard.PORT
    """UDP port of the first vehicle's set-points."""
    host: str = LOCAL
    """Where to listen."""
    patience: float = 60.0
    """How long a silent vehicle is waited for (s)."""
    setpoints: str = guidance.POSITION
    """'position' for places on the load's way; 'attitude' for what the scenario's controller asks for."""
    pace: float | None = None
    """Seconds of flight in a second of real time; None for as fast as it goes."""


def fly(
    scenario: Scenario,
    settings: Settings,
    progress: Callable[[float], None] = lambda time: None,
    tell: Callable[[str], None] = lambda sentence: None,
) -> lockstep.LockstepFlight:
    """Fly a scenario with autopilots.

    Args:
        scenario: What is flown; its controller is asked for attitudes only.
        settings: How autopilots are reached.
        progress: Called now and then with the time flown (s).
        tell: Called with sentences for people.
    """
    dialect()  # refused here, before anything is opened, if it is not installed
    link, ports = _link(scenario, settings)
    firmware = offboard.PX4 if settings.protocol == PX4 else offboard.ARDUPILOT
    known, guide = lockstep.ready(
        scenario, link.rate, lambda built: guidance.KINDS[settings.setpoints](built, firmware)
    )
    built = known.build()
    companions = offboard.Offboard(guide.start, firmware, settings.companion, settings.host)
    with closing(companions), closing(link):
        tell(link.open())
        frames = built.team.airframes
        where = [(port, settings.companion + k) for k, port in enumerate(ports)]
        started = (
            nullcontext()
            if settings.launch is None
            else Launched(settings.launch, settings.protocol, frames, guidance.hover_thrusts(built), where)
        )
        with started:
            try:
                link.connect()
            except LinkLost as error:
                return lockstep.LockstepFlight(None, str(error), 0)
            tell("Connected. The world stands still until every vehicle is armed.")
            return lockstep.fly(known, link, companions, guide, progress, settings.pace)


def _link(scenario: Scenario, settings: Settings) -> tuple[Link, list[int]]:
    """The link, and the port of each vehicle."""
    frames, count = scenario.parts.airframes, scenario.parts.count
    rotors = max(frame.rotor_count for frame in frames)
    gnss = scenario.spec.instruments.get("gnss")
    if settings.protocol == PX4:
        port = px4.PORT if settings.port is None else settings.port
        origin = ORIGIN if gnss is None else getattr(gnss, "origin", ORIGIN)
        made: Link = px4.Px4Link([rotors] * count, port, settings.host, settings.patience, origin)
        return made, [port + k for k in range(count)]
    port = ardupilot.PORT if settings.port is None else settings.port
    made = ardupilot.ArduPilotLink(count, rotors, port, settings.host, settings.patience)
    return made, [port + ardupilot.GAP * k for k in range(count)]
