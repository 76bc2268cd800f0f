"""A flight that plays in 3-D, on a page of its own or inside a report: WebGL, nothing fetched."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files as resources
from typing import Any

import numpy as np

from skyrig.flight import meshes
from skyrig.flight.flight import Flight, FlightEvent
from skyrig.flight.frames import Frames, of_flight
from skyrig.flight.outlines import parts_of
from skyrig.scenario.mechanisms import RigParts

RATE = 30.0
"""Frames a second."""
MOST_FRAMES = 3600
"""A longer flight has fewer frames a second."""
BLUR = 40.0
"""How much slower than real propellers turn on the screen, so that one sees which way."""
_CONTROLS = """
<div class="player" {id}>
<canvas data-player="canvas" aria-label="The flight in 3-D"></canvas>
<div class="bar"><button type="button" data-player="play">Play</button>
<input type="range" data-player="time" aria-label="Time">
<span><span data-player="clock" data-readout="time">0.00</span> s</span>
<select data-player="speed" aria-label="Speed"><option value="0.1">0.1x</option>
<option value="0.25">0.25x</option><option value="1" selected>1x</option>
<option value="2">2x</option><option value="4">4x</option></select>
<label><input type="checkbox" data-player="follow"> follow</label></div>
<div class="numbers">payload <span data-player="east" data-readout="x"></span>, <span
data-player="north" data-readout="y"></span>, <span data-player="height" data-readout="z"></span> m
&nbsp; <span data-player="cables"></span><span data-player="note"></span></div>
{overlay}</div>
"""
_SECOND = """<div class="numbers" style="color: {colour}">overlaid: {name}, payload <span
data-player="second-east" data-readout="overlay-x"></span>, <span data-player="second-north"
data-readout="overlay-y"></span>, <span data-player="second-height" data-readout="overlay-z"></span> m</div>
"""
STYLE = """
.player canvas { width: 100%; height: 26rem; display: block; border-radius: 6px }
.player canvas { touch-action: none; cursor: grab }
.player .bar { display: flex; gap: .7rem; align-items: center; margin-top: .4rem; white-space: nowrap }
.player .bar input[type=range] { flex: 1; min-width: 4rem } .player button { min-width: 4.5rem }
.player .numbers { font-variant-numeric: tabular-nums; font-size: .9em; margin-top: .2rem }
.player .numbers [data-readout^=cable] { margin-right: .5rem }
@media print { .player { display: none } }
"""
_PAGE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; padding: .6rem 1rem }
body { box-sizing: border-box; height: 100vh }
body { display: flex; flex-direction: column } h1 { font-size: 1.1rem; margin: 0 0 .4rem }
.player { flex: 1; display: flex; flex-direction: column; min-height: 0 }
.player canvas { flex: 1; min-height: 0; height: auto }
body.dark { background: #17181b; color: #ddd }
"""


@dataclass(frozen=True, eq=False)
class Overlay:
    """A second flight that is drawn over the first, in one colour, by the first one's clock."""

    frames: Frames
    parts: RigParts
    events: Sequence[FlightEvent] = ()
    name: str = "a second flight"


def fragment(
    frames: Frames,
    parts: RigParts,
    events: Sequence[FlightEvent] = (),
    dark: bool = False,
    name: str = "a",
    overlay: Overlay | None = None,
) -> str:
    """A player as HTML to put into a page, with its script; `STYLE` belongs into the page's head."""
    scene = _data(frames, parts, events, dark, overlay)
    data = json.dumps(scene, separators=(",", ":")).replace("<", "\\u003c")
    script = (resources("skyrig.flight") / "player.js").read_text(encoding="utf-8")
    return "\n".join(
        [
            _CONTROLS.replace("{id}", f'id="player-{escape(name)}"').replace("{overlay}", _second(overlay)),
            f'<script type="application/json" id="flight-{escape(name)}">{data}</script>',
            f"<script>{script}",
            f'skyrigPlayer(document.getElementById("player-{escape(name)}"),'
            f' JSON.parse(document.getElementById("flight-{escape(name)}").textContent));</script>',
        ]
    )


def page(
    frames: Frames,
    parts: RigParts,
    events: Sequence[FlightEvent] = (),
    title: str = "flight",
    dark: bool = False,
    overlay: Overlay | None = None,
) -> str:
    """One HTML page that plays a flight, and a second one over it, without any network."""
    return "\n".join(
        [
            "<!doctype html>",
            f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
            '<meta name="viewport" content="width=device-width">',
            f"<style>{STYLE}{_PAGE}</style></head>",
            f'<body class="{"dark" if dark else "light"}"><h1>{escape(title)}</h1>',
            fragment(frames, parts, events, dark, overlay=overlay),
            "</body></html>",
        ]
    )


def of(flight: Flight) -> str | None:
    """A recorded flight's player, or None where the flight does not carry a scenario to draw it by."""
    parts = parts_of(flight)
    if parts is None:
        return None
    return fragment(of_flight(flight, thinned(flight.duration)), parts, flight.events)


