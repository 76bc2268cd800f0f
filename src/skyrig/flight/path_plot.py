"""The picture of where everything went, in three dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from skyrig.flight import outlines
from skyrig.flight.colours import PAYLOAD, REFERENCE, of_vehicle
from skyrig.flight.flight import Flight
from skyrig.flight.frames import of_rows
from skyrig.flight.plot_layout import WIDTH, entry, head, room
from skyrig.flight.records import TEAM, ordered

MOMENTS = 5
"""At how many moments the whole rig is drawn."""
MOST_NAMED = 8
"""Larger teams have one entry in the legend for all."""


def path(flight: Flight) -> Figure:
    """Where everything went, the references, and the rig at a few moments."""
    entries = _entries(flight)
    high = 5.2 + room(entries)
    figure = Figure(figsize=(WIDTH, high))
    axes: Any = figure.add_axes((0.02, 0.02, 0.92, 5.1 / high), projection="3d")
    for group in ordered(flight.references):
        for each in flight.references[group].position.swapaxes(0, 1):
            axes.plot(*each.T, color=REFERENCE, linewidth=3.0 if group == TEAM else 3.5)
    for group in reversed(ordered(flight.bodies)):
        for k, each in enumerate(flight.bodies[group].position.swapaxes(0, 1)):
            look: Any = {"color": PAYLOAD, "linewidth": 1.3}
            if group == TEAM:
                look = {"color": of_vehicle(k), "linewidth": 0.8, "alpha": 0.7}
            axes.plot(*each.T, **look)
    shown = moments(flight.times, flight.bodies[ordered(flight.bodies)[0]].position[:, 0])
    for row in shown:
        gone = flight.rig.severed(flight.events, float(flight.times[row]) - 1e-9)
        outlines.draw(axes, flight.rig, of_rows(flight, np.array([row])), gone, strong=0.9)
    for name, axis in zip("xyz", (axes.xaxis, axes.yaxis, axes.zaxis), strict=True):
        axis.set_major_locator(MaxNLocator(5))
        axis.set_label_text(f"{name} (m)")
    axes.set_aspect("equal", adjustable="datalim")
    head(figure, f"{flight.name}: path, and the rig at {len(shown)} moments", entries, left=0.3)
    return figure


def moments(times: np.ndarray, place: np.ndarray) -> list[int]:
    """Rows at which the rig is drawn: as far from each other in space as can be, else in time.

    Moments at even times would coincide where a circle is flown several times.
    """
    extent = max(float(np.ptp(place, axis=0).max(initial=0.0)), 0.1)
    when = (times - times[0]) / max(float(times[-1] - times[0]), 1e-9)
    way = np.column_stack([place / extent, 0.2 * when])
    rows, apart = [0], np.full(len(times), np.inf)
    while len(rows) < min(MOMENTS, len(times)):
        apart = np.minimum(apart, np.linalg.norm(way - way[rows[-1]], axis=1))
        rows.append(int(apart.argmax()))
    return sorted(set(rows))


def _entries(flight: Flight) -> list[Any]:
    found = [entry(group, color=PAYLOAD, linewidth=1.3) for group in ordered(flight.bodies) if group != TEAM]
    if flight.references:
        found.append(entry("reference", color=REFERENCE, linewidth=3.5))
    if flight.rig.count > MOST_NAMED:
        return [*found, entry("vehicles", color=of_vehicle(0))]
    return [*found, *(entry(f"vehicle {k}", color=of_vehicle(k)) for k in range(flight.rig.count))]
