"""Films of what was flown, drawn by one viewer's browser while the flight and everybody else go on.

The viewer who asks sees the film while it is drawn: a rig of its own, at earlier moments, in place of the one
that all share. Nothing of the session is touched.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skyrig.errors import InputError
from skyrig.flight.flight import FlightEvent
from skyrig.flight.frames import Frames
from skyrig.studio.look import Look
from skyrig.studio.pictures import Progress, render
from skyrig.studio.scene import RigScene, struck

if TYPE_CHECKING:
    from skyrig.studio.app import Studio

MOST_SECONDS = 30.0
"""No film is longer (s)."""
TRAIL = 12.0
"""How long a trail is (s)."""
KINDS = ("GIF", "MP4")
_SIZES = {"GIF": (640, 360), "MP4": (1280, 720)}
"""At most, width and height (pixels)."""
_RATES = {"GIF": 12, "MP4": 25}
"""Frames a second."""
_MANY = 10**6


def film(
    studio: Studio,
    client: Any,
    kind: str,
    begin: float,
    end: float,
    room: tuple[int, int] | None = None,
    progress: Progress | None = None,
) -> bytes:
    """What was flown from `begin` to `end` (s), seen by a viewer's camera.

    Args:
        studio: Whose flight it is.
        client: The viewer who draws it.
        kind: 'GIF' or 'MP4'.
        begin: First moment (s).
        end: Last moment (s).
        room: Width and height that the viewer has for it (pixels).
        progress: Is told of each frame.
    """
    if not 0 < end - begin <= MOST_SECONDS:
        raise InputError(f"A film must last up to {MOST_SECONDS:g} s, not {end - begin:.4g}.")
    if kind == "MP4":
        _writer()  # what is missing is said before anything is drawn
    wide, high = (min(a, b) for a, b in zip(room or _SIZES[kind], _SIZES[kind], strict=True))
    size = (wide - wide % 2, high - high % 2)
    moments = np.arange(begin, end, 1 / _RATES[kind])
    pictures = []
    for picture in _shots(studio, client, moments, size):
        pictures.append(picture if kind == "MP4" else indexed(picture))
        if progress is not None:
            progress(len(pictures), len(moments))
    return _mp4(pictures, size) if kind == "MP4" else _gif(pictures)


def indexed(picture: np.ndarray) -> Any:
    """A Pillow image with a palette that keeps the colours of small things, such as cables, apart."""
    from PIL import Image

    return Image.fromarray(picture).quantize(255, method=Image.Quantize.FASTOCTREE)


def _shots(studio: Studio, client: Any, moments: np.ndarray, size: tuple[int, int]) -> Iterator[np.ndarray]:
    """A picture of each moment."""
    with studio.lock:
        frames = studio.session.lately(float(moments[-1]), float(np.ptp(moments)) + TRAIL, _MANY)
        events, rig = list(studio.session.events), studio.rig
        path, look, others = studio.path, studio.look, list(studio.overlays)
    if frames is None or rig is None:
        raise InputError("There is nothing to film yet.")
    with _stage(client, [rig.root, *(it.scene.root for it in others)]) as own:
        scene = RigScene(own, "/film", rig.rig)
        scene.dress(look.dark)
        beside = [(RigScene(own, f"/film-{k}", it.rig, it.tint), it) for k, it in enumerate(others)]
        studio.cameras.spare(client)
        try:
            for now in map(float, moments):
                with client.atomic():
                    _draw(scene, frames, events, now, look)
                    scene.draw_path(path, look.path)
                    for other, it in beside:
                        other.draw(it.frames.at(now), set(it.rig.severed(it.events, now)), {}, look)
                    studio.cameras.lead(client, frames.at(now).place[0], look.follow)
                client.flush()
                time.sleep(0.1)  # until the page has it
                yield render(client, size)
        finally:
            studio.cameras.spare_no_more(client)
            for each in (scene, *(other for other, _ in beside)):
                each.remove()


def _draw(scene: RigScene, frames: Frames, events: Sequence[FlightEvent], now: float, look: Look) -> None:
    past = [it for it in events if it.time <= now + 1e-9]
    scene.draw(frames.at(now), set(scene.rig.severed(past, now)), struck(scene.rig, past, now), look)
    rows = (frames.times >= now - TRAIL) & (frames.times <= now + 1e-9)
    scene.draw_trail(frames.place[rows][::3], look.trail)


@contextlib.contextmanager
def _stage(client: Any, roots: Sequence[str]) -> Iterator[Any]:
    """One viewer's own scene, without the nodes at `roots` that everybody else goes on to see."""
    hidden = [client.scene.add_frame(root, show_axes=False, visible=False) for root in roots]
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):  # whoever left has no scene
            for node in hidden:
                node.remove()


def _gif(pictures: Sequence[Any]) -> bytes:
    stream = io.BytesIO()
    pause = round(1000 / _RATES["GIF"])
    pictures[0].save(stream, "GIF", save_all=True, append_images=list(pictures[1:]), duration=pause, loop=0)
    return stream.getvalue()


def _writer() -> Any:
    try:
        from imageio_ffmpeg import write_frames
    except ImportError:
        raise InputError(
            "MP4 needs imageio-ffmpeg, which is not installed: pip install 'skyrig[film]'; or choose GIF."
        ) from None
    return write_frames


def _mp4(pictures: Sequence[np.ndarray], size: tuple[int, int]) -> bytes:
    """H.264 with colours that every player takes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "film.mp4"
        writer = _writer()(
            str(file), size, fps=_RATES["MP4"], quality=7, macro_block_size=2, ffmpeg_log_level="error"
        )
        with warnings.catch_warnings():  # that it starts a process beside threads, which it does with care
            warnings.simplefilter("ignore", RuntimeWarning)
            writer.send(None)
        for picture in pictures:
            writer.send(np.ascontiguousarray(picture).tobytes())
        writer.close()
        return file.read_bytes()
