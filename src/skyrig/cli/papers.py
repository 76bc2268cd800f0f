"""The command that runs papers' results again: `reproduce`."""

from __future__ import annotations

import os
import time
from importlib import import_module
from pathlib import Path
from typing import Annotated

import tyro

from skyrig.checks import nearest
from skyrig.errors import InputError
from skyrig.papers import PAPERS

Paper = Annotated[str, tyro.conf.arg(metavar="PAPER")]
Number = Annotated[tuple[int, ...], tyro.conf.arg(metavar="N")]
Directory = Annotated[Path, tyro.conf.arg(metavar="DIR")]


def reproduce(
    paper: tyro.conf.Positional[Paper],
    /,
    *,
    table: tyro.conf.UseAppendAction[Number] = (),
    figure: tyro.conf.UseAppendAction[Number] = (),
    full: bool = False,
    out: Directory = Path("reproduced"),
) -> None:
    """Run a paper's results again and write them next to what it printed.

    Args:
        paper: Which paper; rotortm, multilift for its cables, auto-multilift, cooperative-manipulation, or
            soft-aerial-manipulation.
        table: Number of a table, 3, 5 or 6 of rotortm, 1 of the others; may be given several times.
        figure: Number of a figure, 8 to 20 of rotortm, 8 to 18 of multilift, 3 to 10 of
            cooperative-manipulation, 4 to 9 of soft-aerial-manipulation (1 for what it leaves open); may be
            given several times. Left out both, everything.
        full: Finer maps and more flights, where a paper has them: soft-aerial-manipulation.
        out: Folder to write the page, its pictures and their data to.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    if paper not in PAPERS:
        listed = f"{', '.join(PAPERS)}{nearest(paper, PAPERS)}"
        raise InputError(f"There is no paper {paper!r} to reproduce: the papers are {listed}.")
    began = time.perf_counter()
    module = import_module(PAPERS[paper])
    module.choose(table, figure)
    if full and not hasattr(module, "FULL"):
        raise InputError(f"--full is for soft-aerial-manipulation, not for {paper}.")
    _make_room(out)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    errors = Console(stderr=True)
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        line = bar.add_task("compiling", total=None)

        def tell(done: int, total: int, label: str) -> None:
            bar.update(line, completed=done, total=total, description=label)

        more = {"full": True} if full else {}
        pages = module.reproduce(out, table, figure, tell, **more)
    console = Console(highlight=False)
    for written in pages:
        console.print(f"Page: {written}", soft_wrap=True)
    console.print(f"It took {time.perf_counter() - began:.0f} s.")


def _make_room(out: Path) -> None:
    """Make the folder and see that it can be written to, before minutes are spent on flights."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is in the way: a folder is needed to write the page to.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out} cannot be made: {error.strerror}.") from None
    if not os.access(out, os.W_OK):
        raise InputError(f"{out} cannot be written to: permission denied.")
