"""What the page says in words and numbers, as HTML; every text is escaped.

Each number stands in an element of its own with a `data-readout` name, for people's scripts and for tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from skyrig.flight import meshes
from skyrig.flight.flight import FlightEvent
from skyrig.flight.frames import Frames
from skyrig.flight.rig import RigData
from skyrig.rigs.layout import is_course
from skyrig.studio.charts import apart
from skyrig.studio.engine import BROKEN, COMPILING, EMPTY, ENDED
from skyrig.studio.overlays import FlightOverlay
from skyrig.studio.session import View

SHOWN_EVENTS = 60
SHOWN_SIGNALS = 12
_CELL = "padding:1px 6px 1px 0;white-space:nowrap"
_NUMBER = f"{_CELL};text-align:right;font-variant-numeric:tabular-nums"
_TABLE = "border-collapse:collapse;margin-top:4px"
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
        "" if view is None else _verdict(view),
    ]
    return f'<div style="{_TEXT}">{"".join(lines)}</div>'


def _verdict(view: View) -> str:
    """What went wrong in the flight, if it has by the moment shown."""
    said, now = view.verdict, float(view.frame.times[0])
    if said is None or (said.time is not None and said.time > now + 1e-9):
        return ""
    back = "" if view.playing or said.time is None else " Drag the time back to before it, and press Play."
    words = said.line[0].upper() + said.line[1:] + back
    style = "margin-top:4px;padding:4px 8px;border-radius:4px;background:#b8651b;color:#fff"
    return f'<div data-readout="verdict" style="{style}">{escape(words)}</div>'


def message(text: str) -> str:
    """What could not be done; an empty element if nothing."""
    if not text:
        return '<div data-readout="message"></div>'
    style = "margin:2px 12px 6px;padding:6px 8px;border-radius:4px;font-size:12.5px;line-height:1.4;"
    colours = "background:#c9302c;color:#fff;overflow-wrap:anywhere"
    return f'<div data-readout="message" style="{style}{colours}">{escape(text)}</div>'


def brief(view: View) -> str:
    """The most needed numbers, as plain text for a line: time, error or height."""
    frame = view.frame
    error, sign = float(frame.error[0]), "\u25b6" if view.playing else "\u2016"
    far = f"height {frame.place[0, 2]:.2f} m" if np.isnan(error) else f"error {1e3 * error:.0f} mm"
    return f"{sign} {frame.times[0]:.1f} s, {far}"


def numbers(view: View, rig: RigData | None, cut: set[int]) -> str:
    """Time, pace, where what is carried is, every tether's tension, and the rig's own signals."""
    frame = view.frame
    place, name = frame.place[0], escape(frame.main_name)
    error = float(frame.error[0])
    rows = [
        _row("time", f"{frame.times[0]:.2f}", "s", "time"),
        _row("pace", "–" if np.isnan(view.pace) else f"{view.pace:.2f}", "x real time", "pace"),
        *(_row(f"{name} {axis}", f"{place[k]:z.3f}", "m", axis) for k, axis in enumerate("xyz")),
        _row("error", "–" if np.isnan(error) else f"{1e3 * error:.1f}", "mm", "error"),
    ]
    table = f'<table style="border-collapse:collapse">{"".join(rows)}</table>'
    return f'<div style="{_TEXT}">{table}{_tethers(frame, rig, cut)}{_signals(frame, rig)}</div>'


def beside(
    now: float,
    frames: Frames | None,
    rig: RigData | None,
    names: Sequence[str],
    overlays: Sequence[FlightOverlay],
) -> str:
    """How far each flight that lies over the one on show is from it: what is carried, and what is plotted."""
    if frames is None or rig is None:
        return ""
    tables = []
    for k, it in enumerate(overlays):
        name = f'<td style="{_CELL}">{_mark(it.tint)} {escape(it.name)}</td>'
        rows = [f"<tr>{name}{_head('apart')}{_head('RMS')}</tr>"]
        for what, unit, gap, rms in [_apart(now, frames, it), *apart(now, frames, rig, names, it)]:
            key = f"apart-{k}-{escape(what)}"
            rows.append(
                f'<tr><td style="{_CELL};opacity:.75">{escape(what)}</td>'
                f'<td style="{_NUMBER}" data-readout="{key}">{_shown(gap)}</td>'
                f'<td style="{_NUMBER}">{_shown(rms)}</td><td style="{_CELL}">{escape(unit)}</td></tr>'
            )
        tables.append(f'<table style="{_TABLE}">{"".join(rows)}</table>')
    return f'<div style="{_TEXT}" data-readout="beside">{"".join(tables)}</div>' if tables else ""


def _head(words: str) -> str:
    return f'<td style="{_NUMBER};opacity:.75">{words}</td>'


def _apart(now: float, frames: Frames, it: FlightOverlay) -> tuple[str, str, float, float]:
    """The distance between what two flights carry (mm): now, and the RMS over the frames."""
    rows = (frames.times <= now + 1e-9) & (frames.times <= it.frames.times[-1] + 1e-9)
    if frames.main_name != it.frames.main_name or not rows.any():
        return "distance", "mm", float("nan"), float("nan")
    times = frames.times[rows]
    theirs = np.stack([np.interp(times, it.frames.times, column) for column in it.frames.place.T], axis=1)
    far = 1e3 * np.linalg.norm(frames.place[rows] - theirs, axis=1)
    return frames.main_name, "mm", float(far[-1]), float(np.sqrt(np.mean(far**2)))


def _mark(colour: meshes.Colour) -> str:
    return f'<span style="color:rgb{colour}">&#9632;</span>'


def log(events: Iterable[FlightEvent]) -> str:
    """The latest events, newest first."""
    rows = []
    for event in list(events)[::-1][:SHOWN_EVENTS]:
        words = _WORDS.get(event.kind, event.kind)
        if event.index is not None and event.kind not in ("poke", "ground"):
            words = f"{event.owner.removesuffix('s')} {event.index} {words}"
        if event.value:
            words += f", {event.value:.3g} {event.unit}".rstrip()
        rows.append(
            f'<tr data-event="{escape(event.kind)}"><td style="{_NUMBER}">{event.time:.3f}</td>'
            f'<td style="{_CELL}">{escape(words)}</td></tr>'
        )
    body = f"<table>{''.join(rows)}</table>" if rows else "<div>Nothing has happened yet.</div>"
    return f'<div data-readout="log" style="{_TEXT};max-height:170px;overflow-y:auto">{body}</div>'


def _tethers(frame: Frames, rig: RigData | None, cut: set[int]) -> str:
    """A row for every tether of which a tension or whether it is taut is told."""
    rows = []
    lines = [] if rig is None else zip(rig.tethers, rig.columns, frame.tethers(rig, cut), strict=True)
    for j, (tether, k, line) in enumerate(lines):
        if not any(f"{tether.name}.{what}" in frame.signals for what in ("tension", "taut")):
            continue
        how = "cut" if j in cut else ("taut" if line.taut else "slack")
        name, key = escape(tether.name), "" if tether.name == "cable" else f"{escape(tether.name)}-"
        rows.append(
            f'<tr><td style="{_CELL}">{_mark(meshes.colour(k))} {name} {k}</td>'
            f'<td style="{_NUMBER}" data-readout="{key}tension-{k}">{_shown(line.tension)}</td>'
            f'<td style="{_CELL}">N</td><td style="{_CELL}" data-readout="{name}-{k}">{how}</td></tr>'
        )
    return f'<table style="{_TABLE}">{"".join(rows)}</table>'


def _signals(frame: Frames, rig: RigData | None) -> str:
    """The rig's own signals: all but those of its tethers."""
    tethers = {it.name for it in rig.tethers} if rig is not None else set()
    known = {f"{name}.{what}" for name in tethers for what in ("tension", "length", "taut")}
    rows = []
    for name, values in list(frame.signals.items())[:SHOWN_SIGNALS]:
        if name in known or is_course(name):
            continue
        unit = frame.units.get(name, "1")
        for k, value in enumerate(values[0][:SHOWN_SIGNALS]):
            text = _shown(float(value)) if unit else ("yes" if value else "no")
            words = escape(f"{name} {k}" if len(values[0]) > 1 else name)
            rows.append(_row(words, text, escape("" if unit == "1" else unit), escape(f"{name}-{k}")))
    return f'<table style="{_TABLE}">{"".join(rows)}</table>' if rows else ""


def _row(name: str, value: str, unit: str, key: str) -> str:
    return (
        f'<tr><td style="{_CELL};opacity:.75">{name}</td>'
        f'<td style="{_NUMBER}" data-readout="{key}">{value}</td><td style="{_CELL}">{unit}</td></tr>'
    )


def _shown(value: float) -> str:
    return f"{value:z.2f}" if np.isfinite(value) else "–"


def _status_words(view: View | None) -> str:
    if view is None or view.status == EMPTY:
        return "Getting ready …"
    if view.status == COMPILING:
        return "Compiling, a few seconds the first time …"
    if view.status == BROKEN:
        return "Stopped"
    if view.playing:
        return f"Playing at {view.speed:g}x"
    if view.scrubbing:
        return "Looking back: Play goes on from here"
    if view.status == ENDED:
        return "The scenario's end: Play flies on, Reset begins anew"
    waiting = f", {view.waiting} to be done then" if view.waiting else ""
    return f"Paused: press Play{waiting}"
