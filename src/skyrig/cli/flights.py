"""Commands that make and look at flights: `fly`, `plot`, `compare`, `export`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from skyrig.checks import nearest
from skyrig.cli.scenarios import Amount, Changes, Rate, Seconds, changed, folder_of, heed
from skyrig.errors import FlightDiverged, InputError

if TYPE_CHECKING:
    from skyrig.flight import Flight
    from skyrig.scenario import Scenario

Name = Annotated[str | None, tyro.conf.arg(metavar="SCENARIO", help_behavior_hint="")]
Folder = Annotated[Path, tyro.conf.arg(metavar="FLIGHT")]
Directory = Annotated[Path, tyro.conf.arg(metavar="DIR")]
Elsewhere = Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="")]
MOST_IMPACTS = 3
"""Impacts that are told with a table of their own."""


def fly(
    scenario: tyro.conf.Positional[Name] = None,
    /,
    *,
    changes: tyro.conf.UseAppendAction[Changes] = (),
    seed: Amount = None,
    duration: Seconds = None,
    record_rate: Rate = None,
    out: Directory = Path("flights"),
    controller: Annotated[str | None, tyro.conf.arg(metavar="FILE.py:NAME", help_behavior_hint="")] = None,
    report: bool = True,
    foxglove: bool = False,
    strict: bool = False,
    debug: bool = False,
) -> int:
    """Fly a scenario and write its flight, pictures and report.

    Ends with exit code 0 if it flew as asked, 1 if not (the first line says why) and 2 for bad input.

    Args:
        scenario: A bundled scenario's name, or a YAML file; the default one if left out.
        changes: Values to change, such as rig.payload.mass=0.3.
        seed: Seed of everything random, in place of the scenario's.
        duration: How long to fly (s), in place of the scenario's.
        record_rate: Samples kept a second (Hz); as many as 5 MB a minute hold if left out. Metrics and
            events come from every step all the same.
        out: Folder in which the flight's own folder is made.
        controller: Your controller in place of the scenario's: a Python file and a name in it.
        report: Whether to draw pictures and write report.html.
        foxglove: Fly in real time, to be looked at in Foxglove at ws://127.0.0.1:8765.
        strict: Take warnings for errors.
        debug: Show the whole traceback of an error in your controller.
    """
    from rich.console import Console

    from skyrig.scenario import DEFAULT

    known = changed(
        scenario or DEFAULT, changes, seed=seed, duration=duration, **{"record.rate": record_rate}
    )
    heed(known, strict)
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is in the way: a folder is needed to write the flight to.")

    from skyrig.flight.drawing import Drawers
    from skyrig.flight.folder import METRICS, REPORT, SCENARIO, need_writable, place_for, whole_folder
    from skyrig.flight.storage import write_whole

    place, foreign = place_for(out / known.name)
    need_writable(place)
    console = Console(highlight=False)
    with Drawers() if report else nullcontext() as drawers:
        flight = _shown(known, controller) if foxglove else _flown(known, controller, place, debug)
        flight = flight if known.spec.record is not None else flight.thinned()
        console.print(f"{flight.name} {flight.verdict.line}", soft_wrap=True, markup=False)
        _tell(flight, console)
        with whole_folder(place) as draft:
            saved = flight.save(draft)
            write_whole(draft / SCENARIO, flight.scenario)
            write_whole(draft / METRICS, json.dumps(flight.metrics, indent=2) + "\n")
            names = [] if drawers is None else drawn(flight, draft, drawers.draw_all(flight, saved))
    if foreign:
        console.print(_beside(out / known.name, foreign), soft_wrap=True, markup=False)
    console.print(f"Flight:  {place / saved.name}", soft_wrap=True)
    for name in names:
        console.print(f"{'Report: ' if name == REPORT else 'Picture:'} {place / name}", soft_wrap=True)
    return 0 if flight.verdict.flew else 1


def _beside(wanted: Path, foreign: list[str]) -> str:
    """Why a flight was not written where it is asked for."""
    more = f" and {len(foreign) - 3} more" if len(foreign) > 3 else ""
    return f"{wanted} holds files of other origin ({', '.join(foreign[:3])}{more}) and stays as it is."


def _shown(scenario: Scenario, controller: str | None) -> Flight:
    """The flight, flown in real time for Foxglove to look on."""
    from skyrig.bridges.foxglove_live import fly_live

    if controller is not None:
        raise InputError("--foxglove shows the scenario's own controller: leave out --controller.")
    with progress_bar(scenario) as progress:
        return fly_live(scenario, tell=lambda it: print(it, file=sys.stderr), progress=progress)


def _flown(scenario: Scenario, controller: str | None, place: Path, debug: bool) -> Flight:
    """The flight; what goes wrong in somebody's own controller is told in one sentence."""
    from skyrig.extensions import fault
    from skyrig.runs import own
    from skyrig.runs.flying import fly as fly_scenario

    try:
        given, trace = (None, None) if controller is None else own.load(controller)
        if trace is not None and scenario.controller.own not in (None, trace):
            print(f"Remark: {controller} is not what {scenario.where} was flown by.", file=sys.stderr)
        with progress_bar(scenario) as progress:
            return fly_scenario(scenario, controller=given, progress=progress, trace=trace)
    except FlightDiverged as error:
        kept = f"; {place} still holds an earlier flight" if place.exists() else ""
        raise FlightDiverged(f"{scenario.name} diverged: {error} Nothing was written{kept}.") from error
    except InputError as error:
        if debug and error.__cause__ is not None:
            raise error.__cause__ from None
        raise
    except (Exception, SystemExit) as error:
        if controller is None or debug:
            raise
        file = Path(controller.rpartition(":")[0])
        sentence = f"--controller {controller!r} failed: {fault(error, file)}"
        raise InputError(f"{sentence} (--debug shows the whole way there).") from None


