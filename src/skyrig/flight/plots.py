"""Pictures of a flight, legible in print and to colour-blind readers. No screen is needed.

Lines differ in dash as well as in colour, so that grey copies can be read.
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
from matplotlib.patches import Patch

from skyrig.flight.colours import COLOURS, GREY, PAYLOAD, REFERENCE, SLACK, of_vehicle
from skyrig.flight.drawing import NAMES
from skyrig.flight.flight import Flight
from skyrig.flight.impact_plot import impact
from skyrig.flight.metrics import own_signals, slack_spans
from skyrig.flight.path_plot import path
from skyrig.flight.plot_layout import DASHES, STYLE, entry, finish, mark_events, open_up, plain, rows
from skyrig.flight.sequence_plot import sequence
from skyrig.flight.storage import write_whole
from skyrig.turns import between, euler_angles

__all__ = ["COLOURS", "DASHES", "FIGURES", "GREY", "STYLE", "curve", "draw", "draw_all", "save_all"]

MOST_PANELS, MOST_LINES = 12, 6
"""Signals, and owners of each, that the picture of signals shows."""


def error(flight: Flight) -> Figure | None:
    """How far from the reference; None without one."""
    wanted = flight.reference
    if wanted is None:
        return None
    angular = not flight.rig.payload_is_point
    figure, axes = rows(2 if angular else 1)
    body = flight.carried
    assert body is not None
    apart = body.position - wanted.position
    looks = {"size": {"color": PAYLOAD}} | {
        name: {"color": COLOURS[k], "linestyle": DASHES[k + 1], "linewidth": 1.0}
        for k, name in enumerate("xyz")
    }
    lines = [np.linalg.norm(apart, axis=1), *apart.T]
    for (name, look), line in zip(looks.items(), lines, strict=True):
        axes[0].plot(flight.times, 1e3 * line, label=name, **look)
    axes[0].set_ylabel("position error (mm)")
    open_up(axes[0], 0.1)
    if angular:
        angle = np.degrees(between(wanted.attitude, body.attitude))
        axes[1].plot(flight.times, angle, color=PAYLOAD)
        axes[1].set_ylabel("attitude error (deg)")
        open_up(axes[1], 0.01)
    handles = [*(entry(name, **look) for name, look in looks.items()), *mark_events(axes, flight)]
    title = f"{flight.name}: distance of the {flight.rig.carried} from its reference"
    return finish(figure, 1.75, title, handles)


def tensions(flight: Flight) -> Figure | None:
    """Tension of every cable, the times in which it is slack shaded; None without cables."""
    tension = flight.cables.tension
    count = tension.shape[1]
    if count == 0:
        return None
    figure, axes = rows(count, sharey=True)
    shaded = False
    along = flight.signals.get("cable.along")
    for k, axis in enumerate(axes):
        axis.plot(flight.times, tension[:, k], color=of_vehicle(k))
        if along is not None and along.values.shape[1] > count:
            own = along.values.reshape(len(flight.times), count, -1)[:, k]
            axis.fill_between(flight.times, own.min(1), own.max(1), color=GREY, alpha=0.4, linewidth=0)
        for start, end in slack_spans(flight, k):
            axis.axvspan(start, end, color=SLACK, alpha=0.3, linewidth=0)
            shaded = True
        axis.set_ylabel(f"cable {k} (N)")
    open_up(axes[0], 0.1)
    handles = [Patch(color=SLACK, alpha=0.3, label="slack or cut")] if shaded else []
    if along is not None and along.values.shape[1] > count:
        handles.append(Patch(color=GREY, alpha=0.4, label="least to most along it"))
    title = f"{flight.name}: tension of the cables"
    return finish(figure, 1.6 if count == 1 else 1.1, title, [*handles, *mark_events(axes, flight)])


def attitudes(flight: Flight) -> Figure | None:
    """Roll, pitch and yaw of what is carried and of its reference; None of a point mass and of nothing."""
    body, name = flight.carried, flight.rig.carried
    if flight.rig.payload_is_point or body is None or name is None:
        return None
    figure, axes = rows(3)
    flown = _unwrapped(euler_angles(body.attitude))
    aim = None if flight.reference is None else _unwrapped(euler_angles(flight.reference.attitude))
    looks: dict[str, Any] = {name: {"color": PAYLOAD, "linewidth": 1.2}}
    if aim is not None:
        looks["reference"] = {"color": REFERENCE, "linewidth": 3.5}
    for k, angle in enumerate(("roll", "pitch", "yaw")):
        if aim is not None:
            axes[k].plot(flight.times, aim[:, k], **looks["reference"])
        axes[k].plot(flight.times, flown[:, k], **looks[name])
        axes[k].set_ylabel(f"{angle} (deg)")
        open_up(axes[k], 0.1)
    handles = [*(entry(who, **look) for who, look in looks.items()), *mark_events(axes, flight)]
    return finish(figure, 1.3, f"{flight.name}: attitude of the {name}", handles)


def thrusts(flight: Flight) -> Figure | None:
    """Thrust that was asked for and given, with each vehicle's limit where it is near; None without any."""
    count = flight.rig.count
    if not len(flight.inputs.times):
        return None
    figure, axes = rows(count)
    edges = np.append(flight.inputs.times, flight.times[-1])
    limited, limits = False, flight.rig.vehicle_thrust_max
    asked_look: Any = {"color": REFERENCE, "linewidth": 3.5}
    most_look: Any = {"color": GREY, "linestyle": (0, (1, 1)), "linewidth": 1.0}
    for k, axis in enumerate(axes):
        asked, given = flight.inputs.commanded_thrust[:, k], flight.inputs.thrust[:, k]
        axis.step(edges, np.append(asked, asked[-1]), where="post", **asked_look)
        axis.step(edges, np.append(given, given[-1]), where="post", color=of_vehicle(k), linewidth=1.3)
        most = limits[k]
        if max(asked.max(), given.max()) > 0.6 * most:
            axis.axhline(most, **most_look)
            limited = True
        axis.set_ylabel(f"vehicle {k} (N)")
        open_up(axis, 0.1)
    handles = [entry("given", color=of_vehicle(0), linewidth=1.3), entry("asked", **asked_look)]
    handles += [entry("most", **most_look)] if limited else []
    title = f"{flight.name}: thrust of the vehicles"
    return finish(figure, 1.6 if count == 1 else 1.1, title, [*handles, *mark_events(axes, flight)])


