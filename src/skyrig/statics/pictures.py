"""Pictures of statics: the set of valid configurations, a configuration and its modes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skyrig.checks import Numbers
from skyrig.errors import InputError
from skyrig.statics.configuration import Configuration
from skyrig.statics.stability import stability
from skyrig.statics.workspace import Workspace
from skyrig.turns import multiply, turn

SHOWN = 6000
"""Dots in a picture at most."""


def draw_workspace(found: Workspace, path: Path, marks: Numbers | None = None, title: str = "") -> Path:
    """Draw the valid samples of three robots in {x1, y1, y2} as in the paper's Figs. 3 and 9(a).

    Args:
        found: The workspace.
        path: PNG to write.
        marks: (k, 3) configurations to mark in black.
        title: Above the picture.
    """
    if found.samples.shape[1] != 3:
        raise InputError("only sets of three coordinates can be drawn: those of three robots.")
    figure, axes = _axes3d()
    kept = np.flatnonzero(found.valid)[:SHOWN]
    shade = (found.tension[kept] / found.team.weight).max(axis=1)
    dots = axes.scatter(*found.samples[kept].T, c=shade, s=7, cmap="viridis", alpha=0.7, linewidths=0)
    if marks is not None:
        axes.scatter(*np.asarray(marks).T, c="black", s=40, depthshade=False)
    axes.set(xlabel="x1 (1)", ylabel="y1 (1)", zlabel="y2 (1)")
    axes.tick_params(labelsize=8)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.labelpad = 8
    axes.set(xlim=found.box[0], ylim=found.box[1], zlim=found.box[2])
    figure.colorbar(dots, ax=axes, shrink=0.6, label="largest tension over the payload's weight (1)")
    volume, error = found.volume
    axes.set_title(f"{title}\nvolume {volume:.3g} ± {error:.1g}".strip())
    return _saved(figure, path)


def draw_configuration(held: Configuration, path: Path, mode: int | None = None, title: str = "") -> Path:
    """Draw payload, cables and vehicles; with `mode`, also the payload at either end of that swing."""
    figure, axes = _axes3d()
    team, pose = held.team, held.pose
    _payload(axes, team.points(pose), "black")
    for k, (low, high) in enumerate(zip(team.points(pose), held.hooks, strict=True)):
        axes.plot(*np.stack([low, high]).T, color=f"C{k}", lw=2)
        axes.text(*held.vehicles[k], f"  {k}: {held.tension[k]:.2f} N", fontsize=8)
        axes.scatter(*held.vehicles[k], color=f"C{k}", s=60, depthshade=False)
    if mode is not None:
        swing = stability(held)
        shape = swing.modes[:, mode] / max(np.abs(swing.modes[:, mode]).max(), 1e-12)
        for sign in (-0.2, 0.2):
            half = np.append(1.0, sign * shape[3:] / 2) if len(shape) > 3 else np.eye(4)[0]
            attitude = multiply(half / np.linalg.norm(half), pose.attitude)
            places = pose.position + sign * shape[:3] + turn(attitude[None], team.attachment)
            _payload(axes, places, "tab:red", 0.5)
        title = f"{title}\nmode {mode + 1}: {swing.frequencies[mode]:.3f} Hz".strip()
    axes.set(xlabel="x (m)", ylabel="y (m)", zlabel="z (m)")
    axes.set_aspect("equal")
    axes.set_title(title)
    return _saved(figure, path)


def _payload(axes: Any, points: Numbers, color: str, alpha: float = 1.0) -> None:
    around = np.concatenate([points, points[:1]])
    axes.plot(*around.T, color=color, lw=1.5, alpha=alpha)


def _axes3d() -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5.5), layout="constrained")
    return figure, figure.add_subplot(projection="3d")


def _saved(figure: Any, path: Path) -> Path:
    import mpl_toolkits.mplot3d  # noqa: F401  registers the projection

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    return path
