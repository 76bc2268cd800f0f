"""What the page says in words and numbers, as HTML; every text is escaped.

Each number stands in an element of its own with a `data-readout` name, for people's scripts and for tests.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import numpy as np

from skyrig.flight import meshes
from skyrig.flight.flight import FlightEvent
from skyrig.studio.engine import BROKEN, COMPILING, EMPTY, ENDED
from skyrig.studio.session import View

SHOWN_EVENTS = 60
_CELL = "padding:1px 6px 1px 0;white-space:nowrap"
_NUMBER = f"{_CELL};text-align:right;font-variant-numeric:tabular-nums"
_TEXT = "font-size:12.5px;line-height:1.45;padding:2px 12px 6px"
_WORDS = {
    "poke": "poke",
    "cut": "cut",
    "slack": "goes slack",
    "taut": "is taut",
    "impact": "snaps taut",
    "ground": "payload passes the ground",
}


def status(view: View | None, name: str, about: str) -> str:
    """What is open, how it is, and what went wrong."""
    words = _status_words(view)
    kind = "empty" if view is None else view.status
    lines = [
        f'<div style="font-size:15px;font-weight:600" data-readout="name">{escape(name)}</div>',
        f'<div style="opacity:.75">{escape(about)}</div>' if about else "",
        f'<div data-readout="status" data-status="{kind}" style="margin-top:2px">{escape(words)}</div>',
    ]
    return f'<div style="{_TEXT}">{"".join(lines)}</div>'


def message(text: str) -> str:
    """What could not be done; an empty element if nothing."""
    if not text:
        return '<div data-readout="message"></div>'
    style = "margin:2px 12px 6px;padding:6px 8px;border-radius:4px;font-size:12.5px;line-height:1.4;"
    colours = "background:#c9302c;color:#fff;overflow-wrap:anywhere"
    return f'<div data-readout="message" style="{style}{colours}">{escape(text)}</div>'


def numbers(view: View, cut: set[int]) -> str:
    """Time, pace, where the payload is, and every cable's tension."""
    frame = view.frame
    place = frame.payload_position[0]
    error = float(frame.error[0])
    rows = [
        _row("time", f"{frame.times[0]:.2f}", "s", "time"),
        _row("pace", "–" if np.isnan(view.pace) else f"{view.pace:.2f}", "x real time", "pace"),
        *(_row(f"payload {axis}", f"{place[k]:z.3f}", "m", axis) for k, axis in enumerate("xyz")),
        _row("error", "–" if np.isnan(error) else f"{1e3 * error:.1f}", "mm", "error"),
    ]
    table = f'<table style="border-collapse:collapse">{"".join(rows)}</table>'
    return f'<div style="{_TEXT}">{table}{_cables(view, cut)}</div>'


def log(events: Iterable[FlightEvent]) -> str:
    """The latest events, newest first."""
    rows = []
    for event in list(events)[::-1][:SHOWN_EVENTS]:
        words = _WORDS.get(event.kind, event.kind)
        if event.cable is not None:
            words = f"cable {event.cable} {words}"
        if event.impulse:
            words += f", {event.impulse:.3g} N s"
        rows.append(
            f'<tr data-event="{escape(event.kind)}"><td style="{_NUMBER}">{event.time:.3f}</td>'
            f'<td style="{_CELL}">{escape(words)}</td></tr>'
        )
    body = f"<table>{''.join(rows)}</table>" if rows else "<div>Nothing has happened yet.</div>"
    return f'<div data-readout="log" style="{_TEXT};max-height:170px;overflow-y:auto">{body}</div>'


def _cables(view: View, cut: set[int]) -> str:
    frame = view.frame
    rows = []
    for k in range(frame.tension.shape[1]):
        how = "cut" if k in cut else ("taut" if frame.taut[0, k] else "slack")
        red, green, blue = meshes.colour(k)
        mark = f'<span style="color:rgb({red},{green},{blue})">&#9632;</span>'
        rows.append(
            f'<tr><td style="{_CELL}">{mark} cable {k}</td>'
            f'<td style="{_NUMBER}" data-readout="tension-{k}">{_shown(frame.tension[0, k])}</td>'
            f'<td style="{_CELL}">N</td><td style="{_CELL}" data-readout="cable-{k}">{how}</td></tr>'
        )
    return f'<table style="border-collapse:collapse;margin-top:4px">{"".join(rows)}</table>'


def _row(name: str, value: str, unit: str, key: str) -> str:
    return (
        f'<tr><td style="{_CELL};opacity:.75">{name}</td>'
        f'<td style="{_NUMBER}" data-readout="{key}">{value}</td><td style="{_CELL}">{unit}</td></tr>'
    )


def _shown(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else "–"


def _status_words(view: View | None) -> str:
    if view is None or view.status == EMPTY:
        return "Getting ready …"
    if view.status == COMPILING:
        return "Compiling, a few seconds the first time …"
    if view.status == BROKEN:
        return "Stopped"
    if view.status == ENDED:
        return "Ended: the scenario says no more"
    if view.playing:
        return f"Playing at {view.speed:g}x"
    return "Looking back" if view.scrubbing else "Paused: press Play"
