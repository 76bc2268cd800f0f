"""`skyrig sitl`: a scenario flown by autopilots."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from skyrig.cli.flights import Directory, drawn, progress_bar
from skyrig.cli.scenarios import Amount, Changes, Name, Seconds, changed, heed
from skyrig.errors import InputError

if TYPE_CHECKING:
    from skyrig.flight import Flight
    from skyrig.scenario import Scenario

Program = Annotated[str | None, tyro.conf.arg(metavar="PATH", help_behavior_hint="")]
Port = Annotated[int | None, tyro.conf.arg(metavar="PORT", help_behavior_hint="")]
Pace = Annotated[float | None, tyro.conf.arg(metavar="X", help_behavior_hint="")]


def sitl(
    scenario: tyro.conf.Positional[Name],
    /,
    *,
    px4: bool = False,
    ardupilot: bool = False,
    launch: Program = None,
    params: bool = False,
    changes: tyro.conf.UseAppendAction[Changes] = (),
    seed: Amount = None,
    duration: Seconds = None,
    port: Port = None,
    companion: Port = None,
    host: Annotated[str, tyro.conf.arg(metavar="ADDRESS")] = "127.0.0.1",
    patience: Annotated[float, tyro.conf.arg(metavar="S")] = 60.0,
    setpoints: Literal["position", "attitude"] = "position",
    pace: Pace = None,
    out: Directory = Path("flights"),
    report: bool = True,
) -> int:
    """Fly a scenario with autopilots, one for each vehicle, in lockstep.

    Args:
        scenario: A bundled scenario's name, or a YAML file.
        px4: With PX4.
        ardupilot: With ArduPilot.
        launch: A program to start for each vehicle, and to end; or stand-in. Left out, others start them.
        params: Print the firmware's parameters for the vehicles instead of flying.
        changes: Values to change, such as rig.payload.mass=0.3.
        seed: Seed of everything random, in place of the scenario's.
        duration: How long to fly (s); as long as it takes if left out.
        port: Of the first vehicle's link; PX4's 4560 (TCP) or ArduPilot's 9002 (UDP) if left out.
        companion: UDP port of the first vehicle's set-points; 14540 if left out.
        host: Where to listen. Any but 127.0.0.1 lets others on the network fly the rig.
        patience: How long to wait for a vehicle that is silent (s).
        setpoints: Places above the load's reference, or the attitudes and thrusts that the scenario's own
            controller asks for.
        pace: Seconds of flight in a second; as fast as it goes if left out.
        out: Folder in which the flight's own folder is made.
        report: Whether to draw pictures and write report.html.
    """
    if px4 == ardupilot:
        raise InputError("skyrig sitl needs one autopilot: give --px4 or --ardupilot.")
    known = changed(scenario, changes, seed=seed, duration=duration)
    heed(known, False)
    if params:
        return _parameters(known, px4)
    from rich.console import Console

    from skyrig.bridges import sitl as bridge
    from skyrig.bridges.offboard import PORT
    from skyrig.flight.folder import need_writable, place_for

    for option, number in (("--port", port), ("--companion", companion)):
        if number is not None and not 0 < number <= 65535:
            raise InputError(f"{option} must be from 1 to 65535, not {number}.")
    if not patience > 0 or (pace is not None and not pace > 0):
        raise InputError("--patience and --pace must be above zero.")
    place, _ = place_for(out / f"{known.name}-sitl")
    need_writable(place)
    if host != "127.0.0.1":
        print(f"Listening on {host}: others on the network can reach it.", file=sys.stderr)
    console = Console(highlight=False)
    protocol = bridge.PX4 if px4 else bridge.ARDUPILOT
    first = PORT if companion is None else companion
    settings = bridge.Settings(protocol, launch, port, first, host, patience, setpoints, pace)
    with progress_bar(known) as progress:
        flown = bridge.fly(known, settings, progress, lambda it: print(it, file=sys.stderr, flush=True))
    if flown.flight is not None:
        write_flight(flown.flight, place, report)
        console.print(f"{flown.flight.name} {flown.flight.verdict.line}", soft_wrap=True, markup=False)
        console.print(f"{flown.exchanged} exchanges with each vehicle, every one answered.")
        console.print(f"Flight:  {place / 'flight.npz'}", soft_wrap=True)
    if flown.lost:
        after = "" if flown.flight is None else f" after {flown.flight.duration:g} s"
        print(f"The flight ended{after}: {flown.lost}", file=sys.stderr)
        return 1
    return 0 if flown.flight is not None and flown.flight.verdict.flew else 1


def write_flight(flight: Flight, place: Path, report: bool) -> None:
    """The flight's folder, whole."""
    from skyrig.flight.folder import METRICS, SCENARIO, whole_folder
    from skyrig.flight.storage import write_whole

    with whole_folder(place) as draft:
        flight.thinned().save(draft)
        write_whole(draft / SCENARIO, flight.scenario)
        write_whole(draft / METRICS, json.dumps(flight.metrics, indent=2) + "\n")
        if report:
            drawn(flight.thinned(), draft)


def _parameters(known: Scenario, px4: bool) -> int:
    """The firmware's parameters: as PX4's shell takes them, or as lines of ArduPilot's files."""
    from skyrig.bridges import firmware
    from skyrig.bridges.guidance import hover_thrusts

    thrusts = hover_thrusts(known.build())
    for k, (frame, thrust) in enumerate(zip(known.parts.airframes, thrusts, strict=True)):
        print(f"# vehicle {k}: {frame.name}")
        found = firmware.px4(frame, float(thrust)) if px4 else firmware.ardupilot(frame, float(thrust))
        for name, value in found.items():
            print(f"param set {name} {value:g}" if px4 else f"{name} {value:.7g}")
    return 0
