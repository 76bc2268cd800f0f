"""The picture of a grasp from moment to moment."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from skyrig.flight import outlines
from skyrig.flight.colours import PAYLOAD, of_vehicle
from skyrig.flight.flight import Flight
from skyrig.flight.frames import of_rows
from skyrig.flight.plot_layout import WIDTH, entry, head, room
from skyrig.flight.records import ordered

TOLD = ("touch", "grasped", "lifted", "released", "dropped")
"""Kinds of events that are moments of a grasp."""
MOST = 6
"""Panels."""
HALF = 0.22
"""Of what a panel shows, across, at least (m)."""


def sequence(flight: Flight) -> Figure | None:
    """The rig as it comes, touches, grasps, lifts and lets go; None of a flight that touches nothing."""
    named = moments(flight)
    if not named:
        return None
    entries = [entry(group, color=PAYLOAD) for group in ordered(flight.bodies)[:1]]
    entries.append(entry("vehicle and fingers", color=of_vehicle(0)))
    across = min(3, len(named))
    down = -(-len(named) // across)
    top = 0.2 + room(entries)
    figure = Figure(figsize=(WIDTH, 2.7 * down + top))
    tall = (2.7 * down) / (2.7 * down + top)
    for k, (words, row) in enumerate(named):
        left, low = (k % across) / across, tall * (1 - (k // across + 1) / down)
        axes: Any = figure.add_axes((left, low, 1 / across, 0.9 * tall / down), projection="3d")
        outlines.draw(axes, flight.rig, of_rows(flight, np.array([row])))
        _framed(axes, flight, row)
        axes.set_title(f"{words}, {flight.times[row]:.2f} s", fontsize=9, pad=0)
    head(figure, f"{flight.name}: the grasp from moment to moment", entries, left=0.3)
    return figure


def moments(flight: Flight) -> list[tuple[str, int]]:
    """Words and rows: the start, the first of each kind of event, the end; none where nothing was touched."""
    first = {kind: [it.time for it in flight.events if it.kind == kind][:1] for kind in TOLD}
    told = [(time[0], kind) for kind, time in first.items() if time]
    if not told:
        return []
    whole = [(float(flight.times[0]), "start"), *sorted(told), (float(flight.times[-1]), "end")]
    rows = [int(np.searchsorted(flight.times, time - 1e-9)) for time, _ in whole]
    found: dict[int, str] = {}
    for (_, words), row in zip(whole, rows, strict=True):
        at = min(row, len(flight.times) - 1)
        found[at] = f"{found[at]} and {words}" if at in found else words
    shown = sorted(found.items())
    if len(shown) > MOST:
        shown = [*shown[: MOST - 1], shown[-1]]
    return [(words, row) for row, words in shown]


def _framed(axes: Any, flight: Flight, row: int) -> None:
    """The view from the side, everything in it, no axes."""
    places = np.concatenate([body.position[row] for body in flight.bodies.values()])
    low, high = places.min(0), places.max(0)
    middle, half = (low + high) / 2, max(HALF, float((high - low).max()) / 2 + 0.12)
    axes.set(
        xlim=(middle[0] - half, middle[0] + half),
        ylim=(middle[1] - half, middle[1] + half),
        zlim=(middle[2] - half, middle[2] + half),
    )
    axes.set_box_aspect((1, 1, 1), zoom=1.4)
    axes.view_init(elev=6, azim=-75)
    axes.set_axis_off()
