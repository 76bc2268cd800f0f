"""skyrig next to other simulators, measured in one run, and the page about it: `make bench-peers`.

All take turns. Figures are CPU time (every thread of a process counts), warm-up excluded, medians.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import contenders
import precision
import precision_plot
import results_page
from rich.console import Console
from turns import Elsewhere, Here

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
PEERS = ("rotorpy", "crazyflow", "udaan")
console = Console()


def started(python: Path) -> tuple[list[Here | Elsewhere], list[str]]:
    """Every simulator that can be measured, and a sentence about each that cannot."""
    groups: list[Here | Elsewhere] = [Here(contenders.ours()), Here(contenders.mujocos())]
    missing = []
    for name in PEERS:
        console.print(f"Starting {name}")
        try:
            if not python.exists():
                raise RuntimeError("the environment of the other simulators is not there")
            groups.append(Elsewhere(python, HERE / f"peer_{name}.py"))
        except (OSError, RuntimeError, ValueError) as error:
            missing.append(f"{name} was not measured: {error}.")
    return groups, missing


def measured(groups: list[Here | Elsewhere], rounds: int, missing: list[str]) -> list[results_page.Measured]:
    """Simulated seconds per CPU second of all contenders, in turns."""
    turns = [(group, index) for group in groups for index in range(len(group.entries))]
    taken: dict[int, list[float]] = {}
    lost = set()
    for turn in range(rounds):
        console.print(f"Round {turn + 1} of {rounds}")
        for place, (group, index) in enumerate(turns):
            if id(group) in lost:
                continue
            try:
                taken.setdefault(place, []).append(group.measure(index))
            except (OSError, RuntimeError, ValueError) as error:
                lost.add(id(group))
                missing.append(f"{group.entries[index].who} failed while it was measured: {error}.")
    rows = []
    for place, (group, index) in enumerate(turns):
        if id(group) not in lost:
            entry = group.entries[index]
            simulated = entry.flights * entry.seconds
            rows.append(results_page.Measured(entry, simulated / statistics.median(taken[place])))
    return rows


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, default=HERE.parent / ".venv-peers" / "bin" / "python")
    parser.add_argument("--rounds", type=int, default=3, help="turns of every contender")
    parser.add_argument("--docs", type=Path, default=DOCS, help="where the page goes")
    given = parser.parse_args()
    began = time.perf_counter()
    groups, missing = started(given.peers)
    rows = measured(groups, given.rounds, missing)
    for group in groups:
        group.close()
    console.print("Work against precision")
    studies = {name: precision.study(flight) for name, flight in precision.FLIGHTS.items()}
    pictures = given.docs / "benchmarks"
    pictures.mkdir(parents=True, exist_ok=True)
    for name, study in studies.items():
        precision_plot.draw(study, pictures / f"{name}.png")
    minutes = (time.perf_counter() - began) / 60
    text = results_page.page(rows, missing, studies, given.rounds, minutes)
    (given.docs / "benchmarks.md").write_text(text, encoding="utf-8")
    console.print(text, markup=False, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main()
