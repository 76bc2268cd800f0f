"""Pictures of a flight, legible in print and to colour-blind readers. No screen is needed.

Colours are Okabe and Ito's; lines also differ in dash, so that grey copies can be read.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from skyrig.flight.distances import cable_ends
from skyrig.flight.drawing import NAMES
from skyrig.flight.flight import Flight
from skyrig.flight.metrics import slack_spans
from skyrig.flight.storage import write_whole
from skyrig.turns import between, euler_angles, turn

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
GREY = "#666666"
STYLE: Any = {
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.4,
    "legend.frameon": False,
    "figure.dpi": 150,
}
MARGINS = {"left": 0.85, "right": 0.15, "bottom": 0.45, "top": 0.3}
"""Around the axes (inches): given rather than found out, which would take as long as all the drawing."""


def path(flight: Flight) -> Figure:
    """Where the payload and the vehicles went, the reference, and the rig at a few moments."""
    figure = Figure(figsize=(6.5, 5.5))
    axes: Any = figure.add_axes((0.02, 0.03, 0.93, 0.95), projection="3d")
    for k in range(flight.rig.count):
        axes.plot(*flight.vehicles.position[:, k].T, color="#AAAAAA", linewidth=0.7)
    if flight.reference is not None:
        axes.plot(*flight.reference.position.T, color=COLOURS[1], linestyle="--", label="reference")
    axes.plot(*flight.payload.position.T, color=COLOURS[0], label="payload")
    for row in np.unique(np.linspace(0, len(flight.times) - 1, 5).astype(int)):
        _draw_rig(axes, flight, int(row))
    axes.set_xlabel("x (m)")
    axes.set_ylabel("y (m)")
    axes.set_zlabel("z (m)")
    axes.set_aspect("equal", adjustable="datalim")
    axes.legend(loc="upper left")
    return figure


def error(flight: Flight) -> Figure | None:
    """How far from the reference; None without one."""
    wanted = flight.reference
    if wanted is None:
        return None
    angular = not flight.rig.payload_is_point
    figure, axes = _rows(2 if angular else 1, 4.2 if angular else 2.6)
    apart = flight.payload.position - wanted.position
    axes[0].plot(flight.times, 1e3 * np.linalg.norm(apart, axis=1), color="black", label="size")
    for k, name in enumerate("xyz"):
        style = {"color": COLOURS[k], "linestyle": DASHES[k + 1], "linewidth": 1.0}
        axes[0].plot(flight.times, 1e3 * apart[:, k], label=name, **style)
    axes[0].set_ylabel("position error (mm)")
    axes[0].legend(ncols=4)
    _open_up(axes[0], 0.1)
    if angular:
        angle = np.degrees(between(wanted.attitude, flight.payload.attitude))
        axes[1].plot(flight.times, angle, color="black")
        axes[1].set_ylabel("attitude error (deg)")
        _open_up(axes[1], 0.01)
    _finish(axes, flight)
    return figure


def tensions(flight: Flight) -> Figure | None:
    """Tension of every cable, the times in which it is slack shaded; None without cables."""
    count = flight.cables.tension.shape[1]
    if count == 0:
        return None
    figure, axes = _rows(count, max(2.6, 0.9 + 1.15 * count), sharey=True)
    for k, axis in enumerate(axes):
        axis.plot(flight.times, flight.cables.tension[:, k], color=COLOURS[0])
        for start, end in slack_spans(flight, k):
            axis.axvspan(start, end, color=COLOURS[4], alpha=0.3, linewidth=0)
        for event in flight.events:
            if event.cable == k and event.kind in ("impact", "cut"):
                colour = COLOURS[1] if event.kind == "impact" else "black"
                axis.axvline(event.time, color=colour, linewidth=0.7, linestyle=":")
        axis.set_ylabel(f"cable {k} (N)")
    axes[0].set_title("tension; shaded: slack or cut, dotted: impact", fontsize=9)
    axes[-1].set_xlabel("time (s)")
    return figure


def attitudes(flight: Flight) -> Figure | None:
    """Roll, pitch and yaw of the payload and of the reference; None of a point mass."""
    if flight.rig.payload_is_point:
        return None
    figure, axes = _rows(3, 4.6)
    flown = _unwrapped(euler_angles(flight.payload.attitude))
    for k, name in enumerate(("roll", "pitch", "yaw")):
        if flight.reference is not None:
            angle = _unwrapped(euler_angles(flight.reference.attitude))[:, k]
            axes[k].plot(flight.times, angle, color=COLOURS[1], linestyle="--", label="reference")
        axes[k].plot(flight.times, flown[:, k], color=COLOURS[0], label="payload")
        axes[k].set_ylabel(f"{name} (deg)")
        _open_up(axes[k], 0.1)
    axes[0].legend(ncols=2)
    _finish(axes, flight)
    return figure


def thrusts(flight: Flight) -> Figure:
    """Thrust that was asked for and given, with each vehicle's limit."""
    count = flight.rig.count
    figure, axes = _rows(count, max(2.6, 0.9 + 1.15 * count))
    edges = np.append(flight.inputs.times, flight.times[-1])
    for k, axis in enumerate(axes):
        asked, given = flight.inputs.commanded_thrust[:, k], flight.inputs.thrust[:, k]
        looks: Any = (("asked", asked, COLOURS[1], "--", 0.9), ("given", given, COLOURS[0], "-", 1.2))
        for label, values, colour, dash, width in looks:
            held = np.append(values, values[-1])
            axis.step(edges, held, where="post", color=colour, linestyle=dash, linewidth=width, label=label)
        most = flight.rig.vehicle_thrust_max[k]
        if max(asked.max(), given.max()) > 0.6 * most:
            axis.axhline(most, color=GREY, linewidth=0.8, linestyle=":", label="most")
        axis.set_ylabel(f"vehicle {k} (N)")
        _open_up(axis, 0.1)
    axes[0].legend(ncols=3)
    _finish(axes, flight)
    axes[0].set_title("thrust", fontsize=9)
    return figure


