"""The tab for flights: open, overlay, export, and pictures of the view."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skyrig.errors import InputError
from skyrig.flight import playback
from skyrig.flight.flight import Flight
from skyrig.flight.storage import load
from skyrig.studio.pictures import MOST_SECONDS, SIZE, gif, png

if TYPE_CHECKING:
    from skyrig.studio.panel import Panel

NONE = "(none)"
MOST_FOUND = 200
"""Flights that are offered."""
MOST_BYTES = 2**28
"""No flight that is opened from the page is larger, packed or unpacked."""


class FlightsTab:
    """Recorded flights, and what can be taken away from the page."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        self.studio = panel.studio
        gui = panel.studio.server.gui
        self.known: Any = gui.add_dropdown("Flight", (NONE,), hint="Found in the folder of flights")
        self.path = gui.add_text("Or a path", "", hint="A flight's folder or .npz file")
        again = gui.add_button("Look for flights again")
        open_ = gui.add_button("Open")
        overlay = gui.add_button("Overlay", hint="Show it beside what is open, in violet")
        without = gui.add_button("No overlay")
        with gui.add_folder("Take away"):
            html = gui.add_button("Export HTML", hint="One page that plays what was flown, without a network")
            picture = gui.add_button("Save picture", hint="What your camera sees, as PNG")
            self.seconds = gui.add_number("Film (s)", 5.0, min=0.5, max=MOST_SECONDS, step=0.5)
            film = gui.add_button("Save film", hint="The seconds up to the shown moment, as GIF")
        self._busy = threading.Lock()
        html.on_click(panel.trying(self._alone(self._export)))
        picture.on_click(panel.trying(self._alone(self._picture)))
        film.on_click(panel.trying(self._alone(self._film)))
        self.refresh()
        again.on_click(panel.trying(lambda event: self.refresh()))
        open_.on_click(panel.trying(self._alone(lambda event: self.studio.show(self._chosen()))))
        overlay.on_click(panel.trying(self._alone(lambda event: self.studio.overlay(self._chosen()))))
        without.on_click(panel.trying(lambda event: self.studio.overlay(None)))

    def refresh(self) -> None:
        """Look again for flights in the folders of flights."""
        found = [
            path.parent for folder in self.studio.folders for path in sorted(folder.glob("*/flight.npz"))
        ]
        self.known.options = (NONE, *dict.fromkeys(str(path) for path in found[:MOST_FOUND]))

    def _alone(self, action: Any) -> Any:
        """`action`, one at a time: a flight, a film take memory and time."""

        def run(event: Any) -> None:
            if not self._busy.acquire(blocking=False):
                raise InputError("Something is being opened or saved already: wait for it.")
            try:
                action(event)
            finally:
                self._busy.release()

        return run

    def _export(self, event: Any) -> None:
        flown, rig = self.studio.session.everything(), self.studio.shown
        if flown is None or rig is None:
            raise InputError("There is nothing to export yet.")
        frames, events = flown
        stride = -(-len(frames) // playback.MOST_FRAMES)
        name = self._name()
        text = playback.page(frames[::stride], rig, events, name, self.studio.look.dark, self.studio.overlaid)
        event.client.send_file_download(f"{name}.html", text.encode("utf-8"), save_immediately=True)

    def _picture(self, event: Any) -> None:
        picture = png(event.client, _fitting(event.client))
        event.client.send_file_download(f"{self._name()}.png", picture, save_immediately=True)

    def _film(self, event: Any) -> None:
        session = self.studio.session
        view = session.view()
        if view is None:
            raise InputError("There is nothing to film yet.")
        now = float(view.frame.times[0])
        begin = max(now - float(self.seconds.value), view.span[0])
        note = event.client.add_notification("Film", "Drawing the first frame.", loading=True)

        def drawn(done: int, total: int) -> None:
            note.body = f"{done} of {total} frames are drawn."

        playing, cursor = session.playing, session.cursor
        try:
            data = gif(self.studio, event.client, begin, now, progress=drawn)
        finally:
            note.remove()
            session.look_at(cursor, playing)
        event.client.send_file_download(f"{self._name()}.gif", data, save_immediately=True)

    def _name(self) -> str:
        session = self.studio.session
        what = session.flight or session.scenario
        return "skyrig" if what is None else what.name

    def _chosen(self) -> Flight:
        text = self.path.value.strip() or self.known.value
        if text in ("", NONE):
            raise InputError("Choose a flight, or give its path.")
        return load(Path(text), MOST_BYTES)


def _fitting(client: Any) -> tuple[int, int]:
    """A picture's size no larger than the viewer's own."""
    wide, high = int(client.camera.image_width), int(client.camera.image_height)
    return min(max(wide, 16), SIZE[0]), min(max(high, 16), SIZE[1])
