"""The tab for looking: cameras, what is drawn, light and dark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skyrig.studio.camera import PRESETS

if TYPE_CHECKING:
    from skyrig.studio.panel import Panel


class ViewTab:
    """How the scene is looked at."""

    def __init__(self, panel: Panel) -> None:
        studio = panel.studio
        gui = studio.server.gui
        camera = gui.add_button_group("Camera", tuple(PRESETS))
        follow = gui.add_checkbox("Follow the payload", False, hint="Your camera goes along")
        dark = gui.add_checkbox("Dark", False)
        shown = {
            "trail": gui.add_checkbox("Trail", True, hint="Where the payload has been"),
            "path": gui.add_checkbox("Reference path", True),
            "ghost": gui.add_checkbox("Wanted pose", True, hint="Where the payload shall be now"),
            "by_tension": gui.add_checkbox(
                "Cables by tension", False, hint="Blue for none, red for twice hover"
            ),
            "labels": gui.add_checkbox("Tensions at the cables", False),
        }
        camera.on_click(panel.trying(lambda event: studio.cameras.preset(event.client, event.target.value)))
        follow.on_update(
            panel.trying(lambda event: studio.cameras.set_following(event.client_id, event.target.value))
        )

        def set_dark(event: Any) -> None:
            with studio.lock:
                studio.dress(event.target.value)
                studio.redo_charts()

        dark.on_update(panel.trying(set_dark))
        for name, box in shown.items():

            def show(event: Any, name: str = name) -> None:
                studio.look = replace(studio.look, **{name: event.target.value})

            box.on_update(panel.trying(show))