def impact(flight: Flight) -> Figure | None:
    """Relative velocity, distance and tension of the cable with the hardest impact; None without impacts."""
    if not flight.impacts:
        return None
    hardest = max(flight.impacts, key=lambda it: it.impulse)
    k = hardest.cable
    start, end = cable_ends(flight)
    apart = end[:, k] - start[:, k]
    distance = np.linalg.norm(apart, axis=1)
    xi = apart / np.maximum(distance, 1e-12)[:, None]
    relative = _end_velocity(flight, k)
    along = np.einsum("ti,ti->t", relative, xi)
    across = np.linalg.norm(relative - along[:, None] * xi, axis=1)
    # jumps are drawn where they happen, not smeared over a step
    own = [it for it in flight.impacts if it.cable == k]
    rows = np.repeat(np.searchsorted(flight.times, [it.time for it in own]), 2)
    moments = np.insert(flight.times, rows, np.repeat([it.time for it in own], 2))
    along = np.insert(along, rows, np.concatenate([it.along for it in own]))
    across = np.insert(across, rows, np.concatenate([it.across for it in own]))
    figure, axes = _rows(3, 6.0)
    axes[0].plot(moments, along, color=COLOURS[0], label="along the cable")
    axes[0].plot(moments, across, color=COLOURS[1], linestyle="--", label="across it")
    axes[0].set_ylabel("relative velocity (m/s)")
    axes[1].plot(flight.times, distance, color=COLOURS[0], label="hook to attachment")
    axes[1].plot(flight.times, flight.cables.length[:, k], color=GREY, linestyle=":", label="cable's length")
    axes[1].set_ylabel("distance (m)")
    axes[2].plot(flight.times, flight.cables.tension[:, k], color=COLOURS[0])
    axes[2].set_ylabel("tension (N)")
    for axis in axes[:2]:
        axis.legend()
    _finish(axes, flight)
    axes[0].set_title(f"cable {k}", fontsize=9)
    return figure


FIGURES: dict[str, Callable[[Flight], Figure | None]] = dict(
    zip(NAMES, (path, error, tensions, impact, attitudes, thrusts), strict=True)
)
"""Every picture by its name."""


def curve(costs: np.ndarray, chosen: int) -> bytes:
    """How a cost fell from step to step, as a PNG; a mark at the step that was chosen."""
    with matplotlib.rc_context(STYLE):
        figure, (axis,) = _rows(1, 2.6)
        axis.semilogy(costs, color=COLOURS[0])
        axis.plot([chosen], [costs[chosen]], marker="o", color=COLOURS[1], linestyle="none", label="chosen")
        axis.set_xlabel("step")
        axis.set_ylabel("cost, first = 1")
        axis.legend()
        stream = io.BytesIO()
        FigureCanvasAgg(figure).print_png(stream)
    return stream.getvalue()


