"""Propellers in the browser, which turn with their thrust."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyrig.flight import meshes
from skyrig.flight.frames import Frames
from skyrig.flight.rig import RigData

BLUR = 40.0
"""How much slower than real propellers turn on the screen, so that one sees which way."""
BLADES, DARK_BLADES = (30, 30, 34), (225, 228, 235)
"""Colours on light and on dark pages."""


class Propellers:
    """Those of all vehicles, each in its vehicle's frame: they stay in place even where drawing is slow.

    Args:
        scene: Where they are drawn.
        root: Name of the rig's scene node.
        rig: Whose they are.
        tint: A colour for all of them; their own if None.

    Attributes:
        nodes: The scene nodes.
    """

    def __init__(self, scene: Any, root: str, rig: RigData, tint: meshes.Colour | None) -> None:
        self._scene, self._root, self._rig, self._tint = scene, root, rig, tint
        self.nodes: list[Any] = []
        self._blades = [self._vehicle(k) for k in range(rig.count)]
        self._angle, self._time = np.zeros(rig.count), 0.0

    def dress(self, dark: bool) -> None:
        """Have them stand out from a dark page, or a light one."""
        for blades in self._blades:
            blades.batched_colors = np.asarray(DARK_BLADES if dark else BLADES, np.uint8)

    def turn(self, frame: Frames) -> None:
        """They go round with the square root of their thrust, at the flight's own pace."""
        now = float(frame.times[0])
        passed = float(np.clip(now - self._time, 0.0, 0.1))
        self._time = now
        if passed == 0.0:
            return
        for k, blades in enumerate(self._blades):
            own = self._rig.airframes[k]
            each = max(float(frame.thrust[0, k]), 0.0) / own.rotor_count / own.thrust_coefficient
            self._angle[k] += np.sqrt(each) / BLUR * passed
            # seen from above a rotor whose torque is about +z turns clockwise
            half = -own.spin * self._angle[k] / 2 + 0.7 * np.arange(own.rotor_count)
            none = np.zeros(own.rotor_count)
            turns = np.stack([np.cos(half), none, none, np.sin(half)], axis=1)
            blades.batched_wxyzs = turns.astype(np.float32)

    def _vehicle(self, k: int) -> Any:
        """The blades of one vehicle, under discs that hardly show."""
        own, opacity = self._rig.airframes[k], None if self._tint is None else meshes.OVERLAY_OPACITY
        rotors = own.rotor_count
        lifted = own.rotor_positions + [0.0, 0.0, 0.3 * (own.height or 0.25 * own.arm)]
        for name, mesh, seen in (
            ("blades", meshes.propeller(own), opacity),
            ("discs", meshes.disc(own.rotor_radius or 0.45 * own.arm), 0.18),
        ):
            self.nodes.append(
                self._scene.add_batched_meshes_simple(
                    f"{self._root}/vehicle{k}/{name}",
                    mesh.vertices.astype(np.float32),
                    mesh.faces.astype(np.uint32),
                    batched_wxyzs=np.tile(np.array([1.0, 0, 0, 0], np.float32), (rotors, 1)),
                    batched_positions=lifted.astype(np.float32),
                    batched_colors=np.asarray(self._tint or mesh.colour, np.uint8),
                    opacity=seen,
                    lod="off",
                    cast_shadow=opacity is None and name == "blades",
                    receive_shadow=False,
                )
            )
        return self.nodes[-2]
