"""The picture of work against precision."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from precision import SECONDS, Study

from skyrig.flight.plots import COLOURS, DASHES, STYLE

MARKS = "osD^"


def draw(study: Study, path: Path) -> None:
    """Error against CPU time, a line for each who."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(6.5, 4.0), layout="constrained")
        axes = figure.add_subplot()
        for k, who in enumerate(dict.fromkeys(it.who for it in study.points)):
            own = [it for it in study.points if it.who == who]
            axes.loglog(
                [it.cpu for it in own],
                [it.error for it in own],
                color=COLOURS[k],
                linestyle=DASHES[k],
                marker=MARKS[k],
                markersize=4,
                label=who,
            )
        axes.set_xlabel(f"CPU time of a flight of {SECONDS:g} s (s)")
        axes.set_ylabel("error of the payload's position (m)")
        axes.legend()
        FigureCanvasAgg(figure).print_png(str(path))
