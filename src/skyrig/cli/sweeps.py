"""The command that flies a scenario many times: `sweep`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import tyro

from skyrig.cli.flights import Directory
from skyrig.cli.scenarios import Amount, Changes, Name, changed

Vary = Annotated[tuple[str, ...], tyro.conf.arg(name="vary", metavar="PATH=DISTRIBUTION")]
Address = Annotated[str | None, tyro.conf.arg(metavar="HOST:PORT", help_behavior_hint="")]
Within = Annotated[float | None, tyro.conf.arg(metavar="M", help_behavior_hint="")]
Grid = Annotated[tuple[str, ...], tyro.conf.arg(name="grid", metavar="PATH=VALUES")]


def sweep(
    scenario: tyro.conf.Positional[Name],
    /,
    *,
    vary: tyro.conf.UseAppendAction[Vary] = (),
    grid: tyro.conf.UseAppendAction[Grid] = (),
    changes: tyro.conf.UseAppendAction[Changes] = (),
    samples: int = 1,
    sampler: str = "random",
    engine: str = "batch",
    seed: int = 0,
    within: Within = None,
    workers: Amount = None,
    address: Address = None,
    out: Directory = Path("sweep"),
) -> None:
    """Fly a scenario many times with some values drawn or on a grid; write a table and pictures.

    Stopped and started again with the same arguments, it goes on where it was and gives the same table.

    Args:
        scenario: A bundled scenario's name, or a YAML file.
        vary: Values drawn by chance, such as rig.payload.mass=uniform(0.1,0.3); also loguniform(a,b),
            normal(mean,deviation) and choice(a,b,...). Several may follow one another.
        grid: Values to go through, such as rig.cables.length=0.5,0.8 or 0.5:1:6 (from, to, how many).
            Several may follow one another, and all their combinations are flown.
        changes: Values to change in all flights, such as duration=10.
        samples: Flights at every point of the grid, with the same draws at each.
        sampler: How values are drawn: random, latin (a Latin hypercube) or sobol.
        engine: Who flies: batch (threads here), processes (joblib), or ray (a cluster).
        seed: Seed of everything random.
        within: How close to its reference a flight must end (m), in place of the scenario's verdict.position.
        workers: How many batches of flights to fly at a time; as many as there are cores if left out.
        address: Address of a running Ray cluster; one is started here if left out.
        out: Folder to write to.
    """
    from rich.console import Console

    from skyrig.runs.engines import check_engine, flown, need
    from skyrig.runs.sweep import CHUNK, Folder, Sweep, parse_grid
    from skyrig.scenario.vary import parse_vary

    known = changed(scenario, changes)
    asked = Sweep.of(
        known,
        dict(parse_vary(text) for text in vary),
        dict(parse_grid(text) for text in grid),
        samples,
        sampler,
        seed,
        within,
    )
    check_engine(engine, workers)
    need("pyarrow", "sweep", "skyrig sweep")
    folder = Folder(out, asked)
    missing = folder.open()
    sizes = {chunk: min(CHUNK, asked.count - CHUNK * chunk) for chunk in missing}
    with _progress(asked.count, asked.count - sum(sizes.values())) as advance:
        for chunk, part in flown(asked, missing, engine, address, workers) if missing else ():
            folder.put(chunk, part)
            advance(sizes[chunk])

    from skyrig.runs.sweep_plots import save_pictures
    from skyrig.runs.sweep_table import collected, shares, write_table

    table = collected(folder)
    console = Console(highlight=False)
    for name, value in shares(asked, table):
        console.print(f"{name}: {value}")
    console.print(f"Table:   {write_table(folder, table)}", soft_wrap=True)
    for picture in save_pictures(out, table, [path for path in asked.inputs if path != "seed"]):
        console.print(f"Picture: {picture}", soft_wrap=True)


@contextmanager
def _progress(total: int, done: int) -> Iterator[Callable[[int], None]]:
    """A bar that fills with flights; until the first of them, code is being compiled."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"Preparing {total - done} of {total} flights", total=total, completed=done)

        def advance(flights: int) -> None:
            bar.update(task, advance=flights)
            finished = int(bar.tasks[0].completed)
            bar.update(task, description=f"Flying, {finished} of {total} flights")

        yield advance
