"""The page's panels: what is open, its clock, its readouts, and tabs for everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import viser
from viser._messages import GuiUpdateMessage

from skyrig import files
from skyrig.scenario.summary import team
from skyrig.studio import readouts
from skyrig.studio.folder_signals import SignalsFolder
from skyrig.studio.keys import Keys
from skyrig.studio.mirror import Mirror
from skyrig.studio.session import StudioSession, View
from skyrig.studio.tab_flights import FlightsTab
from skyrig.studio.tab_hands import HandsTab
from skyrig.studio.tab_scenario import ScenarioTab
from skyrig.studio.tab_view import ViewTab
from skyrig.studio.telling import brief, reason

if TYPE_CHECKING:
    from skyrig.studio.app import Studio

LEAST_SPAN = 0.02
"""From end to end of the slider at least (s)."""
SPEEDS = ("0.1x", "0.2x", "0.5x", "1x", "2x", "5x", "10x")


class Panel:
    """Everything around the scene."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        gui = studio.server.gui
        self.mirror = Mirror(_send)
        gui.main_panel.dock_right()
        gui.main_panel.set_width(330)
        self._label = "skyrig studio"
        gui.set_panel_label(self._label)
        self.status = gui.add_html("")
        self.message = gui.add_html(readouts.message(""))
        self._clock(gui)
        tabs = gui.add_tab_group()
        with tabs.add_tab("Scenario"):
            self.scenario = ScenarioTab(self)
        with tabs.add_tab("Hands on"):
            self.hands = HandsTab(self)
        with tabs.add_tab("Flights"):
            self.flights = FlightsTab(self)
        with tabs.add_tab("View"):
            self.view = ViewTab(self)
        watch = gui.add_panel()
        self.plots = watch.add_tab("Readouts")
        with self.plots:
            self.numbers = gui.add_html("")
            self.log = gui.add_html(readouts.log(()))
            with gui.add_folder("Choose plots", expand_by_default=False):
                self.signals = SignalsFolder(self)
        self.keys = Keys(self)
        watch.dock_left()
        watch.set_width(290)

    def say(self, text: str) -> None:
        """Tell everybody what could not be done, or take back what was told before."""
        self.studio.session.tell(text)
        self._show_message()

    def _not_done(self, event: Any, text: str) -> None:
        """Tell why something was not done; the field that asked for it shows what is so."""
        self.mirror.forget(getattr(event, "target", None))
        self.show_state()
        self.say(text)

    def refuse(self, field: Any, text: str) -> None:
        """Tell why a field does not take what a viewer put there, and have it show what it holds."""
        self.say(text)
        self.mirror.again(field)

    def _show_message(self) -> None:
        self.studio.put(self.message, readouts.message(self._brief(self.studio.session.message)))

    def _brief(self, text: str) -> str:
        sent = (field.value for field in self.studio.inbox.fields.values())
        return brief(text, [value for value in sent if isinstance(value, str)])

    def trying(self, action: Any) -> Any:
        """`action` as a callback: what it refuses is told on the page, and all else goes on.

        Whatever it opens must lie in the folders that the studio was started with.
        """

        def run(event: Any) -> None:
            if event.client is None:
                return
            self.say("")  # first: what the flight makes of the action may be told before it returns
            try:
                with files.only_under(self.studio.folders):
                    action(event)
            except Exception as error:
                self._not_done(event, reason(error, "That did not work"))

        return run

    def tell(self, view: View | None) -> None:
        """Bring status, clock and all fields up to date."""
        session = self.studio.session
        self.studio.put(self.status, readouts.status(view, *_title(session)))
        self._show_message()
        if view is not None:
            self._show_time(view)
            self._show_label(readouts.brief(view))
        self.show_state()

    def show_state(self) -> None:
        """Have every field that shows a state show it."""
        session = self.studio.session
        self.mirror.show(self.speed, f"{session.speed:g}x")
        self.mirror.show(self.repeat, session.repeat)
        self.hands.tell()
        self.view.tell()

    def _scrub(self, event: Any) -> None:
        """Look at the moment that a viewer put, though the flight may have moved the slider on since."""
        moment = self.studio.inbox.put.pop(event.target._impl.uuid, event.target.value)
        self.studio.session.scrub(moment)
        self.mirror.forget(event.target)

    def _show_time(self, view: View) -> None:
        low, now = float(view.span[0]), float(view.frame.times[0])
        high = max(float(view.span[1]), low + LEAST_SPAN)
        if high != self.scrub.max or low != self.scrub.min:
            # a slider's ends pass each other where a flight begins anew
            self.scrub.max = max(high, self.scrub.min + LEAST_SPAN)
            self.scrub.min, self.scrub.max = low, high
        now = min(max(round(now, 2), low), high)
        self.mirror.show(self.scrub, now)  # unless it is as before: a viewer may be dragging it

    def _show_label(self, text: str) -> None:
        """Have the panel's head tell the most needed numbers: where it is folded, on a phone, they stay."""
        if text != self._label:
            self._label = text
            self.studio.server.gui.set_panel_label(text)

    def _clock(self, gui: viser.GuiApi) -> None:
        session = self.studio.session
        go = gui.add_button_group("Flight", ("Play", "Pause", "Step", "Reset"))
        actions = {
            "Play": session.play,
            "Pause": lambda: session.play(False),
            "Step": session.step,
            "Reset": session.reset,
        }
        go.on_click(self.trying(lambda event: actions[event.target.value]()))
        undo = gui.add_button("Undo", hint="Take back the last poke, cut or hand, and go on from before it")
        self.speed: Any = gui.add_dropdown(
            "Speed", SPEEDS, initial_value="1x", hint="Flight time over real time"
        )
        self.scrub = gui.add_slider(
            "Time (s)",
            0.0,
            LEAST_SPAN,
            0.01,
            0.0,
            hint="Look back; Play and hands go on from there",
        )
        self.repeat: Any = gui.add_checkbox("Repeat", False, hint="Begin anew at the scenario's end")

        undo.on_click(self.trying(lambda event: session.undo()))
        self.speed.on_update(
            self.trying(lambda event: session.set_speed(float(event.target.value.removesuffix("x"))))
        )
        self.scrub.on_update(self.trying(self._scrub))
        self.repeat.on_update(self.trying(lambda event: setattr(session, "repeat", event.target.value)))


def _title(session: StudioSession) -> tuple[str, str]:
    """What is open, and a line about it."""
    flight, scenario = session.flight, session.scenario
    if flight is not None:
        return flight.name, session.about
    if scenario is None:
        return "skyrig", ""
    if scenario.text is not None:
        return scenario.name, scenario.description
    return f"{scenario.name}, changed", f"Now {team(scenario)}, {scenario.duration:g} s"


def _send(field: Any) -> None:
    """Tell every page what a field holds; viser itself does so only where that has changed."""
    inside = field._impl
    inside.gui_api._websock_interface.queue_message(GuiUpdateMessage(inside.uuid, {"value": inside.value}))
