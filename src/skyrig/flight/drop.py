"""The open-loop drop of RotorTM's Fig. 16: a slack cable, a falling point mass, one inelastic impact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from skyrig.constants import GRAVITY
from skyrig.flight.impacts import Impact, impacts


def fly_drop(folder: Path, console: Console) -> None:
    """Fly it, tell what the impact did, and leave a picture in `folder`."""
    import skyrig

    vehicle, payload = skyrig.airframe("dragonfly"), skyrig.payload("point-mass")
    rig = skyrig.Slung.build([vehicle], payload, [skyrig.Cable(0.5)])
    below = 0.3 * np.array([np.sin(np.pi / 6), 0.0, -np.cos(np.pi / 6)])
    start = rig.state(np.array([0, 0, 1]) + below, [[0, 0, 1]])

    def fly(at: np.ndarray | None = None) -> Any:
        return skyrig.rollout(rig, start, (0.0, 0.6), [vehicle.mass * GRAVITY], at=at)

    flown = fly()
    (impact,) = impacts(rig, flown.events, fly)
    console.print(impact_table(impact))
    folder.mkdir(parents=True, exist_ok=True)
    console.print(f"Picture: {draw(flown, impact, folder / 'drop.png')}", soft_wrap=True)


def impact_table(impact: Impact) -> Table:
    """The impact as people read it."""
    table = Table(title=f"Cable {impact.cable} comes taut at t = {impact.time:.9f} s")
    table.add_column("")
    for heading in ("before", "after", "change"):
        table.add_column(heading, justify="right")

    def row(name: str, before: float, after: float) -> None:
        table.add_row(name, *(f"{round(value, 9) + 0.0:.9f}" for value in (before, after, after - before)))

    row("speed apart, along (m/s)", *impact.along)
    row("speed apart, across (m/s)", *impact.across)
    for name, velocity in (("payload", impact.payload_velocity), ("vehicle", impact.vehicle_velocity)):
        for axis in (0, 2):
            row(f"{name}, {'xyz'[axis]} (m/s)", *velocity[:, axis])
    for axis in (0, 2):
        row(f"momentum, {'xyz'[axis]} (kg m/s)", *impact.momentum[:, axis])
    table.add_row("impulse (N s)", "", f"{impact.impulse:.9f}", "")
    lost = np.linalg.norm(impact.momentum[1] - impact.momentum[0])
    table.add_row("momentum lost (kg m/s)", "", "", f"{lost:.1e}")
    return table


def draw(flown: Any, impact: Impact, path: Path) -> Path:
    """Relative velocity, distance and tension over time, as a PNG at `path`."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    times = np.asarray(flown.times)
    apart = flown.payload.position - flown.vehicles.position[:, 0]
    distance = np.linalg.norm(apart, axis=1)
    xi = apart / distance[:, None]
    relative = flown.payload.velocity - flown.vehicles.velocity[:, 0]
    along = np.einsum("ti,ti->t", relative, xi)
    across = np.linalg.norm(relative - along[:, None] * xi, axis=1)
    # the jump is drawn where it happens, not smeared over a step
    cut = int(np.searchsorted(times, impact.time))
    moments = np.insert(times, cut, [impact.time, impact.time])
    along, across = np.insert(along, cut, impact.along), np.insert(across, cut, impact.across)
    figure, axes = plt.subplots(3, 1, figsize=(6.5, 7), sharex=True, layout="constrained")
    axes[0].plot(moments, along, color="#0072B2", label="along the cable")
    axes[0].plot(moments, across, color="#D55E00", linestyle="--", label="across the cable")
    axes[0].set_ylabel("relative velocity (m/s)")
    axes[0].legend()
    axes[1].plot(times, distance, color="#0072B2", label="payload to vehicle")
    axes[1].plot(times, flown.cable_length[:, 0], color="#555555", linestyle=":", label="cable length")
    axes[1].set_ylabel("distance (m)")
    axes[1].legend()
    axes[2].plot(times, flown.tension[:, 0], color="#0072B2")
    axes[2].set_ylabel("tension (N)")
    axes[2].set_xlabel("time (s)")
    for axis in axes:
        axis.axvline(impact.time, color="#999999", linewidth=0.8)
        axis.grid(alpha=0.3)
    figure.suptitle("A slack cable comes taut: the jump along it, none across it")
    figure.savefig(path, dpi=150)
    plt.close(figure)
    return path
