"""Commands that make and look at flights: `fly`, `plot`, `compare`, `export`."""

from __future__ import annotations

import importlib.util
import json
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from skyrig.cli.scenarios import Amount, Changes, Rate, Seconds, changed, folder_of, heed
from skyrig.errors import FlightDiverged, InputError

if TYPE_CHECKING:
    from skyrig.flight import Flight
    from skyrig.scenario import Scenario

Name = Annotated[str | None, tyro.conf.arg(metavar="SCENARIO", help_behavior_hint="")]
Folder = Annotated[Path, tyro.conf.arg(metavar="FLIGHT")]
Directory = Annotated[Path, tyro.conf.arg(metavar="DIR")]
Elsewhere = Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="")]


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
    strict: bool = False,
) -> None:
    """Fly a scenario and write its flight, pictures and report.

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
        strict: Take warnings for errors.
    """
    from rich.console import Console

    from skyrig.scenario import DEFAULT

    known = changed(
        scenario or DEFAULT, changes, seed=seed, duration=duration, **{"record.rate": record_rate}
    )
    heed(known, strict)
    folder = out / known.name
    for place in (out, folder):
        if place.exists() and not place.is_dir():
            raise InputError(f"{place} is in the way: a folder is needed to write the flight to.")
    own = None if controller is None else load_controller(controller)

    from skyrig.flight.drawing import Drawers
    from skyrig.flight.storage import write_whole

    console = Console(highlight=False)
    with Drawers() if report else nullcontext() as drawers:
        flight = _flown(known, own, controller)
        flight = flight if known.spec.record is not None else flight.thinned()
        saved = flight.save(folder)
        write_whole(folder / "scenario.yaml", flight.scenario)
        write_whole(folder / "metrics.json", json.dumps(flight.metrics, indent=2) + "\n")
        _tell(flight, console)
        console.print(f"Flight:  {saved}", soft_wrap=True)
        if drawers is not None:
            _draw(flight, folder, console, drawers.draw_all(flight, saved))


def _flown(scenario: Scenario, own: Any, controller: str | None) -> Flight:
    """The flight; what goes wrong in somebody's own controller is told in one sentence."""
    from skyrig.flight import fly as fly_scenario

    try:
        with _progress(scenario) as progress:
            return fly_scenario(scenario, controller=own, progress=progress)
    except Exception as error:
        file = None if controller is None else Path(controller.rpartition(":")[0])
        if file is None or isinstance(error, (InputError, FlightDiverged)) or not own_lines(error, file):
            raise
        raise InputError(f"--controller {controller!r} failed: {own_fault(error, file)}.") from None


def plot(flight: tyro.conf.Positional[Folder], /, *, out: Elsewhere = None) -> None:
    """Draw a flight's pictures and write its report.

    Args:
        flight: A flight's folder or .npz file.
        out: Folder to write to; the flight's own if left out.
    """
    from rich.console import Console

    from skyrig.flight import Flight

    _draw(Flight.load(flight), out or folder_of(flight), Console(highlight=False))


def compare(first: tyro.conf.Positional[Folder], second: tyro.conf.Positional[Folder], /) -> None:
    """Put two flights side by side.

    Args:
        first: A flight's folder or .npz file.
        second: Another.
    """
    from rich.console import Console
    from rich.table import Table

    from skyrig.flight import Flight
    from skyrig.flight.compare import compare as lines
    from skyrig.flight.units import shown

    flights = [Flight.load(first), Flight.load(second)]
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


def export(flight: tyro.conf.Positional[Folder], /, *, csv: bool = False, out: Elsewhere = None) -> None:
    """Write a flight in another format.

    Args:
        flight: A flight's folder or .npz file.
        csv: As CSV: states, reference, tensions, thrusts and moments in one file, events in another.
        out: Folder to write to; the flight's own if left out.
    """
    from skyrig.flight import Flight
    from skyrig.flight.export import write_csv

    if not csv:
        raise InputError("skyrig export needs a format: give --csv.")
    for path in write_csv(Flight.load(flight), (out or folder_of(flight)) / "flight.csv"):
        print(path)


def load_controller(text: str) -> Any:
    """What NAME is in FILE.py, for `FILE.py:NAME`; the file runs as any Python program does."""
    file, colon, name = text.rpartition(":")
    if not colon or not name.isidentifier():
        raise InputError(f"--controller must be FILE.py:NAME, not {text!r}.")
    path = Path(file)
    if path.suffix != ".py" or not path.is_file():
        raise InputError(f"--controller must name a Python file, but {file!r} is none.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InputError(f"--controller {file!r} cannot be loaded as Python.")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    try:
        spec.loader.exec_module(module)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"--controller {file!r} cannot be loaded: {own_fault(error, path)}.") from None
    if not hasattr(module, name):
        raise InputError(f"--controller {file!r} has no {name!r}.")
    return getattr(module, name)


def own_lines(error: Exception, path: Path) -> list[int]:
    """Lines of somebody's own file that an error passed through, outermost first."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame.lineno or 0 for frame in frames if Path(frame.filename) == path]


def own_fault(error: Exception, path: Path) -> str:
    """What went wrong in somebody's own file, and in which line of it."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    lines = own_lines(error, path)
    place = f"line {lines[-1]}: " if lines else ""
    words = " ".join(str(error).split()).rstrip(".")
    return f"{place}{type(error).__name__}: {words}" if words else f"{place}{type(error).__name__}"


@contextmanager
def _progress(scenario: Scenario) -> Iterator[Callable[[float], None]]:
    """A bar that fills with the time flown; until the first of it, code is being compiled."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"Preparing {scenario.name}", total=None)

        def flown(seconds: float) -> None:
            words = f"Flying {scenario.name}, {seconds:.1f} of {scenario.duration:.1f} s"
            bar.update(task, description=words, completed=seconds, total=scenario.duration)

        yield flown


def _tell(flight: Flight, console: Any) -> None:
    """The impacts of a short story, else the numbers."""
    from rich.table import Table

    from skyrig.flight.impacts import least_impulse, shown_impacts
    from skyrig.flight.tables import impact_rows, rows, texts
    from skyrig.flight.units import shown

    numbers = Table("", "", "", box=None, pad_edge=False, show_header=False, title=flight.name)
    numbers.columns[1].justify = "right"
    for row in texts(rows(flight.metrics)):
        numbers.add_row(*row)
    console.print(numbers)
    large, small = shown_impacts(flight)
    for impact in large[:3]:
        title = f"Cable {impact.cable} comes taut at t = {impact.time:.3f} s"
        table = Table("", "before", "after", "change", box=None, pad_edge=False, title=title)
        for column in table.columns[1:]:
            column.justify = "right"
        for row in impact_rows(impact):
            table.add_row(*row)
        console.print(table)
    if len(large) > 3 or small:
        (least,), unit = shown("N s", [least_impulse(flight)])
        console.print(f"Not shown: {len(large[3:])} later impacts, and {small} below {least} {unit}.")


def _draw(flight: Flight, folder: Path, console: Any, pictures: Mapping[str, bytes] | None = None) -> None:
    """Write pictures and report; `pictures` are those drawn already."""
    from skyrig.flight.report import write_report
    from skyrig.flight.storage import write_whole

    if pictures is None:
        from skyrig.flight.plots import draw_all

        pictures = draw_all(flight)
    for name, image in pictures.items():
        console.print(f"Picture: {write_whole(folder / f'{name}.png', image)}", soft_wrap=True)
    report = write_report(flight, folder / "report.html", pictures)
    console.print(f"Report:  {report}", soft_wrap=True)
