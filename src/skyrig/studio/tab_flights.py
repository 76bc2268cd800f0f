"""The tab for flights: open one, lay others over it, take away what was flown."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from skyrig.errors import InputError
from skyrig.flight.flight import Flight
from skyrig.studio.folder_keep import KeepFolder
from skyrig.studio.links import opened

if TYPE_CHECKING:
    from skyrig.studio.panel import Panel

NONE = "(none)"
MOST_FOUND = 200
"""Flights that are offered."""


class FlightsTab:
    """Recorded flights, and what can be taken away from the page."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        self.studio = panel.studio
        self._busy = threading.Lock()
        gui = panel.studio.server.gui
        self.known: Any = gui.add_dropdown("Flight", (NONE,), hint="Found in the folder of flights")
        self.path = gui.add_text("Or a path", "", hint="A flight's folder or .npz file")
        again = gui.add_button("Look for flights again")
        open_ = gui.add_button("Open")
        overlay = gui.add_button("Overlay", hint="Show it beside what is open, up to four")
        without = gui.add_button("No overlay")
        with gui.add_folder("Take away"):
            self.keep = KeepFolder(self)
        self.refresh()
        again.on_click(panel.trying(lambda event: self.refresh()))
        open_.on_click(panel.trying(self.alone(self._open)))
        overlay.on_click(panel.trying(self.alone(lambda event: self.studio.overlay(self._chosen()[1]))))
        without.on_click(panel.trying(lambda event: self.studio.overlay(None)))

    def refresh(self) -> None:
        """Look again for flights in the folders of flights."""
        found = [
            path.parent for folder in self.studio.folders for path in sorted(folder.glob("*/flight.npz"))
        ]
        self.known.options = (NONE, *dict.fromkeys(str(path) for path in found[:MOST_FOUND]))

    def alone(self, action: Any) -> Any:
        """`action`, one at a time: a flight, a film take memory and time."""

        def run(event: Any) -> None:
            if not self._busy.acquire(blocking=False):
                raise InputError("Something is being opened or saved already: wait for it.")
            try:
                action(event)
            finally:
                self._busy.release()

        return run

    def _open(self, event: Any) -> None:
        path, flight = self._chosen()
        self.studio.show(flight, path)

    def _chosen(self) -> tuple[str, Flight]:
        text = self.path.value.strip() or self.known.value
        if text in ("", NONE):
            raise InputError("Choose a flight, or give its path.")
        return text, opened(text)
