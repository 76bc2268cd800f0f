"""The command that trains networks which say the weights of plans: `learn-weights`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tyro

from skyrig.cli.flights import Directory
from skyrig.cli.scenarios import Changes, Name, changed
from skyrig.cli.sweeps import Vary
from skyrig.errors import InputError

if TYPE_CHECKING:
    from skyrig.runs.learning import Learned


def learn_weights(
    scenario: tyro.conf.Positional[Name],
    /,
    *,
    changes: tyro.conf.UseAppendAction[Changes] = (),
    vary: tyro.conf.UseAppendAction[Vary] = (),
    flights: int = 4,
    seconds: float = 1.0,
    starts: int = 1,
    iterations: int = 30,
    rate: float = 0.1,
    held_out: int = 4,
    seed: int = 0,
    gradient: Literal["closed-loop", "uncoupled", "open-loop"] = "closed-loop",
    out: Directory = Path("learned"),
) -> None:
    """Train networks that say the weights of a team's plans, by gradients through its flights.

    Args:
        scenario: A bundled scenario's name, or a YAML file; mpc-distributed or mpc-central must fly it.
        changes: Values to change first, such as controller.name=mpc-distributed.
        vary: What the flights differ by, such as reference.period=uniform(5,7); if left out, the numbers of
            the reference by 15 %.
        flights: How many short flights to learn from.
        seconds: How long each of them is.
        starts: How many networks to train, from different random beginnings; the best one is kept.
        iterations: Steps of gradient descent.
        rate: Length of a step.
        held_out: How many whole flights to judge by, nothing being learned from them.
        seed: Of all that is drawn.
        gradient: Through whole flights; without what agents do to each other; or of everybody's own plans.
        out: Folder in which the folder with the networks is made.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from skyrig.scenario.vary import parse_vary

    known = changed(scenario, changes)
    folder = out / known.name
    for place in (out, folder):
        if place.exists() and not place.is_dir():
            raise InputError(f"{place} is in the way: a folder is needed to write the networks to.")
    drawn: dict[str, Any] | None = dict(parse_vary(each) for each in vary) or None

    from skyrig.runs.learning import learn_weights as descend

    errors = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        line = bar.add_task("compiling", total=iterations + 1)

        def tell(step: int, costs: Any) -> None:
            words = f"cost {min(costs):.3g} of the hand-tuned" if step < iterations else "judging"
            bar.update(line, completed=step + 1, description=words)

        found = descend(
            known,
            vary=drawn,
            flights=flights,
            seconds=seconds,
            starts=starts,
            iterations=iterations,
            rate=rate,
            held_out=held_out,
            seed=seed,
            gradient=gradient,
            progress=tell,
        )
    _write(found, folder)
    first, last = found.history[0], found.history.min(axis=0)
    print("Cost of the short flights, the hand-tuned weights' being 1, first and best of each start:")
    for before, after in zip(first, last, strict=True):
        print(f"  {before:.4g} -> {after:.4g}")
    for trial in found.trials:
        shown = ", ".join(f"{path} {value:.4g}" for path, value in trial.changes.items() if path != "seed")
        errors_of = ", ".join(f"{name} {1e3 * value:.2f}" for name, value in trial.position_rmse.items())
        print(f"Held out ({shown}): position RMSE in mm: {errors_of}")
    print(f"Networks: {folder / 'policy.npz'}, to fly by: --controller {folder / 'policy.npz'}")


def _write(found: Learned, folder: Path) -> None:
    from skyrig.flight.plots import curve
    from skyrig.flight.storage import write_whole

    step, start = found.chosen
    numbers = {
        "history": found.history.tolist(),
        "chosen": {"step": step, "start": start},
        "held_out": [{"changes": it.changes, "position_rmse": dict(it.position_rmse)} for it in found.trials],
    }
    write_whole(folder / "policy.npz", found.policy.content())
    write_whole(folder / "learn.json", json.dumps(numbers, indent=2) + "\n")
    write_whole(folder / "curve.png", curve(found.history[:, start], step))
