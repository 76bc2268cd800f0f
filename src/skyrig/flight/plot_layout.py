"""How a flight's pictures are laid out: a title and a legend above the axes, where they cover nothing."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from skyrig.flight.colours import GREY
from skyrig.flight.flight import Flight

DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
STYLE: Any = {
    "font.size": 9,
    "axes.grid": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-6, 6),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.alpha": 0.3,
    "lines.linewidth": 1.4,
    "legend.frameon": False,
    "figure.dpi": 150,
}
WIDTH = 6.5
MARGINS = {"left": 0.85, "right": 0.15, "bottom": 0.45, "top": 0.32}
"""Around the axes (inches): given rather than found out, which would take as long as all the drawing."""
LINE = 0.2
"""Height of a line of the legend (inches)."""
COLUMNS = 6
"""Entries of a legend side by side."""
MARKED: dict[str, Any] = {"impact": ":", "cut": "--", "poke": "-."}
"""Events that are marked in plots over time, and how; those of a mechanism's own are marked as `OTHERS`."""
OTHERS: Any = (0, (1, 4))
UNMARKED = ("taut", "slack", "ground")
MOST_KINDS, MOST_LETTERS = 6, 16
"""Kinds of events of a mechanism's own that are marked, and letters of their names in the legend."""


def rows(count: int, sharey: bool = False) -> tuple[Figure, Any]:
    """A figure with `count` axes one below the other over the same time; `finish` gives it its size."""
    figure = Figure(figsize=(WIDTH, 1.0 + count))
    axes = figure.subplots(count, 1, sharex=True, sharey=sharey, squeeze=False)[:, 0]
    for axis in axes:
        axis.yaxis.set_label_coords(-0.68 / (WIDTH - MARGINS["left"] - MARGINS["right"]), 0.5)
    return figure, axes


def finish(figure: Figure, each: float, title: str, handles: list[Any]) -> Figure:
    """Lay out a figure of rows, each `each` inches high, with a title and a legend above them."""
    top = room(handles)
    height = top + MARGINS["bottom"] + each * len(figure.axes)
    figure.set_size_inches(WIDTH, height)
    figure.subplots_adjust(
        left=MARGINS["left"] / WIDTH,
        right=1 - MARGINS["right"] / WIDTH,
        bottom=MARGINS["bottom"] / height,
        top=1 - top / height,
        hspace=0.16,
    )
    head(figure, title, handles)
    return figure


def room(handles: list[Any]) -> float:
    """Height that the title and a legend of these entries need (inches)."""
    return MARGINS["top"] + LINE * -(-len(handles) // COLUMNS)


def head(figure: Figure, title: str, handles: list[Any], left: float = MARGINS["left"]) -> None:
    """A title and a legend at the figure's top, `left` inches from its edge."""
    wide, high = figure.get_size_inches()
    figure.text(left / wide, 1 - 0.08 / high, plain(title), ha="left", va="top", fontsize=10)
    if not handles:
        return
    columns = min(len(handles), COLUMNS)
    lines = -(-len(handles) // columns)
    # Matplotlib fills column by column, people read line by line
    filled = handles + [entry("", linestyle="none")] * (columns * lines - len(handles))
    figure.legend(
        handles=[filled[line * columns + column] for column in range(columns) for line in range(lines)],
        loc="upper left",
        bbox_to_anchor=(left / wide, 1 - (MARGINS["top"] - 0.04) / high),
        borderaxespad=0.0,
        borderpad=0.0,
        labelspacing=0.25,
        handlelength=1.8,
        columnspacing=1.2,
        ncols=columns,
    )


def entry(label: str, **looks: Any) -> Line2D:
    """A line for a legend."""
    return Line2D([], [], label=plain(label), **looks)


def plain(text: str) -> str:
    """Text as it stands: Matplotlib takes what is between dollars for a formula."""
    return text.replace("$", r"\$")


def mark_events(axes: Any, flight: Flight) -> list[Line2D]:
    """Mark pokes, cuts and impacts that are large enough, and give the legend's entries for them."""
    found = [event for event in flight.events if event.kind not in UNMARKED]
    least = flight.least_impulse
    found = [event for event in found if event.kind != "impact" or event.impulse >= least]
    there = {event.kind for event in found}
    kinds = [*(kind for kind in MARKED if kind in there), *sorted(there - MARKED.keys())[:MOST_KINDS]]
    looks: dict[str, Any] = {
        kind: {"color": GREY, "linewidth": 0.7, "linestyle": MARKED.get(kind, OTHERS)} for kind in kinds
    }
    for axis in axes:
        for event in found:
            if event.kind in looks:
                axis.axvline(event.time, zorder=0, **looks[event.kind])
    axes[-1].set_xlabel("time (s)")
    return [entry(kind[:MOST_LETTERS], **looks[kind]) for kind in kinds]


def open_up(axis: Any, least: float) -> None:
    """Keep rounding errors from filling an axis: show at least `least` of it."""
    low, high = axis.get_ylim()
    if high - low < least:
        middle = (low + high) / 2
        axis.set_ylim(middle - least / 2, middle + least / 2)
