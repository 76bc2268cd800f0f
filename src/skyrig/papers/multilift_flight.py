"""The flight of the multilift report (Gao, NUS 2025, section 4.2): take-off, hover, and round a circle."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from skyrig.flight.flight import Flight
from skyrig.papers.multilift_cables import DAMPING, STIFFNESS
from skyrig.scenario import Scenario
from skyrig.turns import euler_angles

Reals = npt.NDArray[np.float64]

LENGTH, RING, HEIGHT = 1.0, 0.5, 0.1
"""Of the cables, of the ring that holds them, and of the disc that is lifted (m); the report prints none."""
STANDING = 0.0425
"""Height of a vehicle's centre of mass when it stands (m)."""
AHEAD = np.pi / 2
"""Yaw along the circle at its start (rad)."""
MOMENTS = {15: ("Take-off", 3.0), 16: ("Hover", 19.5), 17: ("Task", 35.0)}
"""Figures of the report, what they show, and when in our flight (s)."""
TASK = 20.0
"""When the circle begins (s)."""
PATH = 18
"""The figure with a vehicle's path."""


class Followed(NamedTuple):
    """How a flight followed its references from some moment on."""

    mean: float
    """Distance of the vehicles from their references (m)."""
    most: float
    """The largest one (m)."""
    yaw: float
    """The largest deviation of a yaw angle (rad)."""
    slack: float
    """Largest share of cables that were slack at once during take-off."""
    lifted: float
    """When the load left the floor (s)."""
    word: str
    """The flight's verdict."""


def scenario() -> Scenario:
    """Six vehicles stand around a disc; each follows a path of its own, and is told nothing of the load."""
    around = np.arange(6) * np.pi / 3
    flat = np.stack([np.cos(around), np.sin(around)], axis=1).round(6)
    places = np.column_stack([2 * RING * flat, np.full(6, STANDING)]).tolist()
    ring = np.column_stack([RING * flat, np.full(6, HEIGHT / 2)]).tolist()

    def way(start: list[float]) -> dict[str, Any]:
        rise = {"type": "takeoff", "duration": 6.0}
        parts = [
            {"type": "takeoff", "start": start, "attitude": AHEAD, "height": 0.9, "duration": 4.0},
            {**rise, "height": 1.2},  # cables come taut, the load leaves the floor
            {**rise, "height": 2.5},
            {"type": "hover", "duration": 4.0},
            {
                "type": "circle",
                "radius": 5.0,
                "period": np.pi / 0.1,
                "ramp": 10.0,
                "turns": 1,
                "facing": True,
            },
            {"type": "hover", "duration": 2.0},
        ]
        return {"type": "sequence", "parts": parts}

    said: dict[str, Any] = {
        "skyrig": 1,
        "name": "multilift-takeoff",
        "rig": {
            "mechanism": "elastic",
            "vehicles": {"type": "hummingbird", "count": 6},
            "payload": {
                "name": "disc",
                "mass": 1.2,
                "shape": {"kind": "cylinder", "radius": RING, "height": HEIGHT},
                "attachments": {"cable-6": ring},
            },
            "cables": {"length": LENGTH},
            "segments": 10,
            "material": {"stiffness": STIFFNESS, "damping": DAMPING, "mass_per_metre": 0.01},
        },
        "world": {"ground": {"height": 0.0}},
        "start": {
            "payload": {"position": [0.0, 0.0, HEIGHT / 2]},
            "vehicles": [{"position": place, "attitude": AHEAD} for place in places],
        },
        "controller": {"name": "vehicle", "gains": {"carry": 0}},
        "reference": {"vehicles": [way(place) for place in places]},
    }
    return Scenario.from_dict(said)


def flown(told: Scenario) -> Flight:
    """The flight."""
    from skyrig.runs import fly

    return fly(told)


def followed(flight: Flight, since: float = TASK) -> Followed:
    """How close the vehicles stayed to their references from `since` (s) on."""
    rows = flight.times >= since
    craft, wanted = flight.bodies["vehicles"], flight.references["vehicles"]
    off = np.linalg.norm(craft.position - wanted.position, axis=-1)[rows]
    turned = euler_angles(craft.attitude)[rows, :, 2] - euler_angles(wanted.attitude)[rows, :, 2]
    yaw = np.abs((turned + np.pi) % (2 * np.pi) - np.pi)
    before = flight.times < MOMENTS[15][1] + 1.0
    loose = 1 - np.asarray(flight.signals["cable.taut"].values, dtype=float)[before].mean(1)
    height = flight.bodies["payload"].position[:, 0, 2]
    left = np.flatnonzero(height > height[0] + 0.01)
    lifted = float(flight.times[left[0]]) if len(left) else float("nan")
    distances = float(off.mean()), float(off.max())
    return Followed(*distances, float(yaw.max()), float(loose.max()), lifted, flight.verdict.line)


def moment(flight: Flight, time: float) -> bytes:
    """The rig at a moment, as a PNG."""
    from skyrig.flight.frames import of_rows
    from skyrig.flight.outlines import draw

    row = int(np.searchsorted(flight.times, time))
    frame = of_rows(flight, np.array([row]))
    figure, axes = _open(projection="3d")
    draw(axes, flight.rig, frame)
    centre = flight.bodies["vehicles"].position[row].mean(0)
    axes.set_xlim(centre[0] - 1.3, centre[0] + 1.3)
    axes.set_ylim(centre[1] - 1.3, centre[1] + 1.3)
    axes.set_zlim(0.0, 2.6)
    axes.set_box_aspect((1, 1, 1))
    axes.set(xlabel="x (m)", ylabel="y (m)", zlabel="z (m)")
    axes.view_init(12, -60)
    return _png(figure)


def path(flight: Flight, vehicle: int = 0) -> bytes:
    """Path of a vehicle and its reference seen from above, as a PNG."""
    from skyrig.flight.plots import COLOURS

    figure, axes = _open()
    place = flight.bodies["vehicles"].position[:, vehicle]
    wanted = flight.references["vehicles"].position[:, vehicle]
    axes.plot(*wanted.T[:2], color="#BBBBBB", linewidth=4.0, label="reference")
    axes.plot(*place.T[:2], color=COLOURS[0], linewidth=1.3, label="skyrig")
    axes.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
    axes.legend(loc="upper right")
    return _png(figure)


def _open(**look: Any) -> tuple[Any, Any]:
    import matplotlib
    from matplotlib.figure import Figure

    from skyrig.flight.plots import STYLE

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 5.2), layout="constrained")
        return figure, figure.add_subplot(**look)


def _png(figure: Any) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=110)
    return stream.getvalue()
