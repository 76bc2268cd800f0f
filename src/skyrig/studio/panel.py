"""The page's panels: what is open, its clock, its readouts, and tabs for everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import viser

from skyrig import files
from skyrig.errors import FlightDiverged, InputError
from skyrig.studio import readouts
from skyrig.studio.session import View
from skyrig.studio.tab_flights import FlightsTab
from skyrig.studio.tab_hands import HandsTab
from skyrig.studio.tab_scenario import ScenarioTab
from skyrig.studio.tab_view import ViewTab
from skyrig.studio.telling import brief, complain

if TYPE_CHECKING:
    from skyrig.studio.app import Studio

SPEEDS = ("0.1x", "0.2x", "0.5x", "1x", "2x", "5x", "10x")


class Panel:
    """Everything around the scene."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        gui = studio.server.gui
        gui.main_panel.dock_right()
        gui.main_panel.set_width(330)
        gui.set_panel_label("skyrig studio")
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
        watch.dock_left()
        watch.set_width(290)

    def say(self, text: str) -> None:
        """Tell everybody what could not be done, or take back what was told before."""
        self.studio.session.tell(text)
        self._show_message()

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
            except (InputError, FlightDiverged) as error:
                self.say(str(error))
            except Exception as error:
                self.say(f"That did not work: {complain(error)}.")

        return run

    def tell(self, view: View | None) -> None:
        """Bring status and clock up to date."""
        session = self.studio.session
        scenario, flight = session.scenario, session.flight
        name = flight.name if flight is not None else scenario.name if scenario is not None else "skyrig"
        about = "A recorded flight" if flight is not None else scenario.description if scenario else ""
        self.studio.put(self.status, readouts.status(view, name, about))
        self._show_message()
        if view is None:
            return
        low, high = view.span
        if high - low > 1e-6:
            if self.scrub.max < high or high < self.scrub.max - 0.5:
                self.scrub.max = float(high)
            if self.scrub.min != low:
                self.scrub.min = float(low)
        now = min(max(float(view.frame.times[0]), self.scrub.min), self.scrub.max)
        if abs(self.scrub.value - now) > 0.02:
            self.scrub.value = round(now, 2)

    def renew(self) -> None:
        """Fill in the fields for what is open now."""
        self.scenario.renew()
        self.hands.renew()

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
        speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1x", hint="Flight time over real time")
        self.scrub = gui.add_slider("Time (s)", 0.0, 1.0, 0.01, 0.0, hint="Look back at what was flown")
        repeat = gui.add_checkbox("Repeat", False, hint="Begin anew at the scenario's end")

        speed.on_update(
            self.trying(lambda event: session.set_speed(float(event.target.value.removesuffix("x"))))
        )
        self.scrub.on_update(self.trying(lambda event: session.scrub(event.target.value)))
        repeat.on_update(self.trying(lambda event: setattr(session, "repeat", event.target.value)))
