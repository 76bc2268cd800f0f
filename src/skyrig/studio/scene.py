"""A rig in the browser: vehicles, loads, tethers, where it shall be and where it has been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import viser

from skyrig.constants import GRAVITY
from skyrig.flight import meshes
from skyrig.flight.flight import FlightEvent
from skyrig.flight.frames import Frames
from skyrig.flight.records import TEAM
from skyrig.flight.rig import RigData
from skyrig.studio.arrows import Arrows
from skyrig.studio.cable_line import CableLine
from skyrig.studio.hands import Pull
from skyrig.studio.look import Look
from skyrig.studio.marks import draw_marks
from skyrig.studio.propellers import Propellers
from skyrig.turns import between

Reals = npt.NDArray[np.float64]

FLASH = 0.3
"""How long an impact is seen (s of flight)."""
AXIS = 0.2
"""Length of the axes of a body's frame (m)."""
NONE = np.zeros((1, 2, 3))
"""Strokes of nothing."""
ARMS = 1
"""Which of a vehicle's meshes are its arms."""


class RigScene:
    """The drawing of one rig under the scene node `root`.

    Args:
        server: Whose scene.
        root: Name of the scene node, such as /rig.
        rig: What is drawn.
        tint: A colour for everything, for a second rig beside the first; its own colours if None.
    """

    def __init__(
        self, server: viser.ViserServer, root: str, rig: RigData, tint: meshes.Colour | None = None
    ) -> None:
        self.rig, self.root = rig, root
        self._scene = server.scene
        self._opacity = None if tint is None else meshes.OVERLAY_OPACITY
        self._tint = tint
        self._hover = max(rig.payload_mass * GRAVITY / max(rig.count, 1), 1e-6)
        self._nodes: list[Any] = []
        self._keep(server.scene.add_frame(root, show_axes=False))
        self.solids: dict[tuple[str, int], list[Any]] = {}
        """What stands for each body, to be taken hold of."""
        self._bodies: dict[str, list[Any]] = {
            group: [self._load(group, k) for k in range(len(them))] for group, them in rig.loads.items()
        }
        self._bodies[TEAM] = [self._vehicle(k) for k in range(rig.count)]
        self._rotors = Propellers(server.scene, root, rig, tint)
        self._nodes += self._rotors.nodes
        self._ghost = self._wanted() if tint is None else None
        lines = range(len(rig.tethers))
        self._tethers = [CableLine(server, f"{root}/tether{k}", self._nodes) for k in lines]
        self._skins: dict[int, Any] = {}
        self._labels = [
            self._keep(server.scene.add_label(f"{root}/label{k}", "", anchor="center-center", visible=False))
            for k in lines
            if tint is None
        ]
        if (dots := draw_marks(server.scene, root, rig)) is not None:
            self._keep(dots)
        self._flashes = self._points()
        self._trail = self._lines("trail", NONE, tint or (230, 120, 30), 2.5)
        self._path = self._lines("path", NONE, (120, 130, 150), 1.5)
        self._arrows = Arrows(rig, self._hover, lambda name, own: self._lines(name, NONE, tint or own, 3.0))
        self._axes = False

    def dress(self, dark: bool) -> None:
        """Have arms and propellers stand out from a dark page, or a light one."""
        if self._tint is not None:
            return
        for k in range(self.rig.count):
            self.solids[TEAM, k][ARMS].color = meshes.DARK_FRAME if dark else meshes.FRAME
        self._rotors.dress(dark)

    def remove(self) -> None:
        """Take it out of the scene."""
        for node in self._nodes[::-1]:
            node.remove()

    def draw(
        self,
        frame: Frames,
        cut: set[int],
        struck: dict[int, float],
        look: Look,
        speeds: Mapping[str, Reals] | None = None,
        pull: Pull | None = None,
    ) -> None:
        """Show one moment.

        Args:
            frame: The moment.
            cut: Tethers that were cut by then, by their number.
            struck: Tethers with an impact lately, and how long ago (s).
            look: What to show.
            speeds: (k, 3) how fast the bodies of each group go (m/s); none where nobody knows.
            pull: What the mouse pulls with.
        """
        for group, poses in frame.bodies.items():
            nodes = self._bodies.get(group)
            if nodes is None:  # a group of which the rig says no more than that it is there
                count = poses.position.shape[1]
                nodes = self._bodies[group] = [self._load(group, k) for k in range(count)]
            for node, at, how in zip(nodes, poses.position[0], poses.attitude[0], strict=True):
                node.position, node.wxyz = at, how
        self._rotors.turn(frame)
        if self._ghost is not None:
            shown = look.ghost and frame.wanted_position is not None
            _visible(self._ghost, shown)
            if shown and frame.wanted_position is not None and frame.wanted_attitude is not None:
                self._ghost.position, self._ghost.wxyz = frame.wanted_position[0], frame.wanted_attitude[0]
                apart = float(frame.error[0]) + float(
                    between(frame.wanted_attitude, frame.bodies[frame.main].attitude[:, 0])[0]
                )
                _visible(self._body, apart > 0.04)
        self._draw_tethers(frame, cut, look)
        self._arrows.draw(frame, look, speeds or {}, pull)
        if self._axes != look.axes:
            self._axes = look.axes
            for node in (it for each in self._bodies.values() for it in each):
                node.show_axes = look.axes
        for k, flash in enumerate(self._flashes):
            seen = k in struck
            _visible(flash, seen)
            if seen:
                flash.position = frame.end(self.rig.tethers[k].end)
                flash.scale = 0.4 + 1.6 * (struck[k] / FLASH)

    def draw_trail(self, places: Reals, shown: bool) -> None:
        """Where what is followed has been, (T, 3)."""
        _visible(self._trail, shown and len(places) > 1)
        if shown and len(places) > 1:
            _set_lines(self._trail, places)

    def draw_path(self, places: Reals | None, shown: bool) -> None:
        """Where it shall go, (T, 3)."""
        there = places is not None and len(places) > 1
        _visible(self._path, shown and there)
        if shown and places is not None and there:
            _set_lines(self._path, places)

    def _keep(self, node: Any) -> Any:
        self._nodes.append(node)
        return node

    def _mesh(self, name: str, mesh: meshes.Mesh, opacity: float | None = None, shadow: bool = True) -> Any:
        return self._keep(
            self._scene.add_mesh_simple(
                name,
                mesh.vertices.astype(np.float32),
                mesh.faces.astype(np.uint32),
                color=self._tint or mesh.colour,
                opacity=opacity or self._opacity,
                flat_shading=True,
                cast_shadow=shadow and self._opacity is None,
                receive_shadow=False,
            )
        )

    def _lines(self, name: str, points: Reals, colour: meshes.Colour, thick: float) -> Any:
        return self._keep(
            self._scene.add_line_segments(
                f"{self.root}/{name}",
                points.astype(np.float32),
                np.asarray(colour, np.uint8),
                thickness=thick,
                thickness_units="screen",
                visible=False,
            )
        )

    def _frame(self, name: str) -> Any:
        """A body's frame, whose axes are shown on request."""
        return self._scene.add_frame(
            name, show_axes=False, axes_length=AXIS, axes_radius=0.03 * AXIS, origin_radius=0.0
        )

    def _load(self, group: str, k: int) -> Any:
        name = f"{self.root}/{group}{k}"
        node = self._keep(self._frame(name))
        self.solids[group, k] = [self._mesh(f"{name}/body", meshes.payload(self.rig.shape(group, k)))]
        return node

    def _vehicle(self, k: int) -> Any:
        name = f"{self.root}/vehicle{k}"
        node = self._keep(self._frame(name))
        parts = enumerate(meshes.airframe(self.rig.airframes[k], meshes.colour(k)))
        self.solids[TEAM, k] = [self._mesh(f"{name}/{part}", mesh) for part, mesh in parts]
        return node

    def _wanted(self) -> Any:
        if self.rig.payload is None:
            return None
        shape = self.rig.payload.shape
        name = f"{self.root}/wanted"
        node = self._keep(self._scene.add_frame(name, show_axes=False, visible=False))
        own = (40, 130, 225)
        edges = meshes.edges(shape)
        self._keep(
            self._scene.add_line_segments(
                f"{name}/edges",
                edges.astype(np.float32),
                np.asarray(own, np.uint8),
                thickness=2.0,
                thickness_units="screen",
            )
        )
        # only the outline while the payload is there: two faces in one place would flicker
        self._body = self._mesh(f"{name}/body", meshes.payload(shape, own), 0.22, False)
        return node

    def _points(self) -> list[Any]:
        size = 0.02 + 0.1 * float(np.max(np.linalg.norm(self.rig.points, axis=1), initial=0.0)) / 2
        for k, point in enumerate(self.rig.points if self.rig.carried is not None else ()):
            dot = meshes.merged([meshes.moved(meshes.ball(0.014, 6, 10), point)], meshes.colour(k))
            self._mesh(f"{self.root}/{self.rig.carried}0/hold{k}", dot, None, False)
        if self._tint is not None:
            return []
        return [
            self._keep(
                self._scene.add_icosphere(
                    f"{self.root}/flash{k}",
                    radius=2 * size,
                    color=(255, 225, 90),
                    opacity=0.7,
                    cast_shadow=False,
                    receive_shadow=False,
                    visible=False,
                )
            )
            for k in range(len(self.rig.tethers))
        ]

    def _draw_tethers(self, frame: Frames, cut: set[int], look: Look) -> None:
        lines = frame.tethers(self.rig, cut)
        for j, (line, k) in enumerate(zip(lines, self.rig.columns, strict=True)):
            own = meshes.colour(k)
            if look.by_tension:
                ratio = line.tension / self._hover if np.isfinite(line.tension) else 1.0
                own = meshes.tension_colour(round(ratio, 1))
            own = self._tint or (own if line.taut else meshes.SLACK)
            if len(line.nodes):
                self._tethers[j].draw_course(line.start, line.pieces, own)
                if self.rig.tethers[j].strip:
                    self._draw_skin(j, meshes.strip(line.course, lines[j + 1].course, meshes.SKIN))
            else:
                self._tethers[j].draw(line.start, line.end, line.length, line.sags, own)
            if j < len(self._labels):
                _visible(self._labels[j], look.labels)
                if look.labels:
                    pull = f"{line.tension:.2f} N" if np.isfinite(line.tension) else ""
                    text = "cut" if j in cut else (pull if line.taut else "slack")
                    if self._labels[j].text != text:
                        self._labels[j].text = text
                    self._labels[j].position = (line.start + line.end) / 2

    def _draw_skin(self, number: int, mesh: meshes.Mesh) -> None:
        """What bends as it flies: its corners are told anew every time."""
        if number not in self._skins:
            self._skins[number] = self._mesh(f"{self.root}/skin{number}", mesh)
        self._skins[number].vertices = mesh.vertices.astype(np.float32)


def struck(rig: RigData, events: Sequence[FlightEvent], now: float) -> dict[int, float]:
    """Tethers with an impact lately, and how long ago (s)."""
    lately = {
        (event.owner, event.index): now - event.time
        for event in events
        if event.kind == "impact" and now - event.time < FLASH
    }
    pairs = enumerate(zip(rig.tethers, rig.columns, strict=True))
    return {j: lately[it.name, k] for j, (it, k) in pairs if (it.name, k) in lately}


def _visible(node: Any, shown: bool) -> None:
    if node.visible != shown:
        node.visible = shown


def _set_lines(node: Any, places: Reals) -> None:
    node.points = np.stack([places[:-1], places[1:]], axis=1).astype(np.float32)
