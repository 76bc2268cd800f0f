"""The tab for flights: open, overlay, export, and pictures of the view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from skyrig.errors import InputError
from skyrig.flight.flight import Flight

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
        self.refresh()
        again.on_click(panel.trying(lambda event: self.refresh()))
        open_.on_click(panel.trying(lambda event: self._open()))
        overlay.on_click(panel.trying(lambda event: self.studio.overlay(Flight.load(self._chosen()))))
        without.on_click(panel.trying(lambda event: self.studio.overlay(None)))

    def refresh(self) -> None:
        """Look again for flights in the folder of flights."""
        found = sorted(self.studio.flights.glob("*/flight.npz")) if self.studio.flights.is_dir() else []
        self.known.options = (NONE, *(str(path.parent) for path in found[:200]))

    def _open(self) -> None:
        self.studio.session.show(Flight.load(self._chosen()))

    def _chosen(self) -> Path:
        text = self.path.value.strip() or self.known.value
        if text in ("", NONE):
            raise InputError("Choose a flight, or give its path.")
        return Path(text)
