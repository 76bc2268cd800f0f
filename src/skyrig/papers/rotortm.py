"""RotorTM's tables and figures, run again: Li, Liu, Loianno, IEEE T-RO 2023, doi 10.1109/TRO.2023.3336320."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skyrig.errors import InputError
from skyrig.files import read_bundled
from skyrig.flight.storage import write_whole
from skyrig.papers import page, rotortm_checks, rotortm_figures, rotortm_table3, rotortm_table56
from skyrig.papers.page import Block, Code, Heading, Items, PageTable, Picture, Text
from skyrig.papers.rotortm_flights import FOLDER, Ask, KeptFlight, Progress, run

TABLES = {
    3: (rotortm_table3.asks, rotortm_table3.blocks),
    5: (rotortm_table56.asks_5, rotortm_table56.blocks_5),
    6: (rotortm_table56.asks_6, rotortm_table56.blocks_6),
}
"""The flights and the text of each table."""
NAME = "rotortm"


def reproduce(
    out: Path, tables: Sequence[int] = (), figures: Sequence[int] = (), progress: Progress | None = None
) -> tuple[Path, Path]:
    """Fly what is asked for and write the page, its figures and their data.

    Args:
        out: Folder to write to: rotortm.md, rotortm.html, and a folder rotortm with pictures and data.
        tables: Numbers of tables, 3, 5 or 6.
        figures: Numbers of figures, 8 to 20. Without tables and figures, everything.
        progress: Told of every flight that is done.

    Returns:
        The Markdown page and the HTML page.

    Raises:
        InputError: If there is no such table or figure.
        FlightDiverged: If a flight stops making sense.
    """
    chosen = choose(tables, figures)
    wanted = [ask for number in chosen[0] for ask in TABLES[number][0]()]
    wanted += [ask for number in chosen[1] for ask in rotortm_figures.asks(number)]
    return _written(out, *chosen, run(wanted, progress))


def choose(tables: Sequence[int], figures: Sequence[int]) -> tuple[list[int], list[int]]:
    """The tables and figures that are meant, in order, or an `InputError` if there is no such one."""
    if not tables and not figures:
        return list(TABLES), rotortm_figures.numbers()
    return _known("table", tables, list(TABLES)), _known("figure", figures, rotortm_figures.numbers())


def _written(
    out: Path, tables: list[int], figures: list[int], found: dict[Ask, KeptFlight]
) -> tuple[Path, Path]:
    results: list[Block] = []
    for number in tables:
        made = TABLES[number][1](found)
        results += made
        sheets = [block for block in made if isinstance(block, PageTable)]
        for k, sheet in enumerate(sheets):
            name = f"table-{number}{'-windows' if k else ''}.csv"
            write_whole(out / NAME / name, _csv(sheet))
    if figures:
        results.append(Heading(2, "Figures"))
    for number in figures:
        arrays = rotortm_figures.data(number, found)
        write_whole(out / NAME / f"figure-{number:02d}.npz", rotortm_figures.packed(arrays))
        shown: Picture = rotortm_figures.picture(number, arrays, found, NAME)
        results += [Heading(3, f"Figure {number}"), shown]
    checks = rotortm_checks.blocks(found, tables, figures)
    return page.write([*_opening(), *checks, *results, *_definitions()], out, NAME)


def _opening() -> list[Block]:
    return [
        Heading(1, "RotorTM's results, run again"),
        Text(
            "The simulation results of RotorTM, a simulator of aerial transport and manipulation "
            "(Li, Liu, Loianno, IEEE T-RO 2023, doi 10.1109/TRO.2023.3336320) next to "
            "skyrig's. This page is written by a command, numbers and pictures alike:"
        ),
        Code("skyrig reproduce rotortm"),
        Text("`make reproduce` runs it and puts its page into the documentation."),
        Text(
            "**As published** flies RotorTM's equations with RotorTM's gains and simplifications; **full** "
            "is skyrig's own controller, which leaves no term out. Both fly in skyrig's physics with the "
            "rotors' limits."
        ),
    ]


def _definitions() -> list[Block]:
    entries: Any = read_bundled(FOLDER, "words")["definitions"]
    return [Heading(2, "What every number means"), Items(entries)]


def _known(noun: str, asked: Sequence[int], known: list[int]) -> list[int]:
    for number in asked:
        if number not in known:
            listed = ", ".join(str(each) for each in known)
            raise InputError(f"--{noun} must be one of {listed}, not {number}.")
    return sorted(set(asked))


def _csv(table: PageTable) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([table.head, *table.rows])
    return stream.getvalue()
