"""The command that makes gains better: `tune`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from skyrig.cli.flights import Directory
from skyrig.cli.scenarios import Changes, Name, changed
from skyrig.cli.sweeps import Vary
from skyrig.errors import InputError

if TYPE_CHECKING:
    from skyrig.runs.tuning import Tuned

Parameters = Annotated[tuple[str, ...], tyro.conf.arg(metavar="GAIN")]


def tune(
    scenario: tyro.conf.Positional[Name],
    /,
    *,
    parameters: Parameters = (),
    changes: tyro.conf.UseAppendAction[Changes] = (),
    vary: tyro.conf.UseAppendAction[Vary] = (),
    flights: int = 4,
    held_out: int = 4,
    iterations: int = 20,
    rate: float = 0.08,
    seed: int = 0,
    out: Directory = Path("tuned"),
) -> None:
    """Lower a scenario's tracking error by gradient descent on its controller's gains.

    Args:
        scenario: A bundled scenario's name, or a YAML file.
        parameters: Names of the gains to tune; all but the limits if left out.
        changes: Values to change first, such as controller.flavour=published.
        vary: What the flights differ by, such as reference.period=uniform(5,7); if left out, the numbers of
            the reference by 15 %.
        flights: How many flights to tune on.
        held_out: How many more to judge by.
        iterations: Steps of gradient descent.
        rate: Length of the first steps, in terms of the gains.
        seed: Of what the flights differ by.
        out: Folder in which the folder with the tuned scenario and the report is made.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from skyrig.scenario.vary import parse_vary

    known = changed(scenario, changes)
    folder = out / known.name
    for place in (out, folder):
        if place.exists() and not place.is_dir():
            raise InputError(f"{place} is in the way: a folder is needed to write the gains to.")
    drawn: dict[str, Any] | None = dict(parse_vary(each) for each in vary) or None

    from skyrig.runs.tuning import tune as descend

    errors = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        line = bar.add_task("compiling", total=iterations + 1)

        def tell(step: int, cost: float) -> None:
            words = (
                f"cost {cost:.3g} of the first" if step < iterations else "flying to choose among the gains"
            )
            bar.update(line, completed=step + 1, description=words)

        found = descend(
            known,
            parameters,
            vary=drawn,
            flights=flights,
            held_out=held_out,
            iterations=iterations,
            rate=rate,
            seed=seed,
            progress=tell,
        )
    _tell(found, Console(highlight=False))
    _write(found, folder)
    print(f"Scenario: {folder / 'scenario.yaml'}")
    print(f"Report:   {folder / 'report.md'}")


def _tell(found: Tuned, console: Any) -> None:
    from rich.table import Table

    table = Table("flight", "", "before", "after", box=None, pad_edge=False, header_style="bold")
    for column in table.columns[2:]:
        column.justify = "right"
    for label, _, before, after in _rows(found):
        table.add_row(label, "position RMSE (mm)", f"{before:.2f}", f"{after:.2f}")
    console.print(table)
    console.print(
        f"Position errors fall by {100 * found.improvement():.0f} % on the flights held out, by "
        f"{100 * found.improvement(held_out=False):.0f} % on those tuned on."
    )


def _rows(found: Tuned) -> list[tuple[str, str, float, float]]:
    """Kind, changes, and position errors (mm) before and after, of every flight."""
    rows = []
    for trial in found.trials:
        shown = ", ".join(f"{path} {value:.4g}" for path, value in trial.changes.items() if path != "seed")
        before, after = (1e3 * value for value in trial.position_rmse)
        rows.append(("held out" if trial.held_out else "tuned on", shown, before, after))
    return rows


def _write(found: Tuned, folder: Path) -> None:
    from skyrig.flight.plots import curve
    from skyrig.flight.storage import write_whole

    numbers = {
        "gains": found.gains,
        "before": found.before,
        "history": found.history.tolist(),
        "chosen": found.chosen,
        "improvement": {"held_out": found.improvement(), "tuned_on": found.improvement(held_out=False)},
        "flights": [
            {
                "changes": trial.changes,
                "held_out": trial.held_out,
                "position_rmse": trial.position_rmse,
                "attitude_rmse": trial.attitude_rmse,
            }
            for trial in found.trials
        ],
    }
    write_whole(folder / "scenario.yaml", found.scenario.to_yaml())
    write_whole(folder / "tune.json", json.dumps(numbers, indent=2) + "\n")
    write_whole(folder / "curve.png", curve(found.history, found.chosen))
    write_whole(folder / "report.md", _report(found))


def _report(found: Tuned) -> str:
    lines = [
        f"# {found.scenario.name}, tuned",
        "",
        f"Position errors fall by {100 * found.improvement():.1f} % on the flights held out and by "
        f"{100 * found.improvement(held_out=False):.1f} % on those tuned on (root mean square of all).",
        "",
        "| flight | differs by | position RMSE before (mm) | after (mm) |",
        "|---|---|---:|---:|",
        *(
            f"| {kind} | {shown} | {before:.2f} | {after:.2f} |"
            for kind, shown, before, after in _rows(found)
        ),
        "",
        "| gain | before | after |",
        "|---|---|---|",
        *(f"| {name} | {found.before[name]} | {value} |" for name, value in found.gains.items()),
        "",
        "![Training cost at each step](curve.png)",
        "",
    ]
    return "\n".join(lines)
