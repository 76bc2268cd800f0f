"""One HTML file that tells a flight: numbers, pictures, events, scenario, nothing fetched from elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from html import escape
from pathlib import Path

import numpy as np

from skyrig.brief import html_table
from skyrig.flight import playback, tables
from skyrig.flight.flight import Flight
from skyrig.flight.storage import write_whole
from skyrig.flight.trace import trace_in
from skyrig.flight.units import shown

MOST_EVENTS = 500
"""Longer lists of events are cut off."""
MANY_EVENTS = 40
"""Longer lists of events scroll by themselves, so that what comes after them is found."""
MOST_IMPACTS = 5
"""Impacts that have a table of their own."""

_TITLES = {
    "path": "Path",
    "sequence": "The grasp",
    "error": "Tracking error",
    "tensions": "Tensions",
    "impact": "The hardest impact",
    "attitudes": "Attitude of the payload",
    "thrusts": "Thrusts",
    "signals": "Signals",
}
_STYLE = """
body { --text: #222; --page: #fff; --line: #ddd; --code: #f5f5f5 }
@media (prefers-color-scheme: dark) {
  body { --text: #ddd; --page: #17181b; --line: #3a3c42; --code: #222428 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page) }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1, h2 { line-height: 1.2 } h2 { margin-top: 2.2rem } .wide { overflow-x: auto }
table { border-collapse: collapse } td, th { padding: .15rem .8rem .15rem 0 }
td, th { border-bottom: 1px solid var(--line) } td { font-variant-numeric: tabular-nums }
img { max-width: 100%; height: auto; background: #fff; border-radius: 6px }
pre { background: var(--code); padding: .8rem; overflow-x: auto }
.long { max-height: 30rem; overflow-y: auto; border: 1px solid var(--line); padding: 0 .8rem }
@media print { body { --text: #000; --page: #fff; --line: #ccc; --code: #fff; margin: 0; max-width: none }
  h2, h3 { break-after: avoid } h2 { margin-top: 1.2rem } img, table { break-inside: avoid }
  img { max-height: 9.5cm; width: auto } pre { white-space: pre-wrap; overflow-wrap: anywhere }
  .long { max-height: none; overflow: visible } }
"""


def write_report(flight: Flight, path: Path, pictures: Mapping[str, bytes] | None = None) -> Path:
    """Write the report of `flight` to `path`, whole or not at all; `pictures` are those drawn already."""
    return write_whole(path, html(flight, pictures))


def html(flight: Flight, pictures: Mapping[str, bytes] | None = None) -> str:
    """The report as HTML; every text in it is escaped."""
    if pictures is None:
        from skyrig.flight.plots import draw_all  # Matplotlib takes a while to import

        pictures = draw_all(flight)
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(flight.name)}</title>',
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">',
        f"<style>{_STYLE}{playback.STYLE}</style></head><body>",
        f"<h1>{escape(flight.name)}</h1>",
        *_judged(flight),
        f"<p>{escape(team(flight))}</p>",
        playback.of(flight),
        "<h2>Numbers</h2>",
        '<div class="wide">',
        html_table(
            ("", "", ""),
            list(tables.texts(tables.rows(flight.metrics))),
        ),
        "</div>",
    ]
    for name, title in _TITLES.items():
        if name in pictures:
            source = base64.b64encode(pictures[name]).decode("ascii")
            alt = escape(_seen(name, title, flight), quote=True)
            parts += [f"<h2>{title}</h2>", f'<img alt="{alt}" src="data:image/png;base64,{source}">']
    parts += ["<h2>Events</h2>", _events(flight)]
    for impact in flight.shown_impacts[:MOST_IMPACTS]:
        parts.append(f"<h3>Impact of cable {impact.cable} at {impact.time:.3f} s</h3>")
        parts.append(html_table(("", "before", "after", "change"), list(tables.impact_rows(impact))))
    parts += ["<h2>Scenario</h2>", f"<pre>{escape(flight.scenario)}</pre>"]
    listed = ", ".join(f"{name} {number}" for name, number in flight.versions.items())
    parts += [f"<p>Computed with {escape(listed)}.</p>", "</body></html>"]
    return "\n".join(parts)


def _seen(name: str, title: str, flight: Flight) -> str:
    """What a picture shows, for those who cannot see it."""
    whole = flight.metrics["tracking"]["whole"]
    tension = np.asarray(flight.cables.tension)
    if name == "path":
        low, high = (end(flight.vehicles.position.reshape(-1, 3), axis=0) for end in (np.min, np.max))
        box = " by ".join(f"{width:.2f}" for width in high - low)
        return f"Paths of all bodies, from above and from the side, within {box} m."
    if name == "error" and "position_rmse" in whole:
        peak, when = whole["position_peak"], whole["position_peak_time"]
        return (
            f"Tracking error over time: {whole['position_rmse']:.2g} m as a root mean square, "
            f"{peak:.2g} m at most, at {when:.2f} s."
        )
    if name == "tensions" and tension.size:
        return (
            f"Tension of {tension.shape[1]} cables over time, from {np.nanmin(tension):.3g} "
            f"to {np.nanmax(tension):.3g} N."
        )
    if name == "thrusts":
        return f"Thrust of {flight.rig.count} vehicles over {flight.duration:g} s."
    return f"{title} over {flight.duration:g} s."


def _judged(flight: Flight) -> list[str]:
    """The verdict, and whose own controller flew, if somebody's did."""
    lines = [f"<p><strong>{escape(flight.verdict.line)}</strong></p>"]
    own = trace_in(flight.scenario)
    if own is not None:
        source = f" in {own.file}, sha256 {own.sha256}" if own.file else ""
        lines.append(f"<p>{escape(f'Flown by a controller of its own: {own.name}{source}.')}</p>")
    return lines


def team(flight: Flight) -> str:
    """One sentence: who carried what, how, and for how long."""
    rig = flight.rig
    noun = "vehicle" if rig.count == 1 else "vehicles"
    carried = [_load(group, [it.mass for it in them]) for group, them in rig.loads.items()]
    who = " and ".join([f"{rig.count} {noun}", *carried])
    return f"{who} {rig.words}, {flight.duration:g} s, {len(flight.times)} samples."


def _load(group: str, masses: list[float]) -> str:
    """What is carried in a few words: 'a payload of 0.5 kg'."""
    if len(masses) > 1:
        return f"{len(masses)} {group} of {sum(masses):g} kg together"
    article = "an" if group[0].lower() in "aeiou" else "a"
    return f"{article} {group.removesuffix('s')} of {masses[0]:g} kg"


def _events(flight: Flight) -> str:
    if not flight.events:
        return "<p>None.</p>"
    large = flight.shown_events
    small = len(flight.events) - len(large)
    rows = []
    for event in large[:MOST_EVENTS]:
        (value,), unit = shown(event.unit, [event.value])
        whom = event.owner if event.index is None else f"{event.owner.removesuffix('s')} {event.index}"
        rows.append((f"{event.time:.3f}", event.kind, whom, f"{value} {unit}" if event.value else ""))
    more = len(large) - len(rows)
    rest = f"<p>And {more} more.</p>" if more > 0 else ""
    if small:
        (least,), unit = shown("N s", [flight.least_impulse])
        rest += f"<p>{small} impacts below {least} {unit} are left out.</p>"
    table = html_table(("time (s)", "event", "of", "value"), rows)
    return (f'<div class="long">{table}</div>' if len(rows) > MANY_EVENTS else table) + rest
