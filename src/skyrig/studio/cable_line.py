"""A cable in the browser: a straight line when taut, a catenary of its true length when slack."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import viser

from skyrig.catenary import hanging
from skyrig.flight import meshes
from skyrig.turns import tilted

Reals = npt.NDArray[np.float64]
POINTS = 33


class CableLine:
    """One cable. Taut, only its pose changes, so it stays at its vehicle even where drawing is slow."""

    def __init__(self, server: viser.ViserServer, name: str, nodes: list[Any]) -> None:
        """Adds its scene nodes, `name` and below, to `nodes`."""
        self._frame = server.scene.add_frame(name, show_axes=False)
        blank = np.zeros((POINTS - 1, 2, 3), np.float32)
        self._line: Any = server.scene.add_line_segments(
            f"{name}/line", blank, np.zeros(3, np.uint8), thickness=3.5, thickness_units="screen"
        )
        nodes += [self._frame, self._line]
        self._drawn: tuple[float, meshes.Colour | None] = (-1.0, None)

    def draw(self, top: Reals, end: Reals, length: float, slack: bool, own: meshes.Colour) -> None:
        """From `top` to `end`, sagging if `slack`."""
        way = end - top
        far = float(np.linalg.norm(way))
        self._frame.position = top
        if slack:
            self._frame.wxyz = (1.0, 0.0, 0.0, 0.0)
            points = hanging(np.zeros(3), way, length, POINTS)
            self._line.points = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
        else:
            self._frame.wxyz = tilted(np.array([1.0, 0.0, 0.0, 0.0]), -way) if far > 1e-9 else (1.0, 0, 0, 0)
            if abs(self._drawn[0] - far) > 1e-3:
                points = np.linspace(0, 1, POINTS)[:, None] * [0.0, 0.0, -far]
                self._line.points = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
        self._paint(own)
        self._drawn = (-1.0 if slack else far, own)

    def draw_course(self, top: Reals, pieces: list[Reals], own: meshes.Colour) -> None:
        """Through given points, in one piece or two."""
        self._frame.position, self._frame.wxyz = top, (1.0, 0.0, 0.0, 0.0)
        parts = [np.stack([points[:-1], points[1:]], axis=1) for points in pieces]
        self._line.points = (np.concatenate(parts) - top).astype(np.float32)
        self._paint(own)
        self._drawn = (-1.0, own)

    def _paint(self, own: meshes.Colour) -> None:
        if self._drawn[1] != own:
            self._line.colors = np.asarray(own, np.uint8)
