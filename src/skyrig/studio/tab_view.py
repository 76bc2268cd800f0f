"""The tab for looking: cameras, what is drawn, light and dark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skyrig.studio.camera import PRESETS

if TYPE_CHECKING:
    from skyrig.studio.panel import Panel

BOXES = {
    "follow": ("Follow the payload", "Cameras go along"),
    "dark": ("Dark", None),
    "trail": ("Trail", "Where the payload has been"),
    "path": ("Reference path", None),
    "arrows": ("Wind", "What blows at every body, where there is wind"),
    "forces": ("Forces", "Thrusts red, weights grey, pulls orange, pushes of fingers violet"),
    "velocities": ("Velocities", "Green, 0.4 m long at 1 m/s"),
    "axes": ("Frames", "The axes of every body: x red, y green, z blue"),
    "ghost": ("Wanted pose", "Where the payload shall be now"),
    "by_tension": ("Cables by tension", "Blue for none, red for twice hover"),
    "labels": ("Tensions at the cables", None),
}
"""Fields of `Look` by their names: what they are called, and a hint."""


class ViewTab:
    """How the scene is looked at, by everybody."""

    def __init__(self, panel: Panel) -> None:
        self.panel, studio = panel, panel.studio
        gui = studio.server.gui
        camera = gui.add_button_group("Camera", tuple(PRESETS))
        camera.on_click(panel.trying(lambda event: studio.cameras.preset(event.client, event.target.value)))
        self.boxes: dict[str, Any] = {
            name: gui.add_checkbox(label, getattr(studio.look, name), hint=hint)
            for name, (label, hint) in BOXES.items()
        }
        for name, box in self.boxes.items():

            def change(event: Any, name: str = name) -> None:
                with studio.lock:
                    studio.dress(replace(studio.look, **{name: event.target.value}))

            box.on_update(panel.trying(change))

    def tell(self) -> None:
        """Show how the scene is looked at."""
        for name, box in self.boxes.items():
            self.panel.mirror.show(box, getattr(self.panel.studio.look, name))
