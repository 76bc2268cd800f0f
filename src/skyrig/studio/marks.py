"""Places that a rig's data marks, as dots in the scene, cold to warm."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyrig.flight.rig import RigData

SIZE = 0.008
"""Of a dot (m)."""
COLD, WARM = np.array([0.0, 114.0, 178.0]), np.array([213.0, 94.0, 0.0])
"""Colours of shades 0 and 1."""


def draw_marks(scene: Any, root: str, rig: RigData) -> Any | None:
    """The node of a rig's marks under `root`; None if it has none."""
    if not len(rig.marks):
        return None
    colours = COLD + rig.shades[:, None] * (WARM - COLD)
    return scene.add_point_cloud(
        f"{root}/marks",
        rig.marks.astype(np.float32),
        colours.astype(np.uint8),
        point_size=SIZE,
        point_shape="circle",
    )
