"""Pictures of Auto-Multilift's page: errors, tensions, and how its nets learned."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import numpy as np

from skyrig.flight.storage import write_whole
from skyrig.papers.auto_multilift_flight import SampledFlight
from skyrig.papers.page import Picture

NAME = "auto-multilift"
SHOWN = (("stored", 0, 2.8), ("same, our solver", 3, 1.0), ("same plant, our plans", 4, 1.0))
"""Label, row and line width of the flights that are drawn."""
Rows = Sequence[tuple[str, SampledFlight]]


def errors(rows: Rows, out: Path) -> Picture:
    """How far the load is from its reference, and the data beside it."""
    _kept(out, "figure-01", times=rows[0][1].times, errors=np.stack([it.error for _, it in rows]))
    most = max(np.linalg.norm(rows[k][1].error, axis=1).max() for _, k, _ in SHOWN)

    def draw(figure: Any, colours: Sequence[str]) -> None:
        axis = figure.subplots()
        for (label, k, width), colour in zip(SHOWN, colours, strict=True):
            it = rows[k][1]
            axis.plot(it.times, np.linalg.norm(it.error, axis=1), color=colour, linewidth=width, label=label)
        axis.set(xlabel="time (s)", ylabel="error (m)", ylim=(0.0, 1.15 * most))
        axis.legend(loc="upper right", ncols=3)

    return _picture("figure-01", draw, 3.2, "The load's distance from its reference.")


def tensions(rows: Rows, out: Path) -> Picture:
    """Tension of every cable over time."""
    _kept(out, "figure-02", times=rows[0][1].times, tensions=np.stack([it.tension for _, it in rows]))

    def draw(figure: Any, colours: Sequence[str]) -> None:
        axes = figure.subplots(2, 3, sharex=True, sharey=True)
        for cable, axis in enumerate(axes.flat):
            for (label, k, width), colour in zip(SHOWN, colours, strict=True):
                it = rows[k][1]
                late = it.times > 1.0
                axis.plot(
                    it.times[late], it.tension[late, cable], color=colour, linewidth=width / 2, label=label
                )
            axis.set_title(f"cable {cable}")
        figure.supxlabel("time (s)")
        figure.supylabel("tension (N)")
        axes[0, 0].legend(loc="upper left", fontsize="x-small")

    return _picture("figure-02", draw, 4.2, "Tensions of the six cables, after the first second.")


def training(losses: dict[str, list[np.ndarray]], words: dict[str, str]) -> Picture:
    """The stored losses of every run, by kind of gradient."""

    def draw(figure: Any, colours: Sequence[str]) -> None:
        axis = figure.subplots()
        for (kind, runs), colour in zip(losses.items(), colours, strict=True):
            for k, run in enumerate(runs):
                axis.semilogy(run / 1e6, color=colour, label=None if k else words[kind], marker=".", ms=3)
        axis.set(xlabel="episode (15 s each)", ylabel="mean loss ($10^6$)")
        axis.legend(loc="upper right")

    caption = "Mean losses of the public code's training runs, as it stored them: five start nets each."
    return _picture("figure-03", draw, 3.2, caption)


def training_losses() -> dict[str, list[np.ndarray]]:
    """Mean loss of every episode of the stored runs, by kind of gradient."""
    found: dict[str, list[np.ndarray]] = {}
    path = resources("skyrig.data") / "papers" / NAME / "training_losses.csv"
    with path.open("r") as stream:
        for row in csv.reader(stream):
            if row[1].isdigit():
                values = np.array([float(value) for value in row[2:] if value])
                found.setdefault(row[0], []).append(values)
    return found


def _kept(out: Path, figure: str, **arrays: Any) -> None:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    write_whole(out / NAME / f"{figure}.npz", stream.getvalue())


def _picture(name: str, draw: Any, height: float, caption: str) -> Picture:
    import matplotlib
    from matplotlib.figure import Figure

    from skyrig.flight.plots import COLOURS, STYLE

    with matplotlib.rc_context(STYLE | {"figure.constrained_layout.use": True}):
        figure = Figure(figsize=(6.4, height))
        draw(figure, ("#BBBBBB", COLOURS[0], COLOURS[1]))
        drawn = io.BytesIO()
        figure.savefig(drawn, format="png", dpi=120)
    return Picture(f"{NAME}/{name}.png", drawn.getvalue(), caption)
