"""Pictures of the page on the soft aerial manipulator."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skyrig.papers.page import Picture
from skyrig.papers.soft_flights import JumpErrors

NAME = "soft-aerial-manipulation"


def _saved(figure: Any, name: str, caption: str) -> Picture:
    stream = io.BytesIO()
    figure.savefig(stream, dpi=130, format="png")
    return Picture(f"{NAME}/{name}.png", stream.getvalue(), caption)


def fingers(shapes: Mapping[str, tuple[np.ndarray, np.ndarray]], caption: str) -> Picture:
    """Edges of fingers from the side, and the target, by the objective they answer to."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    panels = figure.subplots(1, len(shapes), sharey=True)
    for axes, (name, (edges, target)) in zip(np.atleast_1d(panels), shapes.items(), strict=True):
        for finger in edges:
            for corner in range(4):
                axes.plot(finger[:, corner, 0], finger[:, corner, 2], color="tab:cyan", lw=1.0)
        axes.plot(target[0], target[2], "o", color="tab:red")
        axes.plot([-0.125, 0.125], [0.0, 0.0], color="tab:olive", lw=3)
        axes.set(title=name, xlabel="x (m)", aspect="equal")
    np.atleast_1d(panels)[0].set_ylabel("z (m)")
    return _saved(figure, "figure-04", caption)


def errors(name: str, groups: Mapping[str, Sequence[JumpErrors]], caption: str) -> Picture:
    """Means of three errors over time, shaded by one standard deviation."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.0), layout="constrained")
    panels = figure.subplots(1, 3)
    labels = {"velocity": "velocity (m/s)", "position": "position (m)", "attitude": "attitude (1)"}
    for axes, (kind, label) in zip(panels, labels.items(), strict=True):
        for word, tracks in groups.items():
            rows = np.stack([getattr(it, kind) for it in tracks])
            mean, spread = rows.mean(0), rows.std(0)
            axes.plot(tracks[0].times, mean, label=word, lw=1.3)
            axes.fill_between(tracks[0].times, mean - spread, mean + spread, alpha=0.25)
        axes.set(xlabel="time (s)", ylabel=label)
    if len(groups) > 1:
        panels[-1].legend(frameon=False)
    return _saved(figure, name, caption)


def maps(
    name: str, found: Mapping[str, Mapping[tuple[float, float], bool]], least: float, caption: str
) -> Picture:
    """Grasps that held (full) and failed (crosses) over where they started."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    panels = figure.subplots(1, len(found), sharey=True)
    for axes, (word, outcomes) in zip(np.atleast_1d(panels), found.items(), strict=True):
        for (x, z), held in outcomes.items():
            style = {"marker": "o", "color": "tab:green"} if held else {"marker": "x", "color": "tab:red"}
            axes.plot(x, z, ms=9, **style)
        axes.axhline(least, color="0.7", lw=1, ls="--")
        axes.set(title=word, xlabel="x (m)")
        axes.margins(0.15)
    np.atleast_1d(panels)[0].set_ylabel("z (m)")
    return _saved(figure, name, caption)
