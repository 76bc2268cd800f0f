"""RotorTM's figures drawn from plain arrays: nothing but what a figure's .npz file holds is needed.

Colours and dashes are those of `skyrig.flight.plots`: legible in print, in grey, and to colour-blind readers.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from skyrig.flight.plots import COLOURS, DASHES, GREY, STYLE
from skyrig.papers.rotortm_flights import FULL, PUBLISHED, rig_label

Arrays = Mapping[str, np.ndarray]
BOTH = (PUBLISHED, FULL)
_WORDS = {PUBLISHED: "as published", FULL: "full"}
_LOOK = {
    PUBLISHED: {"color": COLOURS[1], "linestyle": "--", "linewidth": 1.2},
    FULL: {"color": COLOURS[0], "linestyle": "-", "linewidth": 1.4},
}
_WANTED = {"color": "#BBBBBB", "linestyle": "-", "linewidth": 4.0, "zorder": 1}
DPI = 120
"""Dots an inch: sharp in print at the width of a page, and small enough to keep."""
_LEAST_ERROR = 1e-4
"""Errors below this (mm) are drawn as this."""


def draw(kind: str, arrays: Arrays, entry: Mapping[str, Any]) -> bytes:
    """A figure as PNG.

    Args:
        kind: One of `KINDS`.
        arrays: Its data.
        entry: Its entry in flights.yaml.
    """
    with matplotlib.rc_context(STYLE | {"figure.constrained_layout.use": True}):
        figure = KINDS[kind](arrays, entry)
        figure.align_ylabels()
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=DPI)
    return stream.getvalue()


def tracks(arrays: Arrays, entry: Mapping[str, Any]) -> Figure:
    """Position and velocity along each axis as published, and both flavours' distance from the reference."""
    figure = Figure(figsize=(7.0, 7.6))
    axes = figure.subplot_mosaic(
        [["x", "vx"], ["y", "vy"], ["z", "vz"], ["error", "error"]], height_ratios=[1, 1, 1, 1.25]
    )
    time, rigs = arrays["time"], entry["rigs"]
    for k, name in enumerate("xyz"):
        for prefix, field, unit in (("", "position", "m"), ("v", "velocity", "m/s")):
            axis = axes[prefix + name]
            for i, rig in enumerate(rigs):
                axis.plot(time, arrays[f"{rig}.{PUBLISHED}.{field}"][:, k], **_rig_look(i))
            axis.plot(time, arrays[f"reference.{field}"][:, k], **_WANTED)
            axis.set_ylabel(f"{field}, {name} ({unit})")
            _open_up(axis, 0.1)
            axis.tick_params(labelbottom=name == "z")
    for i, rig in enumerate(rigs):
        for flavour in BOTH:
            apart = arrays[f"{rig}.{flavour}.position"] - arrays["reference.position"]
            size = np.maximum(1e3 * np.linalg.norm(apart, axis=1), _LEAST_ERROR)
            pale: dict[str, Any] = {"alpha": 0.55, "linewidth": 0.9} if flavour == FULL else {}
            look = _rig_look(i) | pale
            axes["error"].plot(time, size, **look)
    axes["error"].set_yscale("log")
    axes["error"].set_ylabel("distance from\nreference (mm)")
    axes["error"].set_xlabel("time (s)")
    axes["error"].set_title("upper lines: as published; lower, pale lines: full", fontsize=8)
    handles = [axes["x"].plot([], [], label=rig_label(rig), **_rig_look(i))[0] for i, rig in enumerate(rigs)]
    handles.append(axes["x"].plot([], [], label="reference", **_WANTED)[0])
    figure.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), 6), fontsize=8)
    return figure


def turns(arrays: Arrays, entry: Mapping[str, Any]) -> Figure:
    """The angle that is turned, and its error."""
    tasks, rigs = entry["tasks"], entry["rigs"]
    figure = Figure(figsize=(7.0, 1.0 + 2.1 * len(tasks)))
    axes = figure.subplots(len(tasks), 2, sharex=True, squeeze=False)
    lines: dict[str, Any] = {}
    for row, task in enumerate(tasks):
        time, wanted = arrays[f"{task}.time"], arrays[f"{task}.reference"]
        for i, rig in enumerate(rigs):
            for flavour in BOTH:
                angle = arrays[f"{task}.{rig}.{flavour}"]
                look = _LOOK[flavour] if len(rigs) == 1 else _rig_look(2 * i + (flavour == FULL))
                label = _WORDS[flavour] if len(rigs) == 1 else f"{rig_label(rig)}, {_WORDS[flavour]}"
                (lines[label],) = axes[row, 0].plot(time, angle, **look)
                axes[row, 1].plot(time, angle - wanted, **look)
        (lines["reference"],) = axes[row, 0].plot(time, wanted, **_WANTED)
        axes[row, 0].set_ylabel(f"{task} (degrees)")
        axes[row, 1].set_ylabel(f"{task}, error (degrees)")
        _open_up(axes[row, 1], 0.01)
    for axis in axes[-1]:
        axis.set_xlabel("time (s)")
    figure.legend(list(lines.values()), list(lines), loc="outside upper center", ncols=3, fontsize=8)
    return figure


