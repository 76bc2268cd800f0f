"""Pictures of a sweep: where flights succeed, how metrics spread, and which inputs they go with."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from skyrig.flight.plots import COLOURS
from skyrig.flight.storage import write_whole
from skyrig.flight.sweep_table import Table
from skyrig.flight.verdict import FLEW

SHOWN = {
    "position_rmse": "m",
    "position_peak": "m",
    "attitude_rmse": "rad",
    "saturation": "share of the time",
    "tension_max.0": "N",
    "closest_vehicles": "m",
}
"""Metrics that are drawn, where they are known, and their units."""


def save_pictures(folder: Path, table: Table, paths: list[str]) -> list[Path]:
    """Draw what can be drawn of a sweep over these input paths, and say where it is."""
    numeric = [path for path in paths if _varies(table[path])]
    metrics = [name for name in SHOWN if name in table and np.isfinite(table[name]).sum() > 1]
    made: dict[str, Figure] = {}
    if numeric:
        made["success-map"] = success_map(table, numeric)
    if metrics:
        made["histograms"] = histograms(table, metrics)
    if numeric and metrics:
        made["sensitivity"] = sensitivity(table, numeric, metrics)
    return [_saved(folder / f"{name}.png", figure) for name, figure in made.items()]


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
        axes.stairs(np.where(number > 0, share, np.nan), edges, fill=True, color=COLOURS[0])
        axes.set(xlabel=ranked[0], ylabel="share that flew as asked", ylim=(0, 1.02))
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
    axes.set_title(f"{good.mean():.1%} of {len(good)} flights flew as asked")
    return figure


def histograms(table: Table, metrics: list[str]) -> Figure:
    """How the metrics of flights that reached their end spread."""
    columns = min(3, len(metrics))
    figure = Figure(figsize=(3.4 * columns, 2.8 * -(-len(metrics) // columns)), layout="constrained")
    for k, name in enumerate(metrics):
        axes = figure.add_subplot(-(-len(metrics) // columns), columns, k + 1)
        values = table[name][np.isfinite(table[name])]
        # numbers that differ by rounding alone stand in the middle, not in thirty bins
        around = 1e-6 * (1 + abs(float(values.mean())))
        span = (min(values.min(), values.mean() - around), max(values.max(), values.mean() + around))
        axes.hist(values, bins=30, range=span, color=COLOURS[0])
        axes.set(xlabel=f"{name} ({SHOWN[name]})", ylabel="flights")
    return figure


def sensitivity(table: Table, paths: list[str], metrics: list[str]) -> Figure:
    """Rank correlation (Spearman's) of every input with every metric."""
    values = np.array([[rank_correlation(table[path], table[name]) for path in paths] for name in metrics])
    figure = Figure(figsize=(2.5 + 1.1 * len(paths), 1.5 + 0.5 * len(metrics)), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(values, vmin=-1, vmax=1, cmap="RdBu_r", aspect="auto")
    axes.set_xticks(range(len(paths)), paths, rotation=30, ha="right")
    axes.set_yticks(range(len(metrics)), metrics)
    for (row, column), value in np.ndenumerate(values):
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=8)
    figure.colorbar(image, label="rank correlation (1)")
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


def _varies(column: np.ndarray) -> bool:
    return column.dtype.kind in "if" and len(np.unique(column)) > 1


def _saved(path: Path, figure: Figure) -> Path:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=120)
    return write_whole(path, stream.getvalue())
