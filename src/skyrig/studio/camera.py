"""Where viewers look from."""

from __future__ import annotations

import contextlib
from collections import deque
from typing import Any

import numpy as np
import viser

from skyrig.flight.frames import Frames
from skyrig.flight.rig import RigData

PRESETS = {
    "Corner": (1.0, -1.0, 0.55),
    "Front": (1.0, 0.0, 0.12),
    "Side": (0.0, -1.0, 0.12),
    "Top": (-0.001, 0.0, 1.0),
}
"""Directions from the rig to the camera."""
FOV = 0.75
"""Vertical field of view (rad)."""
UNPLACED = np.array([[3.0, 3.0, 3.0], [-5.0, 0.0, 0.0]])
"""Where viser's page looks from before it is told (m), as its window is laid out yet or not."""
PUT = 8
"""How many of the places where a viewer was put are remembered: its page may tell of an earlier one still."""


class Cameras:
    """The cameras of all viewers; each moves its own, and presets go to whoever asks."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server
        self._centre, self._size = np.array([0.0, 0.0, 1.2]), 1.5
        self._last: np.ndarray | None = None
        self._spared: dict[int, np.ndarray | None] = {}
        """Who is led by a film of theirs, and where what they follow was last."""
        self._linked: tuple[np.ndarray, np.ndarray] | None = None
        """Where a link has its viewer look from, and at what (m), until that viewer comes."""
        self._due, self._guests = False, set[int]()
        """Whether what a link leads to is still to be drawn, and who came by the link before."""
        self._put: dict[int, deque[np.ndarray]] = {}
        """Where viewers were put who have not gone elsewhere by themselves (m)."""
        self._place(server.initial_camera, "Corner")
        server.on_client_connect(self._greet)
        server.on_client_disconnect(self._forget)

    def frame_up(self, frame: Frames, rig: RigData, path: np.ndarray | None) -> None:
        """Have everybody look at a new rig, and at as much of its path as keeps it large.

        But for who came by the link that led to it: pages may come before what they show is built.
        """
        guests, self._guests = self._guests, set()
        self._linked = self._linked if self._due else None
        self._due = False
        self._centre, self._size = surroundings(frame, rig, path)
        self._last = None
        self._place(self._server.initial_camera, "Corner")
        for number, client in self._server.get_clients().items():
            if number in guests:
                continue
            self._place(client.camera, "Corner")
            self._put.setdefault(number, deque(maxlen=PUT)).append(np.array(client.camera.position))

    def expect(self, position: np.ndarray | None, target: np.ndarray | None) -> None:
        """Have whoever comes next look at `target` from `position` (m), as the link says that is followed.

        The page does so by itself, but it may tell of where it looked before, as if somebody had to be put.
        """
        self._linked = None if position is None or target is None else (position, target)
        self._due = True

    def _greet(self, client: Any) -> None:
        """Have a new viewer see the whole rig in a window of any shape; a link may say where to look."""
        linked, self._linked = self._linked, None
        if linked is not None:
            with contextlib.suppress(AssertionError):
                client.camera.fov = FOV
                client.camera.position, client.camera.look_at = linked
            if self._due:
                self._guests.add(client.client_id)
            return
        usual = [*UNPLACED, np.array(self._server.initial_camera.position)]
        with contextlib.suppress(AssertionError):
            if _among(client.camera.position, usual):
                self._put[client.client_id] = deque(usual, maxlen=PUT)
            self._fit(client)
            client.camera.on_update(lambda _: self._fit(client))

    def _forget(self, client: Any) -> None:
        self._put.pop(client.client_id, None)

    def _fit(self, client: Any) -> None:
        """Put a viewer anew whose window has another shape, unless that viewer went elsewhere."""
        put = self._put.get(client.client_id)
        if put is None or client.client_id in self._spared:
            return
        with contextlib.suppress(AssertionError):
            came = np.array(client.camera.position)
            wanted = stand("Corner", self._centre, self._size, *shape_of(client.camera))
            if not _among(came, [*put]):
                self._forget(client)
            elif not _among(came, [wanted]):
                put.append(wanted)
                self._place(client.camera, "Corner")

    def preset(self, client: Any, name: str) -> None:
        """Put one viewer's camera to a preset."""
        if client is not None:
            self._place(client.camera, name)

    def follow(self, place: np.ndarray, follows: bool) -> None:
        """Have cameras go along with what has come to `place` (m), or only know where it is."""
        moved = np.zeros(3) if self._last is None else place - self._last
        self._last = np.array(place)
        if not follows or not np.any(np.abs(moved) > 1e-5):
            return
        for number, client in self._server.get_clients().items():
            if number not in self._spared:
                _carry(client, moved)

    def spare(self, client: Any) -> None:
        """Leave one viewer's camera where it is, whatever the flight does."""
        self._spared[client.client_id] = None

    def lead(self, client: Any, place: np.ndarray, follows: bool) -> None:
        """Have the camera of a spared viewer go along with what has come to `place` (m)."""
        last = self._spared[client.client_id]
        self._spared[client.client_id] = np.array(place)
        if follows and last is not None:
            _carry(client, place - last)

    def spare_no_more(self, client: Any) -> None:
        """Have a viewer's camera go along with the flight again."""
        self._spared.pop(client.client_id, None)

    def close_up(self, client: Any, frame: Frames, rig: RigData) -> None:
        """Have one viewer look at the rig from near."""
        low, high = _around(frame, rig)
        self._place(client.camera, "Corner", (low + high) / 2, 1.15 * float(np.linalg.norm(high - low)))

    def _place(
        self, camera: Any, name: str, centre: np.ndarray | None = None, size: float | None = None
    ) -> None:
        centre, size = self._centre if centre is None else centre, self._size if size is None else size
        with contextlib.suppress(AssertionError):  # a viewer who is not quite there yet
            at = stand(name, centre, size, *shape_of(camera))
            camera.fov = FOV
            camera.position = at
            camera.look_at = centre