def draw(flight: Flight, name: str) -> bytes | None:
    """The picture of that name as a PNG; None where it would show nothing."""
    with matplotlib.rc_context(STYLE):
        figure = FIGURES[name](flight)
        if figure is None:
            return None
        stream = io.BytesIO()
        # straight to the canvas: savefig would draw everything twice
        FigureCanvasAgg(figure).print_png(stream)
    return stream.getvalue()


def draw_all(flight: Flight) -> dict[str, bytes]:
    """Every picture that shows something, by name, as PNG."""
    drawn = {name: draw(flight, name) for name in FIGURES}
    return {name: image for name, image in drawn.items() if image is not None}


def save_all(flight: Flight, folder: Path) -> list[Path]:
    """Every picture that shows something, as PNG files in `folder`."""
    return [write_whole(folder / f"{name}.png", image) for name, image in draw_all(flight).items()]


def _rows(count: int, height: float, sharey: bool = False) -> tuple[Figure, Any]:
    """A figure of `height` (inches) with axes one below the other over the same time."""
    figure = Figure(figsize=(6.5, height))
    width = figure.get_figwidth()
    figure.subplots_adjust(
        left=MARGINS["left"] / width,
        right=1 - MARGINS["right"] / width,
        bottom=MARGINS["bottom"] / height,
        top=1 - MARGINS["top"] / height,
        hspace=0.12,
    )
    axes = figure.subplots(count, 1, sharex=True, sharey=sharey, squeeze=False)[:, 0]
    for axis in axes:
        axis.yaxis.set_label_coords(-0.68 / (width - MARGINS["left"] - MARGINS["right"]), 0.5)
    return figure, axes


def _finish(axes: Any, flight: Flight) -> None:
    """Time below, and a mark wherever something was done to the rig or a cable came taut with a jerk."""
    for axis in axes:
        for event in flight.events:
            if event.kind in ("impact", "cut", "poke"):
                axis.axvline(event.time, color=GREY, linewidth=0.5, alpha=0.6, linestyle=":")
    axes[-1].set_xlabel("time (s)")


def _open_up(axis: Any, least: float) -> None:
    """Keep rounding errors from filling an axis: show at least `least` of it."""
    low, high = axis.get_ylim()
    if high - low < least:
        middle = (low + high) / 2
        axis.set_ylim(middle - least / 2, middle + least / 2)


def _draw_rig(axes: Any, flight: Flight, row: int) -> None:
    corners = flight.rig.payload_corners
    place = flight.payload.position[row] + turn(flight.payload.attitude[row], corners)
    if len(place) > 2:
        half = len(place) // 2
        loop = place[half:] if len(place) != 8 else place[[1, 3, 7, 5]]
        axes.plot(*np.vstack([loop, loop[:1]]).T, color=COLOURS[0], linewidth=0.9)
    else:
        axes.plot(*place.T, marker="o", markersize=3, color=COLOURS[0], linestyle="none")
    hooks, ends = cable_ends(flight)
    for k in range(flight.rig.count):
        axes.plot(*flight.vehicles.position[row, k][:, None], marker="o", markersize=3, color=COLOURS[2])
        if flight.rig.mechanism == "cables":
            taut = bool(flight.cables.taut[row, k])
            axes.plot(
                *np.stack([hooks[row, k], ends[row, k]]).T,
                color=GREY,
                linewidth=0.9,
                linestyle="-" if taut else ":",
            )


def _end_velocity(flight: Flight, k: int) -> np.ndarray:
    """Velocity of a cable's attachment against its hook, (T, 3) (m/s)."""
    payload, vehicles = flight.payload, flight.vehicles
    end = turn(payload.attitude, np.cross(payload.rate, flight.rig.attachments[k]))
    start = turn(vehicles.attitude[:, k], np.cross(vehicles.rate[:, k], flight.rig.hooks[k]))
    return payload.velocity + end - vehicles.velocity[:, k] - start


def _unwrapped(angles: np.ndarray) -> np.ndarray:
    """Degrees that do not jump by full turns."""
    return np.degrees(np.unwrap(angles, axis=0))
