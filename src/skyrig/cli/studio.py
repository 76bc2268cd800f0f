"""The command that serves the studio: `skyrig studio`."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import tyro

from skyrig.errors import InputError

if TYPE_CHECKING:
    from skyrig.studio.app import Studio

What = Annotated[str | None, tyro.conf.arg(metavar="SCENARIO|FLIGHT|LINK", help_behavior_hint="")]
Folders = Annotated[tuple[Path, ...], tyro.conf.arg(name="open", metavar="DIR")]
Directory = Annotated[Path, tyro.conf.arg(metavar="DIR")]
File = Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")]
PATIENCE = 4.0
"""How long the studio may take to end (s)."""


def studio(
    what: tyro.conf.Positional[What] = None,
    /,
    *,
    port: int = 8080,
    host: str = "127.0.0.1",
    play: bool = False,
    open_page: bool = True,
    flights: Directory = Path("flights"),
    also: tyro.conf.UseAppendAction[Folders] = (),
    dark: bool = False,
    picture: File = None,
    at: float = 5.0,
    seconds: float = 6.0,
) -> None:
    """See, steer and poke a rig in a browser, or look at a recorded flight.

    Args:
        what: A scenario's name or YAML file, a flight's folder or .npz file, or a link that a studio gave;
            the default scenario if left out.
        port: Port to listen on; the next free one if it is taken.
        host: Address to listen on; 127.0.0.1 is this machine alone, others ask for a token in the address.
        play: Begin at once.
        open_page: Open the page where there is a desktop.
        flights: Folder in which the page looks for recorded flights.
        also: Another folder whose flights the page may open.
        dark: Dark looks.
        picture: Draw the scene to this .png (or film it to this .gif or .mp4) without a window, and end.
        at: Of which moment the picture is, or when the film ends (s); a flight that is shorter ends earlier.
        seconds: How long the film is (s).
    """
    from skyrig.scenario import DEFAULT

    if not 0 <= port <= 65535:
        raise InputError(f"--port must be from 0 to 65535, not {port}.")
    if picture is not None:
        check_picture(picture, at, seconds)
    address = what if what is not None and what.startswith("http") else None
    if address is None:
        check(what or DEFAULT)

    from skyrig.studio.app import Studio
    from skyrig.studio.links import follow

    page = Studio(host, port, folders(None if address else what, flights, also))
    page.dress(replace(page.look, dark=dark))

    def opened() -> None:
        if address is not None:
            follow(page, urlsplit(address).query)
            page.session.playing = play
            return
        page.open(what or DEFAULT, play=play and picture is None)

    serve(page, opened, open_page, picture, at, seconds)


def serve(
    page: Studio,
    opened: Callable[[], None],
    open_page: bool = True,
    picture: Path | None = None,
    at: float = 5.0,
    seconds: float = 6.0,
) -> None:
    """Have a page show what `opened` opens until Ctrl-C, or only until its picture is drawn."""
    over = threading.Event()
    _heed_interrupts()
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    try:
        page.begin()
        opened()
        if picture is not None:
            from skyrig.studio.pictures import save

            with _progress(picture) as progress:
                saved = save(page, picture, at, seconds, progress)
            print(f"Picture: {saved}")
            return
        print(f"Studio: {page.address}  (Ctrl-C ends it)", flush=True)
        if open_page and has_desktop():
            import webbrowser

            webbrowser.open(page.address)
        while not over.wait(0.5):
            pass
    except KeyboardInterrupt:
        pass
    finally:
        _end(page)


def check_picture(file: Path, at: float, seconds: float) -> None:
    """Whether there can be such a picture or film, before anything is flown; an `InputError` says why not."""
    from skyrig.studio.film import MOST_SECONDS

    if file.suffix not in (".png", ".gif", ".mp4"):
        raise InputError(f"--picture must name a .png, .gif or .mp4 file, not {str(file)!r}.")
    if not 0 <= at < float("inf"):
        raise InputError(f"--at must be a time from 0 on (s), not {at:g}.")
    if file.suffix != ".png" and at == 0:
        raise InputError("--at must be above 0 (s): a film ends there.")
    if not 0 < seconds <= MOST_SECONDS:
        raise InputError(f"--seconds must be above 0 and at most {MOST_SECONDS:g} (s), not {seconds:g}.")


def check(what: str) -> None:
    """Whether there is such a scenario or flight, before a page is served; an `InputError` says why not."""
    from skyrig.studio.opening import is_flight

    if is_flight(what):
        from skyrig.cli.flights import opened

        opened(Path(what))
    else:
        from skyrig.scenario import Scenario

        Scenario.load(what)


@contextmanager
def _progress(file: Path) -> Iterator[Callable[[int, int], None]]:
    """A bar on the error stream that fills with a film's frames; until the first one, it is being flown."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    # where nobody watches, not even the empty line that a bar leaves
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"Flying for {file.name}", total=None)

        def drawn(done: int, total: int) -> None:
            words = f"Drawing {file.name}, {done} of {total} frames"
            bar.update(task, description=words, completed=done, total=total)

        yield drawn


def has_desktop() -> bool:
    """Whether a browser window could be opened here."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def folders(what: str | None, flights: Path, others: Sequence[Path]) -> tuple[Path, ...]:
    """Where the page may open files: what was named, and the folder of what is open, if that is a file."""
    for folder in others:
        if not folder.is_dir():
            raise InputError(f"--open must name a folder, not {str(folder)!r}.")
    named = Path(what) if what is not None and Path(what).exists() else None
    own = () if named is None else (named if named.is_dir() else named.parent,)
    return (flights, *own, *others)


def _heed_interrupts() -> None:
    """Have the first Ctrl-C end the studio, and the second the process at once, whatever it is doing."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return  # whoever started it in the background wants that

    def first(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, first)


def _end(page: Studio) -> None:
    hurry = threading.Timer(PATIENCE, _leave)
    hurry.daemon = True
    hurry.start()
    page.close()
    hurry.cancel()
    if page.busy:
        _leave()
    print("Studio ended.", flush=True)


def _leave() -> None:
    """End at once: what is compiled or waited for cannot be interrupted, and would be waited for."""
    print("Studio ended.", flush=True)
    os._exit(0)