def _among(place: np.ndarray, places: list[np.ndarray]) -> bool:
    return any(np.linalg.norm(place - at) < 1e-3 for at in places)


def _carry(client: Any, moved: np.ndarray) -> None:
    """Move one viewer's camera and what it looks at (m)."""
    camera = client.camera
    with contextlib.suppress(AssertionError), client.atomic():
        at, target = np.array(camera.position), np.array(camera.look_at)
        camera.position = at + moved
        camera.look_at = target + moved


def surroundings(frame: Frames, rig: RigData, path: np.ndarray | None) -> tuple[np.ndarray, float]:
    """The centre (m) of what a viewer of a new rig shall see, and how large that is (m)."""
    low, high = _around(frame, rig)
    own = float(np.linalg.norm(high - low))
    if 0 < low[2] < own:  # its shadow tells how high it is
        low[2] = 0.0
    if path is not None:
        wide_low, wide_high = np.minimum(low, path.min(0)), np.maximum(high, path.max(0))
        if np.linalg.norm(wide_high - wide_low) < 3.2 * own:
            low, high, own = wide_low, wide_high, 0.0
    return (low + high) / 2, float(np.linalg.norm(high - low)) + 0.35 * own


def stand(name: str, centre: np.ndarray, size: float, wide: float = 1.6) -> np.ndarray:
    """Where the camera of a preset is (m) to look at something around `centre` of `size` (m).

    `wide` is how wide the picture is for its height: what fits into a narrow one is seen from further away.
    """
    way = np.asarray(PRESETS[name])
    far = 0.5 * size / np.tan(FOV / 2) / min(wide / 1.15, 1.0)
    at = centre + way / np.linalg.norm(way) * far
    at[2] = max(at[2], 0.15)
    return at


def shape_of(camera: Any) -> tuple[float, ...]:
    """How wide a viewer's picture is for its height; nothing for one that nobody looks at yet."""
    wide, high = (float(getattr(camera, f"image_{side}", 0.0)) for side in ("width", "height"))
    return (wide / high,) if wide > 0 and high > 0 else ()


def _around(frame: Frames, rig: RigData) -> tuple[np.ndarray, np.ndarray]:
    """Two corners of a box that holds the rig (m)."""
    radius = float(np.max(rig.vehicle_radius, initial=0.0))
    points = np.concatenate([poses.position[0] for poses in frame.bodies.values()])
    return points.min(0) - radius, points.max(0) + radius
