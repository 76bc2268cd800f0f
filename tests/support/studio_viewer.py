"""Somebody at a studio whose threads do not run: what they would do is done between two acts."""

from types import SimpleNamespace
from typing import Any

from skyrig.studio.app import SLOWER, Studio
from skyrig.studio.engine import READY


class Viewer:
    """Somebody at a studio whose threads do not run: what they would do is done between two acts."""

    def __init__(self, studio: Studio) -> None:
        self.studio, self.session, self.panel = studio, studio.session, studio.panel

    def put(self, field: Any, value: Any) -> None:
        """Change a field, or press a button, as viser does for a page."""
        impl = field._impl
        if not impl.is_button:
            impl.value = value
        event = SimpleNamespace(client=SimpleNamespace(), client_id=0, target=field)
        if impl.is_button and value is not True:  # one of a group
            event.target = SimpleNamespace(value=value)
        for callback in impl.update_cb:
            callback(event)
        self.settle()

    def settle(self, seconds: float = 0.0) -> None:
        """Let the threads have their turns, and the page be drawn."""
        while self.session._wanted is not None or self.session._uncompiled is not None:
            self.session.turn(0.0)
            self.session.compile_one()
        self.session.turn(seconds)
        while self.session.skipping and self.session.status == READY:
            self.session.turn(0.0)
        for _ in range(SLOWER + 1):
            self.studio._draw()

    @property
    def buttons(self) -> dict[str, Any]:
        """All buttons of the page, by their labels."""
        return {it.label: it for it in self.studio.inbox.fields.values() if it._impl.is_button}

    def press(self, label: str) -> str:
        """Press a button, or one of the group 'Flight'; what the page says about it."""
        group = label in ("Play", "Pause", "Step", "Reset")
        self.put(self.buttons["Flight" if group else label], label if group else True)
        return self.session.message
