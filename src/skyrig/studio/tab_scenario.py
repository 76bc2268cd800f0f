"""The tab in which a scenario is picked and changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skyrig.control.known import CONTROLLERS
from skyrig.errors import InputError
from skyrig.planning import REFERENCES
from skyrig.scenario import Scenario, load, names
from skyrig.scenario.floor import with_floor
from skyrig.scenario.registry import MECHANISMS
from skyrig.scenario.scenario import bundled_text
from skyrig.studio.edits import MIXED, Form, edited, form_of
from skyrig.vehicles import airframe_names, payload_names

if TYPE_CHECKING:
    from skyrig.flight.flight import Flight
    from skyrig.studio.panel import Panel

PICK = "(pick one)"
TEMPLATES = {
    "hover": "{type: hover, start: [0.0, 0.0, 1.5], duration: 20.0}",
    "circle": "{type: circle, radius: 1.0, period: 6.0, ramp: 6.0, turns: 3, start: [1.0, 0.0, 1.5]}",
    "figure-8": "{type: figure-8, amplitude: [1.5, 0.75], period: 10.0, ramp: 10.0, turns: 2, "
    "start: [0.0, 0.0, 1.5]}",
    "line": "{type: line, start: [0.0, 0.0, 1.0], end: [2.0, 0.0, 1.5], duration: 5.0}",
    "waypoints": "{type: waypoints, points: [[0, 0, 1], [1, 1, 1.5], [2, 0, 1]], durations: [4.0, 4.0]}",
    "rotation": "{type: rotation, start: [0.0, 0.0, 1.5], amplitude: [0.0, 0.0, 0.5], period: 6.0}",
}


class ScenarioTab:
    """Fields of a scenario; nothing changes before Apply is pressed."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        self.scenario: Scenario | None = None
        gui = panel.studio.server.gui
        self.pick = gui.add_dropdown("Scenario", (PICK, *names()), hint="The bundled scenarios")
        with gui.add_folder("Team", expand_by_default=True):
            self.kind = gui.add_dropdown("Vehicles", (*airframe_names(), MIXED))
            self.count = gui.add_number("How many", 3, min=1, max=12, step=1)
            self.team = gui.add_text("Mixed team", "", hint="Types in order, separated by commas")
            self.payload = gui.add_dropdown("Payload", payload_names())
            self.mass = gui.add_number("Mass (kg)", 0.2, step=0.001, hint="Of the payload")
            self.mechanism = gui.add_dropdown("Joined by", tuple(MECHANISMS))
            self.lengths = gui.add_text("Lengths (m)", "0.5", hint="Of the cables: one, or one a cable")
        self.floor = gui.add_checkbox(
            "Solid floor", True, hint="What is begun anew stands and lies on the floor; the papers know none"
        )
        with gui.add_folder("Reference", expand_by_default=False):
            self.motion = gui.add_dropdown("Start from", (PICK, *(n for n in REFERENCES if n in TEMPLATES)))
            self.reference = gui.add_text("YAML", "", multiline=True, hint="Type and parameters, SI units")
        with gui.add_folder("Controller and noise", expand_by_default=False):
            self.controller = gui.add_dropdown("Controller", tuple(CONTROLLERS))
            self.flavour = gui.add_dropdown("Flavour", ("full", "published"))
            self.gains = gui.add_text("Gains", "{}", hint="YAML, such as {position: 2.0}")
            self.noise = [
                gui.add_number(f"Noise, {name}", 0.0, min=0.0, step=0.001)
                for name in ("position (m)", "velocity (m/s)", "attitude (rad)", "rate (rad/s)")
            ]
        self.others = gui.add_text(
            "Other changes", "", multiline=True, hint="PATH=VALUE, one a line, as skyrig fly --set takes them"
        )
        apply = gui.add_button("Apply", hint="Begin anew with these values")
        self.pick.on_update(panel.trying(self._open))
        self.motion.on_update(panel.trying(self._template))
        apply.on_click(panel.trying(self._apply))

    def renew(self) -> None:
        """Fill in the fields from what is open."""
        session = self.panel.studio.session
        self.scenario = session.scenario or _flown(session.flight)
        if self.scenario is None:
            self.pick.value = PICK
            return
        form = form_of(self.scenario)
        name = self.scenario.name
        bundled = (
            session.scenario is not None and name in names() and self.scenario.text == bundled_text(name)
        )
        self.pick.value = name if bundled else PICK  # so that what was changed can be picked again
        pairs: list[tuple[Any, Any]] = [
            (self.kind, form.kind),
            (self.count, form.count),
            (self.team, form.team),
            (self.payload, form.payload),
            (self.mass, form.mass),
            (self.mechanism, form.mechanism),
            (self.lengths, form.lengths),
            (self.reference, form.reference),
            (self.controller, form.controller),
            (self.flavour, form.flavour),
            (self.gains, form.gains),
            (self.noise[0], form.noise_position),
            (self.noise[1], form.noise_velocity),
            (self.noise[2], form.noise_attitude),
            (self.noise[3], form.noise_rate),
            (self.floor, form.floor or self._offers_floor()),
            (self.others, ""),
        ]
        for field, value in pairs:
            options = getattr(field, "options", None)
            if options is not None and value not in options:
                field.options = (*options, value)
            field.value = value

    def _offers_floor(self) -> bool:
        """Whether Apply shall give a floor to what has none: not if that was chosen before."""
        known = self.scenario
        return known is not None and known.text is not None and with_floor(known) is not known

    def form(self) -> Form:
        """The fields now."""
        return Form(
            kind=self.kind.value,
            count=int(self.count.value),
            team=self.team.value,
            payload=self.payload.value,
            mass=float(self.mass.value),
            mechanism=self.mechanism.value,
            lengths=self.lengths.value,
            reference=self.reference.value,
            controller=self.controller.value,
            flavour=self.flavour.value,
            gains=self.gains.value,
            noise_position=float(self.noise[0].value),
            noise_velocity=float(self.noise[1].value),
            noise_attitude=float(self.noise[2].value),
            noise_rate=float(self.noise[3].value),
            floor=bool(self.floor.value),
        )

    def _open(self, event: Any) -> None:
        if event.target.value in names():
            self.panel.studio.session.open(load(event.target.value))

    def _template(self, event: Any) -> None:
        if event.target.value in TEMPLATES:
            self.reference.value = TEMPLATES[event.target.value]
            self.motion.value = PICK

    def _apply(self, event: Any) -> None:
        session = self.panel.studio.session
        if self.scenario is None:
            raise InputError("There is no scenario to change: pick one, or open a flight that holds one.")
        session.open(edited(self.scenario, self.form(), self.others.value), play=session.playing)


def _flown(flight: Flight | None) -> Scenario | None:
    """The scenario that a flight holds, if it can be flown."""
    if flight is None or not flight.scenario:
        return None
    try:
        return Scenario.from_text(flight.scenario, flight.name)
    except InputError:
        return None
