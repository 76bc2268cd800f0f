"""Live plots of chosen signals over the last seconds, with events marked and other flights beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import viser

from skyrig.flight import meshes
from skyrig.flight.frames import Frames
from skyrig.flight.rig import RigData
from skyrig.studio.traces import ONE, Trace, traces

Reals = npt.NDArray[np.float64]

SECONDS = 20.0
"""How far back plots go (s)."""
POINTS = 240
MOST_MARKS = 60
"""Events that are marked."""
DASHES = ((4, 3), (1, 3), (8, 3), (8, 3, 1, 3))
"""Of the lines of flights that lie over the first, in turn."""


@dataclass(frozen=True, eq=False)
class Beside:
    """A flight whose signals are drawn beside those on show."""

    name: str
    frames: Frames
    rig: RigData


class Charts:
    """Plots in the present container of the panel, one a trace, with one cursor for all.

    Args:
        server: Whose panel.
        first: A frame of what will be drawn.
        rig: What flies.
        names: What is plotted, of `traces`; others are left out.
        beside: Other flights; each line of theirs is dashed in its own way.
        dark: Whether the page is dark.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        first: Frames,
        rig: RigData,
        names: Sequence[str],
        beside: Sequence[Beside],
        dark: bool,
    ) -> None:
        known = traces(first, rig)
        self._plots: list[tuple[Trace, list[tuple[Beside, Trace]], Any]] = []
        own = [(it, traces(it.frames, it.rig)) for it in beside]
        for name in names:
            if name not in known:
                continue
            others = [(it, theirs[name]) for it, theirs in own if name in theirs]
            plot = _plot(server, known[name], others, dark)
            self._plots.append((known[name], others, plot))

    def draw(self, frames: Frames | None, marks: Sequence[float] = ()) -> None:
        """Show these frames, and when events were (s); nothing if there are none to draw lines through."""
        frames = frames if frames is None or _known(frames) else frames[1:]
        if frames is None or len(frames) < 2:
            self.hide()
            return
        begin, end = frames.times[[0, -1]]
        marked = [it for it in marks if begin < it <= end][-MOST_MARKS:]
        times = np.sort(np.concatenate([frames.times, np.repeat(marked, 3)]))
        beside = {id(it): it for _, rest, _ in self._plots for it, _ in rest}
        late = {key: it.frames[_within(it.frames.times, begin, end)] for key, it in beside.items()}
        for trace, others, plot in self._plots:
            columns = _read(times, frames, trace)
            columns += [column for it, twin in others for column in _read(times, late[id(it)], twin)]
            seen = np.concatenate([it[np.isfinite(it)] for it in columns])
            low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 0.0)
            span = max(high - low, trace.least)
            bottom = (low + high - span) / 2
            if low >= 0 > bottom:  # what is never negative has no axis below zero
                bottom = 0.0
            spikes = np.full(len(times), -1.0)  # below what is seen of their axis, which is 0 to 1
            spikes[np.searchsorted(times, marked) + 1] = 1.0
            # an unseen line that keeps the axis from showing rounding as if it were something
            bound = np.where(np.arange(len(times)) % 2, bottom, bottom + span)
            plot.data = (times, *columns, spikes, bound)
            if not plot.visible:
                plot.visible = True

    def hide(self) -> None:
        """Show them no more."""
        for _, _, plot in self._plots:
            if plot.visible:
                plot.visible = False

    def remove(self) -> None:
        """Take them out of the panel."""
        for _, _, plot in self._plots:
            plot.remove()


def apart(
    now: float, frames: Frames, rig: RigData, names: Sequence[str], it: Beside
) -> list[tuple[str, str, float, float]]:
    """How far a flight is from another: name, unit, the largest difference of a line at `now` (s) and RMS.

    The RMS is over the frames that are given, as far as the other goes.
    """
    begin, end = max(frames.times[0], it.frames.times[0]), min(now, it.frames.times[-1])
    rows = _within(frames.times, begin, end)
    if not len(rows):
        return []
    times, theirs = frames.times[rows], it.frames[_within(it.frames.times, begin - 0.1, end + 0.1)]
    mine, other, found = traces(frames, rig), traces(it.frames, it.rig), []
    for name in names:
        one, twin = mine.get(name), other.get(name)
        if one is None or twin is None or len(one.lines) != len(twin.lines):
            continue
        gap = np.stack(_read(times, frames, one), 1) - np.stack(_read(times, theirs, twin), 1)
        if np.isfinite(gap).all():
            found.append((name, one.unit, float(np.abs(gap[-1]).max()), float(np.sqrt(np.mean(gap**2)))))
    return found


def _known(frames: Frames) -> bool:
    """Whether the first frame knows all signals: away from hover none does before something is commanded."""
    return all(np.isfinite(it[0]).all() for it in frames.signals.values() if it.dtype != bool)


def _within(times: Reals, begin: float, end: float) -> npt.NDArray[np.intp]:
    return np.flatnonzero((times >= begin - 1e-9) & (times <= end + 1e-9))


def _read(times: Reals, frames: Frames, trace: Trace) -> list[Reals]:
    """The lines of a trace at `times`; nothing (NaN) where there are no frames."""
    if len(frames) < 2:
        return [np.full(len(times), np.nan) for _ in trace.lines]
    values = np.asarray(trace.read(frames), float)
    return [
        np.interp(times, frames.times, values[:, k], left=np.nan, right=np.nan)
        for k in range(len(trace.lines))
    ]


def _plot(server: viser.ViserServer, trace: Trace, others: Sequence[tuple[Beside, Trace]], dark: bool) -> Any:
    """One plot, its vertical axis spanning what the trace asks for at least."""
    text = "#c8cad0" if dark else "#444444"
    strong = "#e8e8ea" if dark else "#222222"
    grid = {"stroke": "#3a3d44" if dark else "#e3e5e8", "width": 1}
    axis: dict[str, Any] = {"stroke": text, "grid": grid, "ticks": grid}
    lines = [(*line, ()) for line in trace.lines]
    for k, (it, twin) in enumerate(others):
        lines += [(f"{label}, {it.name}", colour, DASHES[k % len(DASHES)]) for label, colour in twin.lines]
    series: list[Any] = [{"label": "t (s)"}]
    for label, colour, dash in lines:
        look: Mapping[str, Any] = {"dash": list(dash)} if dash else {}
        stroke = strong if colour == ONE else _css(colour)
        series.append({"label": label, "stroke": stroke, "width": 1.5, **look})
    quiet = {"points": {"show": False}}
    series.append({"label": "events", "stroke": "#e0a63acc", "width": 1, "scale": "marks", **quiet})
    series.append({"label": "", "stroke": "transparent", **quiet})
    nothing = (
        np.arange(2.0),
        *(np.zeros(2) for _ in lines),
        -np.ones(2),
        np.array([-0.5, 0.5]) * trace.least,
    )
    axes: Any = ({**axis, "size": 26}, {**axis, "size": 52})
    cursor: Any = {"sync": {"key": "skyrig"}}
    return server.gui.add_uplot(
        nothing,
        tuple(series),
        title=trace.title,
        scales={"x": {"time": False}, "y": {"auto": True}, "marks": {"auto": False, "range": (0.0, 1.0)}},
        axes=axes,
        legend={"show": True},
        cursor=cursor,
        height=150,
        padding=(10, 16, 0, 0),
        visible=False,  # until there is something to show
    )


def _css(colour: meshes.Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
