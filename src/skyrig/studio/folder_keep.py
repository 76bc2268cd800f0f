"""What can be taken away from the page: flights, scenarios, links, pages, pictures, films."""

from __future__ import annotations

import tempfile
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skyrig.errors import InputError
from skyrig.flight import playback
from skyrig.studio.film import KINDS, MOST_SECONDS, film
from skyrig.studio.links import link
from skyrig.studio.pictures import SIZE, png

if TYPE_CHECKING:
    from skyrig.studio.tab_flights import FlightsTab


class KeepFolder:
    """Everything that can be taken away, one thing at a time."""

    def __init__(self, tab: FlightsTab) -> None:
        self.studio, panel = tab.studio, tab.panel
        gui = panel.studio.server.gui
        flight = gui.add_button("Save flight", hint="What was flown, as the file that skyrig fly writes")
        again = gui.add_button("Overlay what was flown", hint="It stays beside what you fly next")
        yaml = gui.add_button("Save scenario", hint="With everything that was changed, as YAML")
        show = gui.add_button("Copy scenario", hint="The same, to be copied from the page")
        address = gui.add_button("Copy link", hint="Opens what is on show: moment, plots, looks, your camera")
        self.copy = gui.add_html("")
        html = gui.add_button("Export HTML", hint="One page that plays what was flown, without a network")
        picture = gui.add_button("Save picture", hint="What your camera sees, as PNG")
        self.seconds = gui.add_number("Film (s)", 5.0, min=0.5, max=MOST_SECONDS, step=0.5)
        self.kind: Any = gui.add_dropdown("Film as", KINDS, hint="MP4 needs pip install 'skyrig[film]'")
        filmed = gui.add_button("Save film", hint="The seconds up to the shown moment")
        for button, action in (
            (flight, self._flight),
            (again, lambda event: self.studio.overlay(self.studio.session.flown())),
            (yaml, self._yaml),
            (show, lambda event: self._offer(self._scenario())),
            (address, lambda event: self._offer(link(self.studio, event.client))),
            (html, self._export),
            (picture, self._picture),
            (filmed, self._film),
        ):
            button.on_click(panel.trying(tab.alone(action)))

    def _flight(self, event: Any) -> None:
        flight = self.studio.session.flown()
        with tempfile.TemporaryDirectory() as folder:
            data = flight.thinned().save(Path(folder) / "flight.npz").read_bytes()
        event.client.send_file_download(f"{self._name()}.npz", data, save_immediately=True)

    def _offer(self, text: str) -> None:
        """Show a text, to be copied."""
        self.copy.content = _to_copy(text)

    def _scenario(self) -> str:
        session = self.studio.session
        known = session.scenario
        text = None if known is None else known.text or known.to_yaml()
        text = session.flight.scenario if session.flight is not None else text
        if not text:
            raise InputError("What is on show has no scenario.")
        return text

    def _yaml(self, event: Any) -> None:
        text = self._scenario()
        event.client.send_file_download(f"{self._name()}.yaml", text.encode(), save_immediately=True)

    def _export(self, event: Any) -> None:
        flown, rig = self.studio.session.everything(), self.studio.shown
        if flown is None or rig is None:
            raise InputError("There is nothing to export yet.")
        frames, events = flown
        stride = -(-len(frames) // playback.MOST_FRAMES)
        name = self._name()
        first = next(iter(self.studio.overlays), None)
        over = None if first is None else playback.Overlay(first.frames, first.rig, first.events, first.name)
        text = playback.page(frames[::stride], rig, events, name, self.studio.look.dark, over)
        event.client.send_file_download(f"{name}.html", text.encode("utf-8"), save_immediately=True)

    def _picture(self, event: Any) -> None:
        picture = png(event.client, _fitting(event.client))
        event.client.send_file_download(f"{self._name()}.png", picture, save_immediately=True)

    def _film(self, event: Any) -> None:
        session, client = self.studio.session, event.client
        view = session.view()
        if view is None:
            raise InputError("There is nothing to film yet.")
        now, kind = float(view.frame.times[0]), str(self.kind.value)
        begin = max(now - float(self.seconds.value), view.span[0])
        note = client.add_notification("Film", "Drawing the first frame.", loading=True)

        def drawn(done: int, total: int) -> None:
            note.body = f"{done} of {total} frames are drawn; the flight goes on meanwhile."

        try:
            data = film(self.studio, client, kind, begin, now, _room(client), drawn)
        finally:
            note.remove()
        client.send_file_download(f"{self._name()}.{kind.lower()}", data, save_immediately=True)

    def _name(self) -> str:
        session = self.studio.session
        what = session.flight or session.scenario
        return "skyrig" if what is None else what.name


def _fitting(client: Any) -> tuple[int, int]:
    """A picture's size no larger than the viewer's own."""
    wide, high = _room(client)
    return min(wide, SIZE[0]), min(high, SIZE[1])


def _room(client: Any) -> tuple[int, int]:
    """Width and height of what a viewer sees (pixels)."""
    return max(int(client.camera.image_width), 16), max(int(client.camera.image_height), 16)


def _to_copy(text: str) -> str:
    """A text with a button that copies it, as HTML."""
    # what a browser lets a page do only upon a click, so the click must be the page's own
    copy = (
        "const it = this.previousElementSibling; it.select(); "
        "navigator.clipboard ? navigator.clipboard.writeText(it.value) : document.execCommand('copy'); "
        "this.textContent = 'Copied'; this.focus()"  # so that keys do what they do
    )
    area = "width:100%;height:9em;font:11px/1.4 monospace;white-space:pre;background:inherit;color:inherit"
    button = "margin:4px 8px 4px 0;padding:2px 12px;cursor:pointer"
    return (
        f'<div style="padding:4px 0"><textarea readonly data-readout="copy" style="{area}">{escape(text)}'
        f'</textarea><button style="{button}" onclick="{escape(copy)}">Copy</button></div>'
    )
