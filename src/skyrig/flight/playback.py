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
from skyrig.flight.records import TEAM, ordered
from skyrig.flight.rig import RigData

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
<div class="numbers">{name} <span data-player="east" data-readout="x"></span>, <span
data-player="north" data-readout="y"></span>, <span data-player="height" data-readout="z"></span> m
&nbsp; <span data-player="tethers"></span><span data-player="note"></span></div>
{overlay}</div>
"""
_SECOND = """<div class="numbers" style="color: {colour}">overlaid: {name}, {body} <span
data-player="second-east" data-readout="overlay-x"></span>, <span data-player="second-north"
data-readout="overlay-y"></span>, <span data-player="second-height" data-readout="overlay-z"></span> m</div>
"""
STYLE = """
.player canvas { width: 100%; height: clamp(18rem, 70vh, 46rem); display: block; border-radius: 6px }
.player canvas { touch-action: none; cursor: grab }
.player .bar { display: flex; gap: .7rem; align-items: center; margin-top: .4rem; white-space: nowrap }
.player .bar input[type=range] { flex: 1; min-width: 4rem } .player button { min-width: 4.5rem }
.player .numbers { font-variant-numeric: tabular-nums; font-size: .9em; margin-top: .2rem }
.player .numbers [data-player=tethers] span { margin-right: .5rem }
@media print { .player .bar, .player [data-player=note] { display: none }
  .player canvas { height: auto; max-height: 11cm; object-fit: contain; flex: none; break-inside: avoid } }
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
    rig: RigData
    events: Sequence[FlightEvent] = ()
    name: str = "a second flight"


def fragment(
    frames: Frames,
    rig: RigData,
    events: Sequence[FlightEvent] = (),
    dark: bool | None = False,
    name: str = "a",
    overlay: Overlay | None = None,
) -> str:
    """A player as HTML to put into a page, with its script; `STYLE` belongs into the page's head.

    `dark` is None for whichever looks the reader's browser prefers.
    """
    scene = _data(frames, rig, events, dark, overlay)
    data = json.dumps(scene, separators=(",", ":")).replace("<", "\\u003c")
    script = (resources("skyrig.flight") / "player.js").read_text(encoding="utf-8")
    return "\n".join(
        [
            _CONTROLS.replace("{id}", f'id="player-{escape(name)}"')
            .replace("{name}", escape(frames.main_name))
            .replace("{overlay}", _second(overlay)),
            f'<script type="application/json" id="flight-{escape(name)}">{data}</script>',
            f"<script>{script}",
            f'skyrigPlayer(document.getElementById("player-{escape(name)}"),'
            f' JSON.parse(document.getElementById("flight-{escape(name)}").textContent));</script>',
        ]
    )


def page(
    frames: Frames,
    rig: RigData,
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
            fragment(frames, rig, events, dark, overlay=overlay),
            "</body></html>",
        ]
    )


def of(flight: Flight) -> str:
    """A recorded flight's player."""
    return fragment(of_flight(flight, thinned(flight.duration)), flight.rig, flight.events, dark=None)


def thinned(duration: float) -> float:
    """How many frames a second a flight of `duration` (s) is shown with."""
    return min(RATE, MOST_FRAMES / max(duration, 1e-9))


def _second(overlay: Overlay | None) -> str:
    """A line of numbers for an overlaid flight, in its colour."""
    if overlay is None:
        return ""
    colour = "rgb({},{},{})".format(*meshes.OVERLAY)
    return _SECOND.format(colour=colour, name=escape(overlay.name), body=escape(overlay.frames.main_name))


def _data(
    frames: Frames, rig: RigData, events: Sequence[FlightEvent], dark: bool | None, overlay: Overlay | None
) -> dict[str, Any]:
    shown = [frames]
    scene = {"dark": dark, "slack": list(meshes.SLACK), **_rig(frames, rig, events)}
    if overlay is not None:
        shown.append(_during(overlay.frames, float(frames.times[0]), float(frames.times[-1])))
        second = _rig(shown[1], overlay.rig, overlay.events)
        scene["overlay"] = second | {"tint": list(meshes.OVERLAY), "opacity": meshes.OVERLAY_OPACITY}
    groups = [poses for each in shown for poses in each.bodies.values()]
    points = np.concatenate([poses.position.reshape(-1, 3) for poses in groups])
    low, high = points.min(0), points.max(0)
    scene["box"] = {"centre": ((low + high) / 2).tolist(), "size": float(np.linalg.norm(high - low)) + 0.8}
    return scene


