"""Pictures of a sweep: where flights succeed, how metrics spread, and which inputs they go with."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from skyrig.flight.colours import COLOURS
from skyrig.flight.plot_layout import STYLE
from skyrig.flight.storage import write_whole
from skyrig.flight.units import fitting
from skyrig.flight.verdict import FLEW
from skyrig.runs.sweep_table import Table

SHOWN = {
    "position_rmse": ("position error,\nrms", "m"),
    "position_peak": ("position error,\npeak", "m"),
    "attitude_rmse": ("attitude error,\nrms", "rad"),
    "saturation": ("time with a rotor\nat its limit", "1"),
    "tension_max.0": ("tension of cable 0,\nmost", "N"),
    "closest_vehicles": ("closest vehicles,\nsurfaces", "m"),
}
"""Metrics that are drawn, where they are known: their names for people and their units."""
INCHES = 0.075
"""Width of a letter (inches)."""


def save_pictures(folder: Path, table: Table, paths: list[str]) -> list[Path]:
    """Draw what can be drawn of a sweep over these input paths, and say where it is."""
    with matplotlib.rc_context(STYLE):
        made = pictures(table, paths)
        return [_saved(folder / f"{name}.png", figure) for name, figure in made.items()]


def pictures(table: Table, paths: list[str]) -> dict[str, Figure]:
    """The pictures of a sweep by name, not yet drawn."""
    numeric = [path for path in paths if _varies(table[path])]
    metrics = [name for name in SHOWN if name in table and np.isfinite(table[name]).sum() > 1]
    made: dict[str, Figure] = {}
    if numeric:
        made["success-map"] = success_map(table, numeric)
    if metrics:
        made["histograms"] = histograms(table, metrics)
    if numeric and metrics:
        made["sensitivity"] = sensitivity(table, numeric, metrics)
    return made


def success_map(table: Table, paths: list[str]) -> Figure:
    """Flights over the two inputs that success goes with most, or the share of successes over one."""
    good = (table["verdict"] == FLEW).astype(float)
    ranked = sorted(paths, key=lambda path: -abs(rank_correlation(table[path], good)))
    figure = Figure(figsize=(6.4, 4.8), layout="constrained")
    axes = figure.add_subplot()
    if len(ranked) == 1:
        values = table[ranked[0]].astype(float)
        edges = np.linspace(values.min(), values.max(), min(20, len(np.unique(values))) + 1)
        spot = np.clip(np.digitize(values, edges) - 1, 0, len(edges) - 2)
        number = np.bincount(spot, minlength=len(edges) - 1)
        share = np.bincount(spot, good, len(edges) - 1) / np.maximum(number, 1)
        axes.stairs(np.where(number > 0, 100 * share, np.nan), edges, fill=True, color=COLOURS[0])
        axes.set(xlabel=ranked[0], ylabel="flights that flew as asked (%)", ylim=(0, 102))
    else:
        for wanted, colour, mark, words in (
            (0, COLOURS[1], "x", "failed"),
            (1, COLOURS[0], ".", "flew as asked"),
        ):
            own = good == wanted
            places = table[ranked[0]][own], table[ranked[1]][own]
            axes.scatter(*places, s=20, c=colour, marker=mark, label=f"{words}: {own.sum()}")
        axes.set(xlabel=ranked[0], ylabel=ranked[1])
        figure.legend(loc="outside lower center", ncols=2)
    axes.set_title(f"{good.mean():.1%} of {len(good)} flights flew as asked", loc="left", fontsize=10)
    return untangled(figure)


def histograms(table: Table, metrics: list[str]) -> Figure:
    """How the metrics of flights that reached their end spread."""
    columns = min(3, len(metrics))
    figure = Figure(figsize=(3.0 * columns, 2.4 * -(-len(metrics) // columns)), layout="constrained")
    for k, name in enumerate(metrics):
        axes = figure.add_subplot(-(-len(metrics) // columns), columns, k + 1)
        noun, unit = SHOWN[name]
        values = table[name][np.isfinite(table[name])]
        scale, people = fitting(unit, float(np.abs(values).max()))
        values = values / scale
        # numbers that differ by rounding alone stand in the middle, not in thirty bins
        around = 1e-6 * (1 + abs(float(values.mean())))
        span = (min(values.min(), values.mean() - around), max(values.max(), values.mean() + around))
        axes.hist(values, bins=30, range=span, color=COLOURS[0])
        axes.set(xlabel=f"{' '.join(noun.split())} ({people})", ylabel="flights")
        axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    return untangled(figure)


def sensitivity(table: Table, paths: list[str], metrics: list[str]) -> Figure:
    """Rank correlation (Spearman's) of every input, a row each, with every metric, a column each."""
    values = np.array([[rank_correlation(table[path], table[name]) for name in metrics] for path in paths])
    left = 0.3 + INCHES * max(len(path) for path in paths)
    wide, high = 1.35 * len(metrics), 0.4 * len(paths)
    figure = Figure(figsize=(left + wide + 1.2, high + 1.2), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(values, vmin=-1, vmax=1, cmap="RdBu_r", aspect="auto")
    axes.set_xticks(range(len(metrics)), [SHOWN[name][0] for name in metrics], fontsize=8)
    axes.set_yticks(range(len(paths)), paths)
    axes.grid(False)
    for (row, column), value in np.ndenumerate(values):
        ink = "white" if abs(value) > 0.6 else "black"
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=8, color=ink)
    axes.set_title("rank correlation of inputs and metrics", loc="left", fontsize=10)
    figure.colorbar(image)
    return figure


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's, over rows in which both are known; zero where one of them does not change."""
    from scipy.stats import rankdata

    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    both = np.isfinite(a) & np.isfinite(b)
    if both.sum() < 3:
        return 0.0
    a, b = rankdata(a[both]), rankdata(b[both])
    spread = a.std() * b.std()
    return float(((a - a.mean()) * (b - b.mean())).mean() / spread) if spread > 0 else 0.0


def untangled(figure: Figure) -> Figure:
    """The figure with so few numbers below each axis that they do not run into each other."""
    FigureCanvasAgg(figure)
    while True:
        figure.draw_without_rendering()
        tangled = [axes for axes in figure.axes if _overprinted(axes)]
        if not tangled:
            return figure
        for axes in tangled:
            low, high = axes.get_xlim()
            inside = [place for place in axes.get_xticks() if low <= place <= high]
            axes.set_xticks(inside[::2])


def _overprinted(axes: Axes) -> bool:
    """Whether numbers below an axis touch each other."""
    boxes = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
    gap = 4.0  # pixels
    return any(one.x1 + gap > other.x0 for one, other in pairwise(sorted(boxes, key=lambda box: box.x0)))


def _varies(column: np.ndarray) -> bool:
    return column.dtype.kind in "if" and len(np.unique(column)) > 1


def _saved(path: Path, figure: Figure) -> Path:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=120)
    return write_whole(path, stream.getvalue())
