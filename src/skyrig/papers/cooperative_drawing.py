"""Pictures of the page on cooperative manipulation."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from skyrig.papers.page import Picture
from skyrig.statics.pictures import draw_workspace

NAME = "cooperative-manipulation"


def drawn(out: Path, name: str, found: Any, caption: str, marks: Any = None) -> Picture:
    """A set of configurations, marked ones in black."""
    path = draw_workspace(found, out / NAME / f"{name}.png", marks)
    return Picture(f"{NAME}/{name}.png", path.read_bytes(), caption)


def curves(name: str, tracks: dict[str, Any], caption: str) -> Picture:
    """Distances of payloads over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 3.2), layout="constrained")
    axes = figure.add_subplot()
    for word, it in tracks.items():
        axes.plot(it.times, 100 * it.off, label=word, lw=1.2)
    axes.set(xlabel="time (s)", ylabel="distance (cm)")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    stream = io.BytesIO()
    figure.savefig(stream, dpi=150, format="png")
    return Picture(f"{NAME}/{name}.png", stream.getvalue(), caption)