def _during(frames: Frames, begin: float, end: float) -> Frames:
    """What a clock from `begin` to `end` (s) shows of a flight, thinned out."""
    first = max(int(np.searchsorted(frames.times, begin + 1e-9, side="right")) - 1, 0)
    last = max(int(np.searchsorted(frames.times, end - 1e-9)) + 1, first + 1)
    some = frames[first:last]
    return some[:: -(-len(some) // MOST_FRAMES)]


def _rig(frames: Frames, rig: RigData, events: Sequence[FlightEvent]) -> dict[str, Any]:
    """One rig: what it looks like and how it moves; bodies and tethers know each other by their numbers."""
    reach = float(np.max(np.linalg.norm(rig.points, axis=1), initial=0.0))
    bodies = [(group, k) for group in ordered(frames.bodies) for k in range(_count(frames, group))]
    cuts = rig.severed(events)
    return {
        "bodies": [_vehicle(rig, k) if group == TEAM else _load(rig, group, k) for group, k in bodies],
        "main": bodies.index((frames.main, 0)),
        "thick": 0.004 + 0.004 * min(reach, 2.0),
        "tethers": [
            {
                "name": escape(f"{it.name}-{k}"),
                "label": str(k) if it.name == "cable" else escape(f"{it.name} {k}"),
                "colour": list(meshes.colour(k)),
                "cut": cuts.get(j),
                "ends": [
                    {"body": bodies.index((end.group, end.index)), "point": np.round(end.point, 5).tolist()}
                    for end in (it.start, it.end)
                ],
            }
            for j, (it, k) in enumerate(zip(rig.tethers, rig.columns, strict=True))
        ],
        "tracks": _tracks(frames, rig, bodies),
    }


def _count(frames: Frames, group: str) -> int:
    return frames.bodies[group].position.shape[1]


def _vehicle(rig: RigData, k: int) -> dict[str, Any]:
    frame = rig.airframes[k]
    lift = 0.3 * (frame.height or 0.25 * frame.arm)
    return {
        "meshes": [_mesh(mesh) for mesh in meshes.airframe(frame, meshes.colour(k))],
        "propeller": _mesh(meshes.propeller(frame)),
        "rotors": np.round(frame.rotor_positions + [0.0, 0.0, lift], 4).tolist(),
        "spins": (-frame.spin).tolist(),
        "vehicle": k,
    }


def _load(rig: RigData, group: str, k: int) -> dict[str, Any]:
    shape = rig.shape(group, k)
    edges = np.round(meshes.edges(shape).reshape(-1, 3), 4).tolist()
    return {"meshes": [_mesh(meshes.payload(shape))], "edges": edges}


def _tracks(frames: Frames, rig: RigData, bodies: list[tuple[str, int]]) -> dict[str, str]:
    """What changes from frame to frame, as 32 bit numbers."""
    each = np.array([frame.rotor_count * frame.thrust_coefficient for frame in rig.airframes])
    speed = np.sqrt(np.maximum(np.nan_to_num(frames.thrust), 0.0) / each) / BLUR
    steps = np.diff(frames.times, prepend=frames.times[:1])
    poses = [(frames.bodies[group], k) for group, k in bodies]
    arrays = {
        "times": frames.times,
        "position": np.stack([it.position[:, k] for it, k in poses], axis=1),
        "attitude": np.stack([it.attitude[:, k] for it, k in poses], axis=1),
        "tension": _told(frames, rig, "tension", np.nan),
        "taut": _told(frames, rig, "taut", 1.0),
        "length": _told(frames, rig, "length", np.nan),
        "nodes": _nodes(frames, rig),
        "turns": np.cumsum(speed * steps[:, None], axis=0) % (2 * np.pi),
    }
    if frames.wanted_position is not None:
        arrays |= {"wanted_position": frames.wanted_position, "wanted_attitude": frames.wanted_attitude}
    return {
        name: base64.b64encode(np.ascontiguousarray(array, "<f4").tobytes()).decode("ascii")
        for name, array in arrays.items()
    }


def _nodes(frames: Frames, rig: RigData) -> np.ndarray:
    """(T, tethers, m, 3) points that the tethers run through (m); as many for each, none if some has none."""
    each = [frames.nodes(rig, j) for j in range(len(rig.tethers))]
    least = min((it.shape[1] for it in each), default=0)
    alike = all(it.shape[1] == least for it in each)
    return np.stack(each, axis=1) if each and alike else np.zeros((len(frames), len(each), 0, 3))


def _told(frames: Frames, rig: RigData, what: str, otherwise: float) -> np.ndarray:
    """(T, tethers) what the tethers' signals say; `otherwise` where there are none."""
    found = np.full((len(frames), len(rig.tethers)), otherwise)
    for j, (tether, k) in enumerate(zip(rig.tethers, rig.columns, strict=True)):
        values = frames.signals.get(f"{tether.name}.{what}")
        if values is not None and k < values.shape[1]:
            found[:, j] = values[:, k]
    return found


def _mesh(mesh: meshes.Mesh) -> dict[str, Any]:
    return {
        "vertices": np.round(mesh.vertices, 5).ravel().tolist(),
        "faces": mesh.faces.ravel().tolist(),
        "colour": list(mesh.colour),
        "onDark": list(meshes.DARK_FRAME if mesh.colour == meshes.FRAME else mesh.colour),
    }
