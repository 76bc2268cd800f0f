"""Flights and batches as notebooks show them."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from skyrig.brief import html_table
from skyrig.flight import report, tables
from skyrig.flight.flight import Flight
from skyrig.flight.units import shown

if TYPE_CHECKING:
    from skyrig.runs.batches import Flights

BATCH = {
    "position_rmse": ("position error, rms", "m"),
    "position_peak": ("position error, peak", "m"),
    "position_last": ("position error at the end", "m"),
    "attitude_rmse": ("attitude error, rms", "rad"),
    "attitude_peak": ("attitude error, peak", "rad"),
    "saturation": ("time with a rotor at its limit", "1"),
    "closest_vehicles": ("closest vehicles", "m"),
}
"""Metrics of a batch that are told, their names for people and their units."""


def flight_html(flight: Flight) -> str:
    """A flight: who flew, its numbers and its path."""
    from skyrig.flight.plots import draw  # Matplotlib takes a while to import

    parts = [
        f"<b>{escape(f'{flight.name} {flight.verdict.line}')}</b>",
        f"<p>{escape(report.team(flight))}</p>",
    ]
    if flight.metrics:
        parts.append(html_table(("", "", ""), tables.texts(tables.rows(flight.metrics))))
    image = base64.b64encode(draw(flight, "path") or b"").decode("ascii")
    parts.append(f'<img alt="path" style="max-width:36rem" src="data:image/png;base64,{image}">')
    return f"<div>{''.join(parts)}</div>"


def batch_html(flights: Flights) -> str:
    """Many flights: how many flew as asked, and how their metrics spread."""
    rows = []
    for name, (noun, unit) in BATCH.items():
        column = flights.metrics.get(name)
        if column is not None and np.isfinite(column).any():
            spread = [float(value) for value in np.nanpercentile(column, [5, 50, 95])]
            values, people = shown(unit, spread)
            rows.append((noun, *values, people))
    failed = "".join(
        f"<li>flight {row} {escape(verdict.line)}</li>"
        for row, verdict in [pair for pair in enumerate(flights.verdicts) if not pair[1].flew][:3]
    )
    return "".join(
        [
            f"<div><b>{escape(repr(flights))}</b>",
            html_table(("", "5 %", "median", "95 %", ""), rows),
            f"<ul>{failed}</ul>" if failed else "",
            "</div>",
        ]
    )
