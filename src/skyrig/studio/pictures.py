"""Pictures of the view, drawn by a viewer's browser; also, and films too, by one without a window."""

from __future__ import annotations

import contextlib
import io
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skyrig.errors import InputError
from skyrig.flight.storage import write_whole
from skyrig.studio.engine import BROKEN, ENDED, READY

if TYPE_CHECKING:
    from skyrig.studio.app import Studio

Progress = Callable[[int, int], None]
"""Called with the number of frames that are done and of those there will be."""
SIZE = (1280, 720)
"""Width and height of pictures (pixels)."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
)


def png(client: Any, size: tuple[int, int] = SIZE) -> bytes:
    """What a viewer's camera sees now, as PNG."""
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(render(client, size)).save(stream, "PNG", optimize=True)
    return stream.getvalue()


def save(
    studio: Studio, file: Path, at: float, seconds: float = 6.0, progress: Progress | None = None
) -> Path:
    """Write a picture (.png) of the moment `at` (s), or a film (.gif, .mp4) of the `seconds` before it.

    A Chromium or Chrome on this machine draws it, without a window; `progress` is told of a film's frames.
    """
    with viewer(studio) as client:
        at = min(at, _fly_to(studio, at))
        studio.session.scrub(at)
        _wait_for_drawing(studio)
        view, rig = studio.session.view(), studio.shown
        if view is not None and rig is not None and file.suffix == ".png":
            studio.cameras.close_up(client, view.frame, rig)
        _settle(client)
        if file.suffix == ".png":
            return write_whole(file, png(client))
        from skyrig.studio.film import film

        kind = file.suffix[1:].upper()
        return write_whole(file, film(studio, client, kind, max(at - seconds, 0.0), at, progress=progress))


@contextlib.contextmanager
def viewer(studio: Studio) -> Iterator[Any]:
    """A browser without a window that looks at the page."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise InputError(
            "--picture needs Chromium or Chrome on the PATH; or open the page and save the picture there."
        )
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [browser, *_FLAGS, f"--user-data-dir={profile}", "--window-size=1500,900", studio.address]
        process = subprocess.Popen(
            [*command[:-1], "--remote-debugging-port=0", command[-1]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield _first_client(studio, process)
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)
            process.kill()


def _first_client(studio: Studio, process: subprocess.Popen[bytes]) -> Any:
    for _ in range(600):
        clients = studio.server.get_clients()
        if clients:
            return next(iter(clients.values()))
        if process.poll() is not None:
            raise InputError(f"The browser ended before it showed the page, with code {process.returncode}.")
        time.sleep(0.1)
    raise InputError("The browser did not show the page within a minute.")


def _fly_to(studio: Studio, at: float) -> float:
    """Fly up to `at` (s) as fast as it goes, and say how far it came (s): a recorded flight has an end."""
    session = studio.session
    while session.status not in (READY, ENDED, BROKEN):
        time.sleep(0.05)
    view = session.view()
    if session.message or view is None:
        raise InputError(session.message or "There is nothing to take a picture of.")
    if session.recorded is None:
        session.skip(at - view.span[1])
        while session.skipping and session.status == READY:
            time.sleep(0.05)
        view = session.view() or view
    return view.span[1]


def _settle(client: Any) -> None:
    """Wait until pictures no longer change: pages fade in."""
    last = -1.0
    for _ in range(30):
        mean = float(render(client, (320, 180)).mean())
        if abs(mean - last) < 0.2:
            return
        last = mean
        time.sleep(1.0)


def _wait_for_drawing(studio: Studio) -> None:
    """Wait until the scene has been drawn and sent since now."""
    seen = studio.drawn
    while studio.drawn < seen + 4:
        time.sleep(0.01)
    studio.server.flush()
    time.sleep(0.15)


def render(client: Any, size: tuple[int, int]) -> np.ndarray:
    """What a viewer's camera sees, (height, width, 3)."""
    try:
        picture = client.get_render(height=size[1], width=size[0], transport_format="png", timeout=120.0)
    except (RuntimeError, TimeoutError):
        raise InputError("The viewer's browser gave no picture.") from None
    if picture.shape[2] == 4:  # over the page's own background
        share = picture[..., 3:].astype(float) / 255
        picture = (picture[..., :3] * share + 255 * (1 - share)).astype(np.uint8)
    return np.ascontiguousarray(picture[..., :3])
