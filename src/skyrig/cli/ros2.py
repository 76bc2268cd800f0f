"""`skyrig ros2`: a scenario on ROS 2's wire."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro

from skyrig.cli.flights import Directory, progress_bar
from skyrig.cli.scenarios import Changes, Name, Seconds, changed, heed
from skyrig.cli.sitl import Pace, write_flight


def ros2(
    scenario: tyro.conf.Positional[Name],
    /,
    *,
    wait_for: Annotated[str | None, tyro.conf.arg(metavar="TOPIC", help_behavior_hint="")] = None,
    domain: Annotated[int, tyro.conf.arg(metavar="ID")] = 0,
    network: bool = False,
    changes: tyro.conf.UseAppendAction[Changes] = (),
    duration: Seconds = None,
    patience: Annotated[float, tyro.conf.arg(metavar="S")] = 60.0,
    pace: Pace = None,
    out: Directory = Path("flights"),
    report: bool = True,
) -> int:
    """Fly a scenario with its topics on ROS 2's wire, by its own controller or by nodes.

    Args:
        scenario: A bundled scenario's name, or a YAML file.
        wait_for: Fly in lockstep with nodes that send cmd_wrench, cmd_attitude or cmd_pose for every vehicle.
        domain: DDS domain, as ROS_DOMAIN_ID says.
        network: Let others on the network take part; this machine alone if left out.
        changes: Values to change, such as rig.payload.mass=0.3.
        duration: How long to fly (s), in place of the scenario's.
        patience: How long to wait for a command in lockstep (s).
        pace: Seconds of flight in a second; real time (1) if left out, as fast as it goes in lockstep.
        out: Folder in which the flight's own folder is made.
        report: Whether to draw pictures and write report.html.
    """
    known = changed(scenario, changes, duration=duration)
    heed(known, False)
    from skyrig.bridges.ros2 import Ros2
    from skyrig.flight.folder import need_writable, place_for
    from skyrig.runs.session import Session

    place, _ = place_for(out / f"{known.name}-ros2")
    need_writable(place)
    needed = {f"sensors.{it}": {} for it in ("imu", "battery") if it not in known.spec.instruments}
    known = known.with_overrides(needed) if needed else known
    if network:
        print("Others on the network can reach it: Cyclone chooses the interfaces.", file=sys.stderr)
    speed = pace if pace is not None or wait_for is not None else 1.0
    session = Session(known, pace=speed)
    bridge = Ros2(session, wait_for, domain, network, patience)
    with progress_bar(known) as progress:
        lost = bridge.fly(progress)
    bridge.close()
    if session.tick:
        write_flight(session.flight, place, report)
        print(f"{known.name} {session.flight.verdict.line}\nFlight:  {place / 'flight.npz'}")
    if lost:
        print(f"The flight ended after {session.time:g} s: {lost}", file=sys.stderr)
        return 1
    return 0 if session.flight.verdict.flew else 1