def opened(place: Path) -> Flight:
    """The flight that a folder or file holds; a name that nearly fits is answered with the one meant."""
    from skyrig.flight import Flight

    if not place.exists() and place.parent.is_dir():
        beside = [it.name for it in place.parent.iterdir() if it.is_dir() or it.suffix == ".npz"]
        raise InputError(f"{place} cannot be read: there is no such flight{nearest(place.name, beside)}.")
    return Flight.load(place)


def plot(flight: tyro.conf.Positional[Folder], /, *, out: Elsewhere = None) -> None:
    """Draw a flight's pictures and write its report.

    Args:
        flight: A flight's folder or .npz file.
        out: Folder to write to; the flight's own if left out.
    """
    from rich.console import Console

    from skyrig.flight.folder import REPORT

    folder, console = out or folder_of(flight), Console(highlight=False)
    for name in drawn(opened(flight), folder):
        console.print(f"{'Report: ' if name == REPORT else 'Picture:'} {folder / name}", soft_wrap=True)


def compare(first: tyro.conf.Positional[Folder], second: tyro.conf.Positional[Folder], /) -> None:
    """Put two flights side by side.

    Args:
        first: A flight's folder or .npz file.
        second: Another.
    """
    from rich.console import Console
    from rich.table import Table

    from skyrig.flight.compare import compare as lines
    from skyrig.flight.units import shown

    flights = [opened(first), opened(second)]
    table = Table("", "first", "second", "", box=None, pad_edge=False, header_style="bold")
    for column in table.columns:
        column.no_wrap = True
    for column in table.columns[1:3]:
        column.justify = "right"
    for name, one, other, unit in lines(*flights):
        values, people = shown(unit, [one, other])
        table.add_row(name, *values, people)
    console = Console(highlight=False)
    for place, path in (("first", first), ("second", second)):
        console.print(f"{place + ':':8}{path}", soft_wrap=True)
    console.print(table)


def export(
    flight: tyro.conf.Positional[Folder],
    /,
    *,
    csv: bool = False,
    mcap: bool = False,
    mjcf: bool = False,
    out: Elsewhere = None,
) -> None:
    """Write a flight, or a scenario's rig, in another format.

    Args:
        flight: A flight's folder or .npz file; for --mjcf a bundled scenario's name or a YAML file.
        csv: As CSV: states, reference, tensions, thrusts and moments in one file, events in another.
        mcap: As MCAP: ROS 2 messages and a scene for Foxglove, and a layout beside it.
        mjcf: A scenario's rig as MJCF, for MuJoCo.
        out: Folder to write to; the flight's own if left out, the present one for --mjcf.
    """
    if csv + mcap + mjcf != 1:
        raise InputError("skyrig export needs one format: give --csv, --mcap or --mjcf.")
    if mjcf:
        from skyrig.bridges.mjcf import write_mjcf
        from skyrig.scenario import Scenario

        known = Scenario.load(str(flight))
        print(write_mjcf(known, (out or Path()) / f"{known.name}.xml"))
        return
    folder = out or folder_of(flight)
    if mcap:
        from skyrig.bridges.mcap_export import write_mcap

        paths = write_mcap(opened(flight), folder / "flight.mcap")
    else:
        from skyrig.flight.export import write_csv

        paths = write_csv(opened(flight), folder / "flight.csv")
    for path in paths:
        print(path)


@contextmanager
def progress_bar(scenario: Scenario) -> Iterator[Callable[[float], None]]:
    """A bar that fills with the time flown; until the first of it, code is being compiled."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
    console = Console(stderr=True)
    # where nobody watches, not even the empty line that a bar leaves
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"Preparing {scenario.name}", total=None)

        def flown(seconds: float) -> None:
            words = f"Flying {scenario.name}, {seconds:.1f} of {scenario.duration:.1f} s"
            bar.update(task, description=words, completed=seconds, total=scenario.duration)

        yield flown


def _tell(flight: Flight, console: Any) -> None:
    """The impacts of a short story, else the numbers."""
    from rich.table import Table

    from skyrig.flight.tables import impact_rows, rows, texts
    from skyrig.flight.units import shown

    numbers = Table("", "", "", box=None, pad_edge=False, show_header=False, title=flight.name)
    numbers.columns[1].justify = "right"
    for row in texts(rows(flight.metrics)):
        numbers.add_row(*row)
    console.print(numbers)
    tabled = flight.shown_impacts[:MOST_IMPACTS]
    for impact in tabled:
        title = f"Cable {impact.cable} comes taut at t = {impact.time:.3f} s"
        table = Table("", "before", "after", "change", box=None, pad_edge=False, title=title)
        for column in table.columns[1:]:
            column.justify = "right"
        for row in impact_rows(impact):
            table.add_row(*row)
        console.print(table)
    events = flight.shown_events
    small = len(flight.events) - len(events)
    later = sum(event.kind == "impact" for event in events) - len(tabled)
    if later or small:
        (least,), unit = shown("N s", [flight.least_impulse])
        console.print(f"Not shown: {later} later impacts, and {small} below {least} {unit}.")


def drawn(flight: Flight, folder: Path, pictures: Mapping[str, bytes] | None = None) -> list[str]:
    """Write pictures and report, and say what they are called; `pictures` are those drawn already."""
    from skyrig.flight.folder import REPORT
    from skyrig.flight.report import write_report
    from skyrig.flight.storage import write_whole

    if pictures is None:
        from skyrig.flight.plots import draw_all

        pictures = draw_all(flight)
    made = [write_whole(folder / f"{name}.png", image) for name, image in pictures.items()]
    made.append(write_report(flight, folder / REPORT, pictures))
    return [path.name for path in made]
