"""`skyrig import`: a real flight from logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import tyro

from skyrig.cli.flights import Directory
from skyrig.cli.scenarios import Name
from skyrig.errors import InputError

Bodies = Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=LOG:TOPIC")]


def import_log(
    scenario: tyro.conf.Positional[Name],
    /,
    *,
    body: tyro.conf.UseAppendAction[Bodies] = (),
    start: Annotated[float, tyro.conf.arg(metavar="S")] = 0.0,
    out: Directory = Path("flights"),
) -> None:
    """Make a flight of logs (MCAP, ROS 2 bags, ULog), to compare with others.

    Args:
        scenario: What was flown: a bundled scenario's name, or a YAML file.
        body: Where each body is logged: payload=flight.mcap:/load/pose, vehicle0=log.ulg.
        start: From when on, after the first instant at which all bodies are known (s).
        out: Folder in which the flight's own folder is made.
    """
    from skyrig.bridges.log_import import import_flight
    from skyrig.flight.folder import METRICS, SCENARIO, need_writable, place_for, whole_folder
    from skyrig.flight.storage import write_whole
    from skyrig.scenario import Scenario

    pairs = [text.partition("=") for text in body]
    odd = next((text for text, pair in zip(body, pairs, strict=True) if not pair[0] or not pair[2]), None)
    if odd is not None:
        raise InputError(f"--body must be NAME=LOG or NAME=LOG:TOPIC, not {odd!r}.")
    known = Scenario.load(scenario)
    place, _ = place_for(out / f"{known.name}-log")
    need_writable(place)
    flight = import_flight(known, {name: said for name, _, said in pairs}, start)
    with whole_folder(place) as draft:
        saved = flight.save(draft)
        write_whole(draft / SCENARIO, flight.scenario)
        write_whole(draft / METRICS, json.dumps(flight.metrics, indent=2) + "\n")
    print(f"{flight.name}: {flight.duration:g} s of {len(flight.rig.airframes)} vehicles.")
    print(place / saved.name)
