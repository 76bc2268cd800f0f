"""Live plots: tracking error, tensions and heights over the last seconds."""

from __future__ import annotations

from typing import Any

import numpy as np
import viser

from skyrig.flight import meshes
from skyrig.flight.frames import Frames

SECONDS = 20.0
"""How far back plots go (s)."""
POINTS = 240


class Charts:
    """Three plots in the present container of the panel.

    Args:
        server: Whose panel.
        cables: How many cables there are.
        wanted: Whether anybody says where the payload shall be.
        dark: Whether the page is dark.
    """

    def __init__(self, server: viser.ViserServer, cables: int, wanted: bool, dark: bool) -> None:
        strong = "#e8e8ea" if dark else "#222222"
        each = [(f"{k}", _css(meshes.colour(k))) for k in range(cables)]
        self._plots: list[tuple[str, float, Any]] = []
        if wanted:
            self._add(server, "Tracking error (mm)", 1.0, [("error", strong)], dark)
        if cables:
            self._add(server, "Tensions (N)", 0.2, each, dark)
        aim = [("wanted", "#2f80d0")] if wanted else []
        self._add(server, "Heights (m)", 0.2, [("payload", strong), *aim], dark)

    def draw(self, frames: Frames) -> None:
        """Show these frames."""
        if not np.isfinite(frames.tension[0]).all():
            frames = frames[1:]
        if len(frames) < 2:
            return
        heights = [frames.payload_position[:, 2]]
        if frames.wanted_position is not None:
            heights.append(frames.wanted_position[:, 2])
        columns = {
            "Tracking error (mm)": [1e3 * frames.error],
            "Tensions (N)": list(frames.tension.T),
            "Heights (m)": heights,
        }
        for title, least, plot in self._plots:
            each = columns[title]
            low, high = float(np.min(each)), float(np.max(each))
            span = max(high - low, least)
            bottom = (low + high - span) / 2
            if low >= 0 > bottom:  # what is never negative has no axis below zero
                bottom = 0.0
            # an unseen line that keeps the axis from showing rounding as if it were something
            bound = np.where(np.arange(len(frames)) % 2, bottom, bottom + span)
            plot.data = (frames.times, *(np.ascontiguousarray(column) for column in each), bound)

    def _add(
        self, server: viser.ViserServer, title: str, least: float, lines: list[tuple[str, str]], dark: bool
    ) -> None:
        """One plot, its vertical axis spanning `least` at least."""
        self._plots.append((title, least, _plot(server, title, least, lines, dark)))

    def hide(self) -> None:
        """Show them no more."""
        for _, _, plot in self._plots:
            plot.visible = False

    def remove(self) -> None:
        """Take them out of the panel."""
        for _, _, plot in self._plots:
            plot.remove()


def _plot(
    server: viser.ViserServer, title: str, least: float, lines: list[tuple[str, str]], dark: bool
) -> Any:
    text = "#c8cad0" if dark else "#444444"
    grid = {"stroke": "#3a3d44" if dark else "#e3e5e8", "width": 1}
    axis: dict[str, Any] = {"stroke": text, "grid": grid, "ticks": grid}
    series: list[Any] = [{"label": "t (s)"}]
    series += [{"label": label, "stroke": colour, "width": 1.5} for label, colour in lines]
    series.append({"label": "", "stroke": "transparent", "points": {"show": False}})
    nothing = (np.arange(2.0), *(np.zeros(2) for _ in lines), np.array([-0.5, 0.5]) * least)
    axes: Any = ({**axis, "size": 26}, {**axis, "size": 52})
    return server.gui.add_uplot(
        nothing,
        tuple(series),
        title=title,
        scales={"x": {"time": False}, "y": {"auto": True}},
        axes=axes,
        legend={"show": False},
        height=150,
        padding=(10, 16, 0, 0),
    )


def _css(colour: meshes.Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