def thinned(duration: float) -> float:
    """How many frames a second a flight of `duration` (s) is shown with."""
    return min(RATE, MOST_FRAMES / max(duration, 1e-9))


def _second(overlay: Overlay | None) -> str:
    """A line of numbers for an overlaid flight, in its colour."""
    if overlay is None:
        return ""
    return _SECOND.format(colour="rgb({},{},{})".format(*meshes.OVERLAY), name=escape(overlay.name))


def _data(
    frames: Frames, parts: RigParts, events: Sequence[FlightEvent], dark: bool, overlay: Overlay | None
) -> dict[str, Any]:
    shown = [frames]
    scene = {"dark": dark, "slack": list(meshes.SLACK), **_rig(frames, parts, events)}
    if overlay is not None:
        shown.append(_during(overlay.frames, float(frames.times[0]), float(frames.times[-1])))
        second = _rig(shown[1], overlay.parts, overlay.events)
        scene["overlay"] = second | {"tint": list(meshes.OVERLAY), "opacity": meshes.OVERLAY_OPACITY}
    places = [[each.payload_position, each.vehicle_position.reshape(-1, 3)] for each in shown]
    points = np.concatenate([array for pair in places for array in pair])
    low, high = points.min(0), points.max(0)
    scene["box"] = {"centre": ((low + high) / 2).tolist(), "size": float(np.linalg.norm(high - low)) + 0.8}
    return scene


def _during(frames: Frames, begin: float, end: float) -> Frames:
    """What a clock from `begin` to `end` (s) shows of a flight, thinned out."""
    first = max(int(np.searchsorted(frames.times, begin + 1e-9, side="right")) - 1, 0)
    last = max(int(np.searchsorted(frames.times, end - 1e-9)) + 1, first + 1)
    some = frames[first:last]
    return some[:: -(-len(some) // MOST_FRAMES)]


def _rig(frames: Frames, parts: RigParts, events: Sequence[FlightEvent]) -> dict[str, Any]:
    """One rig: what it looks like and how it moves."""
    assert parts.payload is not None
    cables = len(parts.tethers)
    cuts = {event.cable: event.time for event in events if event.kind == "cut"}
    lift = [0.3 * (frame.height or 0.25 * frame.arm) for frame in parts.airframes]
    reach = float(np.max(np.linalg.norm(parts.points, axis=1), initial=0.0))
    return {
        "count": parts.count,
        "cables": cables,
        "colours": [list(meshes.colour(k)) for k in range(cables)],
        "thick": 0.004 + 0.004 * min(reach, 2.0),
        "payload": _mesh(meshes.payload(parts.payload.shape)),
        "edges": np.round(meshes.edges(parts.payload.shape).reshape(-1, 3), 4).tolist(),
        "vehicles": [
            [_mesh(mesh) for mesh in meshes.airframe(frame, meshes.colour(k))]
            for k, frame in enumerate(parts.airframes)
        ],
        "propellers": [_mesh(meshes.propeller(frame)) for frame in parts.airframes],
        "rotors": [
            np.round(frame.rotor_positions + [0.0, 0.0, up], 4).tolist()
            for frame, up in zip(parts.airframes, lift, strict=True)
        ],
        "spins": [(-frame.spin).tolist() for frame in parts.airframes],
        "hooks": [list(it.start.point) for it in parts.tethers],
        "attachments": np.round(parts.points, 5).tolist(),
        "cut": [cuts.get(k) for k in range(cables)],
        "tracks": _tracks(frames, parts),
    }


def _tracks(frames: Frames, parts: RigParts) -> dict[str, str]:
    """What changes from frame to frame, as 32 bit numbers."""
    each = np.array([frame.rotor_count * frame.thrust_coefficient for frame in parts.airframes])
    speed = np.sqrt(np.maximum(np.nan_to_num(frames.thrust), 0.0) / each) / BLUR
    steps = np.diff(frames.times, prepend=frames.times[:1])
    arrays = {
        "times": frames.times,
        "payload_position": frames.payload_position,
        "payload_attitude": frames.payload_attitude,
        "vehicle_position": frames.vehicle_position,
        "vehicle_attitude": frames.vehicle_attitude,
        "tension": np.nan_to_num(frames.tension),
        "taut": frames.taut,
        "length": frames.length,
        "turns": np.cumsum(speed * steps[:, None], axis=0) % (2 * np.pi),
    }
    if frames.wanted_position is not None:
        arrays |= {"wanted_position": frames.wanted_position, "wanted_attitude": frames.wanted_attitude}
    return {
        name: base64.b64encode(np.ascontiguousarray(array, "<f4").tobytes()).decode("ascii")
        for name, array in arrays.items()
    }


def _mesh(mesh: meshes.Mesh) -> dict[str, Any]:
    return {
        "vertices": np.round(mesh.vertices, 5).ravel().tolist(),
        "faces": mesh.faces.ravel().tolist(),
        "colour": list(mesh.colour),
    }
