"""The tab for flights: open, overlay, export, and pictures of the view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from skyrig.errors import InputError
from skyrig.flight import playback
from skyrig.flight.flight import Flight
from skyrig.studio.pictures import MOST_SECONDS, SIZE, gif, png

if TYPE_CHECKING:
    from skyrig.studio.panel import Panel

NONE = "(none)"


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
        html.on_click(panel.trying(self._export))
        picture.on_click(panel.trying(self._picture))
        film.on_click(panel.trying(self._film))
        self.refresh()
        again.on_click(panel.trying(lambda event: self.refresh()))
        open_.on_click(panel.trying(lambda event: self._open()))
        overlay.on_click(panel.trying(lambda event: self.studio.overlay(Flight.load(self._chosen()))))
        without.on_click(panel.trying(lambda event: self.studio.overlay(None)))

    def refresh(self) -> None:
        """Look again for flights in the folder of flights."""
        found = sorted(self.studio.flights.glob("*/flight.npz")) if self.studio.flights.is_dir() else []
        self.known.options = (NONE, *(str(path.parent) for path in found[:200]))

    def _export(self, event: Any) -> None:
        flown, parts = self.studio.session.everything(), self.studio.parts
        if flown is None or parts is None:
            raise InputError("There is nothing to export yet.")
        frames, events = flown
        stride = -(-len(frames) // playback.MOST_FRAMES)
        name = self._name()
        text = playback.page(
            frames[::stride], parts, events, name, self.studio.look.dark, self.studio.overlaid
        )
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
        told = event.client.add_notification("Film", "Drawing the first frame.", loading=True)

        def drawn(done: int, total: int) -> None:
            told.body = f"{done} of {total} frames are drawn."

        try:
            data = gif(self.studio, event.client, begin, now, progress=drawn)
        finally:
            told.remove()
        event.client.send_file_download(f"{self._name()}.gif", data, save_immediately=True)

    def _name(self) -> str:
        session = self.studio.session
        what = session.flight or session.scenario
        return "skyrig" if what is None else what.name

    def _open(self) -> None:
        self.studio.session.show(Flight.load(self._chosen()))

    def _chosen(self) -> Path:
        text = self.path.value.strip() or self.known.value
        if text in ("", NONE):
            raise InputError("Choose a flight, or give its path.")
        return Path(text)


def _fitting(client: Any) -> tuple[int, int]:
    """A picture's size no larger than the viewer's own."""
    wide, high = int(client.camera.image_width), int(client.camera.image_height)
    return min(wide, SIZE[0]), min(high, SIZE[1])