def signals(flight: Flight) -> Figure | None:
    """The mechanism's and the controller's own signals, a panel each; None without any."""
    shown = own_signals(flight)[:MOST_PANELS]
    if not shown:
        return None
    figure, axes = rows(len(shown))
    most = 1
    for axis, name in zip(axes, shown, strict=True):
        signal, values = flight.signals[name], np.asarray(flight.signal_at(name), dtype=float)
        for k, column in enumerate(values.T[:MOST_LINES]):
            look: Any = {"color": of_vehicle(k), "linestyle": DASHES[k % len(DASHES)]}
            axis.plot(flight.times, column, drawstyle="steps-post" if signal.held else "default", **look)
        most = max(most, min(values.shape[1], MOST_LINES))
        unit = f" ({signal.unit})" if signal.unit not in ("", "1") else ""
        words = f"{name}{unit}"
        axis.set_ylabel(plain(words), fontsize=min(9.0, 9.0 * 18 / len(words)))
        open_up(axis, 1e-3)
    lines = [entry(str(k), color=of_vehicle(k), linestyle=DASHES[k % len(DASHES)]) for k in range(most)]
    handles = [*(lines if most > 1 else []), *mark_events(axes, flight)]
    return finish(figure, 1.4, f"{flight.name}: signals", handles)


FIGURES: dict[str, Callable[[Flight], Figure | None]] = dict(
    zip(NAMES, (path, sequence, error, tensions, impact, attitudes, thrusts, signals), strict=True)
)
"""Every picture by its name."""


def curve(costs: np.ndarray, chosen: int) -> bytes:
    """How a cost fell from step to step, as a PNG; a mark at the step that was chosen."""
    with matplotlib.rc_context(STYLE):
        figure, (axis,) = rows(1)
        axis.semilogy(costs, color=COLOURS[0])
        axis.plot([chosen], [costs[chosen]], marker="o", color=COLOURS[1], linestyle="none")
        axis.set_xlabel("step")
        axis.set_ylabel("cost, first = 1")
        chosen_one = entry("chosen", marker="o", color=COLOURS[1], linestyle="none")
        return _png(finish(figure, 1.8, "cost from step to step", [chosen_one]))


def figure_of(flight: Flight, name: str) -> Figure | None:
    """The picture of that name, not yet drawn; None where it would show nothing."""
    with matplotlib.rc_context(STYLE):
        return FIGURES[name](flight)


def draw(flight: Flight, name: str) -> bytes | None:
    """The picture of that name as a PNG; None where it would show nothing."""
    with matplotlib.rc_context(STYLE):
        figure = FIGURES[name](flight)
        return None if figure is None else _png(figure)


def draw_all(flight: Flight) -> dict[str, bytes]:
    """Every picture that shows something, by name, as PNG."""
    drawn = {name: draw(flight, name) for name in FIGURES}
    return {name: image for name, image in drawn.items() if image is not None}


def save_all(flight: Flight, folder: Path) -> list[Path]:
    """Every picture that shows something, as PNG files in `folder`."""
    return [write_whole(folder / f"{name}.png", image) for name, image in draw_all(flight).items()]


def _png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    # straight to the canvas: savefig would draw everything twice
    FigureCanvasAgg(figure).print_png(stream)
    return stream.getvalue()


def _unwrapped(angles: np.ndarray) -> np.ndarray:
    """Degrees that do not jump by full turns."""
    return np.degrees(np.unwrap(angles, axis=0))
