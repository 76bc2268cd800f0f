"""Keys, and the same as commands in viser's list of them (Ctrl-K)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skyrig.errors import InputError

if TYPE_CHECKING:
    from skyrig.studio.panel import Panel

LEAP = 0.1
"""How far the arrow keys move the time (s)."""


class Keys:
    """What keys do, for the whole page."""

    def __init__(self, panel: Panel) -> None:
        self.studio = panel.studio
        session = panel.studio.session
        known: tuple[tuple[str, Any, Any], ...] = (
            ("Play or pause", "space", self._toggle),
            ("Forward in time", "arrowright", lambda: self._leap(LEAP)),
            ("Back in time", "arrowleft", lambda: self._leap(-LEAP)),
            ("Reset", "R", session.reset),
            ("Follow the payload", "F", self._follow),
            ("Undo", "Z", session.undo),
        )
        for label, key, action in known:
            command = self.studio.server.gui.add_command(label, hotkey=key)
            command.on_trigger(panel.trying(lambda event, action=action: action()))

    def _toggle(self) -> None:
        session = self.studio.session
        with session.lock:  # two presses at once are two: each begins from what the other made
            session.play(not session.playing)

    def _leap(self, seconds: float) -> None:
        """Look `seconds` further on or back; past the present, fly there."""
        session = self.studio.session
        with session.lock:
            view = session.view()
            if view is None:
                raise InputError("There is nothing to look at yet.")
            # from where one looks, not from the frame kept there: back and on again comes to the same moment
            at = float(view.frame.times[0] if session.cursor is None else session.cursor) + seconds
            if session.recorded is None and at > view.span[1] + 1e-9:
                session.step()
            else:
                session.scrub(at)

    def _follow(self) -> None:
        studio: Any = self.studio
        with studio.lock:
            studio.dress(replace(studio.look, follow=not studio.look.follow))
