"""Live plots: tracking error, tensions, other signals and heights over the last seconds."""

from __future__ import annotations

from typing import Any

import numpy as np
import viser

from skyrig.flight import meshes
from skyrig.flight.frames import Frames
from skyrig.rigs.layout import is_course

SECONDS = 20.0
"""How far back plots go (s)."""
POINTS = 240
UNSEEN = ("cable.length",)
"""Signals that have no plot."""
MOST = 6
"""Signals that have one."""


class Charts:
    """Plots in the present container of the panel: error, tensions, the rig's own signals, height.

    Args:
        server: Whose panel.
        first: A frame of what will be drawn.
        dark: Whether the page is dark.
    """

    def __init__(self, server: viser.ViserServer, first: Frames, dark: bool) -> None:
        strong = "#e8e8ea" if dark else "#222222"
        self._plots: list[tuple[str, float, Any]] = []
        self._signals = {
            _title(name, first.units[name]): name
            for name, values in first.signals.items()
            if first.units.get(name) and name not in UNSEEN and not is_course(name) and values.shape[1]
        }
        wanted = first.wanted_position is not None
        if wanted:
            self._add(server, "Tracking error (mm)", 1.0, [("error", strong)], dark)
        for title, name in list(self._signals.items())[:MOST]:
            count = first.signals[name].shape[1]
            lines = [(f"{k}", _css(meshes.colour(k))) for k in range(count)]
            self._add(server, title, 0.2 if name == "cable.tension" else 1e-3, lines, dark)
        aim = [("wanted", "#2f80d0")] if wanted else []
        self._add(server, "Heights (m)", 0.2, [(first.main_name, strong), *aim], dark)

    def draw(self, frames: Frames | None) -> None:
        """Show these frames; nothing if there are none to draw lines through."""
        if frames is not None:
            known = (np.isfinite(frames.signals[name][0]).all() for name in self._signals.values())
            frames = frames if all(known) else frames[1:]
        if frames is None or len(frames) < 2:
            self.hide()
            return
        heights = [frames.place[:, 2]]
        if frames.wanted_position is not None:
            heights.append(frames.wanted_position[:, 2])
        columns = {
            "Tracking error (mm)": [1e3 * frames.error],
            "Heights (m)": heights,
            **{title: list(frames.signals[name].T) for title, name in self._signals.items()},
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
            if not plot.visible:
                plot.visible = True

    def _add(
        self, server: viser.ViserServer, title: str, least: float, lines: list[tuple[str, str]], dark: bool
    ) -> None:
        """One plot, its vertical axis spanning `least` at least."""
        self._plots.append((title, least, _plot(server, title, least, lines, dark)))

    def hide(self) -> None:
        """Show them no more."""
        for _, _, plot in self._plots:
            if plot.visible:
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
        visible=False,  # until there is something to show
    )


def _title(name: str, unit: str) -> str:
    words = "Tensions" if name == "cable.tension" else name
    return words if unit == "1" else f"{words} ({unit})"


def _css(colour: meshes.Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