def impact(arrays: Arrays, entry: Mapping[str, Any]) -> Figure:
    """Left: the cable's ends around the impact. Right: the payload's way back to its hover pose."""
    figure = Figure(figsize=(7.0, 6.4))
    axes = figure.subplots(3, 2, sharex="col")
    hits = [float(arrays[f"{flavour}.impact"]) for flavour in BOTH]
    start = float(arrays["start"])
    for flavour, hit in zip(BOTH, hits, strict=True):
        look, time = _LOOK[flavour], arrays[f"{flavour}.time"]
        axes[0, 0].plot(time, arrays[f"{flavour}.distance"], label=_WORDS[flavour], **look)
        axes[1, 0].plot(time, np.abs(arrays[f"{flavour}.along"]), **look)
        axes[2, 0].plot(time, arrays[f"{flavour}.across"], **look)
        apart, slow = arrays[f"{flavour}.apart"], arrays[f"{flavour}.slow_time"]
        axes[0, 1].plot(slow, apart[:, 0], **look)
        axes[1, 1].plot(slow, apart[:, 2], **look)
        tilt = arrays.get(f"{flavour}.tilt")
        axes[2, 1].plot(slow, np.linalg.norm(apart, axis=1) if tilt is None else tilt, **look)
        for axis in axes.flat:
            axis.axvline(hit, color=look["color"], linewidth=0.8, linestyle=":")
    axes[0, 0].axhline(float(arrays["length"]), color=GREY, linewidth=0.8)
    axes[0, 0].annotate("cable's length", (start, float(arrays["length"])), (2, 3), fontsize=7,
                        textcoords="offset points", color=GREY)  # fmt: skip
    for axis, label in zip(
        axes[:, 0], ("distance of ends (m)", "speed apart, along (m/s)", "speed, across (m/s)"), strict=True
    ):
        axis.set_ylabel(label)
        _open_up(axis, 0.1)
    last = "payload's tilt (deg)" if f"{FULL}.tilt" in arrays else "distance from hover (m)"
    for axis, label in zip(
        axes[:, 1], ("payload x from hover (m)", "payload z from hover (m)", last), strict=True
    ):
        axis.set_ylabel(label)
        _open_up(axis, 0.1)
    axes[0, 0].set_xlim(start, max(hits) + 0.6 * (max(hits) - start))
    axes[0, 1].set_xlim(0.0, float(arrays["until"]))
    low, high = axes[0, 0].get_ylim()
    axes[0, 0].set_ylim(low, high + 0.15 * (high - low))
    for axis in axes[-1]:
        axis.set_xlabel("time (s)")
    figure.legend(loc="outside upper center", ncols=2, fontsize=8)
    return figure


def stills(arrays: Arrays, entry: Mapping[str, Any]) -> Figure:
    """The rig from the side at three moments, the slack cable dotted."""
    figure = Figure(figsize=(7.0, 3.3))
    axes = figure.subplots(1, 3, sharey=True)
    titles = ("before: all taut", "poked: front cable slack", "after: taut again")
    for k, (axis, title) in enumerate(zip(axes, titles, strict=True)):
        corners, vehicles, ends = (arrays[name][k] for name in ("corners", "vehicles", "ends"))
        axis.plot(*corners[[*range(len(corners)), 0]][:, [0, 2]].T, color=COLOURS[4], linewidth=4.0)
        for j in range(len(vehicles)):
            taut = bool(arrays["taut"][k, j])
            way = np.stack([vehicles[j], ends[j]])[:, [0, 2]].T
            axis.plot(
                *way, color=COLOURS[0] if taut else COLOURS[1], linestyle="-" if taut else ":", linewidth=1.6
            )
            axis.plot(*vehicles[j][[0, 2]], marker="s", color="black", markersize=7)
        axis.set_title(f"{title}\n{float(arrays['times'][k]):.2f} s", fontsize=8)
        axis.set_xlabel("x (m)")
        axis.set_aspect("equal", adjustable="box")
        axis.set_xlim(-0.45, 0.7)
    axes[0].set_ylabel("z (m)")
    return figure


def velocities(arrays: Arrays, entry: Mapping[str, Any]) -> Figure:
    """Three components of the payload's velocity or body rate through the impact."""
    figure = Figure(figsize=(7.0, 5.4))
    axes = figure.subplots(3, 1, sharex=True)
    linear = entry["field"] == "velocity"
    for k, axis in enumerate(axes):
        for flavour in BOTH:
            look = _LOOK[flavour]
            value = arrays[f"{flavour}.value"][:, k]
            label = _WORDS[flavour] if k == 0 else None
            axis.plot(arrays[f"{flavour}.time"], value, label=label, **look)
            axis.axvline(
                float(arrays[f"{flavour}.impact"]), color=look["color"], linewidth=0.8, linestyle=":"
            )
        name = "xyz"[k]
        axis.set_ylabel(f"velocity, {name} (m/s)" if linear else f"body rate, {name} (rad/s)")
        _open_up(axis, 0.1)
    axes[-1].set_xlim(0.8, 5.0)
    axes[-1].set_xlabel("time (s)")
    figure.legend(loc="outside upper center", ncols=2, fontsize=8)
    return figure


KINDS: dict[str, Callable[[Arrays, Mapping[str, Any]], Figure]] = {
    "tracks": tracks,
    "turns": turns,
    "impact": impact,
    "stills": stills,
    "velocities": velocities,
}
"""How figures are drawn, by the kind that flights.yaml names."""


def _rig_look(index: int) -> dict[str, Any]:
    return {"color": COLOURS[index], "linestyle": DASHES[index], "linewidth": 1.3}


def _open_up(axis: Any, least: float) -> None:
    """Keep rounding errors from filling an axis: show at least `least` of it."""
    low, high = axis.get_ylim()
    if high - low < least:
        middle = (low + high) / 2
        axis.set_ylim(middle - least / 2, middle + least / 2)
