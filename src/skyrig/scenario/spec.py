"""What a scenario file may say, as msgspec structs: the schema, version 1.

Mechanisms and elements have their own files and are looked up by name, so that anybody can add one: see
`skyrig.scenario.registry`, whose `spec_type` is this schema with all that are registered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta

from skyrig.extensions import ORIGINS
from skyrig.fields import Index, Point, Positive, Share, SpecPart, Turn, unit
from skyrig.flight.limits import FlightLimits
from skyrig.flight.trace import Own
from skyrig.scenario.mechanisms.base import Mechanism

if TYPE_CHECKING:
    from skyrig.scenario.world import ElementSpec
    from skyrig.sensing.sensor import SensorSpec

VERSION = 1
NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$"


class HeldSpec(SpecPart, frozen=True, kw_only=True):
    """Inputs held from a time on, of a rig that flies without a controller."""

    time: Annotated[float, unit("s", "From when on", ge=0)] = 0.0
    thrust: Annotated[
        str | list[float], unit("N", "A number a vehicle, 'weight' (its own), or 'trim' (of the whole rig)")
    ] = "trim"
    moment: Annotated[list[Point] | None, unit("N m", "Rotor moments in the vehicles' frames")] = None


class Uses(SpecPart, frozen=True, kw_only=True):
    """A Python file that brought in something this names: a trace, which runs nothing."""

    file: Annotated[str, unit("", "Python file")]
    sha256: Annotated[str, unit("", "Hash of that file as it was")]


class Factors(SpecPart, frozen=True, kw_only=True):
    """What the controller believes, in shares of what is true; one number, or one for each vehicle."""

    vehicle_mass: Annotated[Share | list[Share], unit("1", "Of the vehicles' masses")] = 1.0
    vehicle_inertia: Annotated[Share | list[Share], unit("1", "Of the vehicles' inertias")] = 1.0
    payload_mass: Annotated[Share, unit("1", "Of the payload's mass")] = 1.0
    payload_inertia: Annotated[Share, unit("1", "Of the payload's inertia")] = 1.0
    cable_length: Annotated[Share | list[Share], unit("1", "Of the cables' lengths")] = 1.0


class ControllerSpec(SpecPart, frozen=True, kw_only=True):
    """Who flies, and what it believes."""

    name: Annotated[str, unit("", "Which controller")] = "geometric"
    flavour: Annotated[
        Literal["full", "published"], unit("", "With every term of the theory, or as published")
    ] = "full"
    gains: Annotated[dict[str, Any], unit("", "Gains by name, in place of the controller's own")] = {}
    model: Annotated[
        dict[str, Any], unit("", "What the controller believes wrongly, such as payload.mass: 0.3")
    ] = {}
    factors: Annotated[Factors, unit("", "What the controller believes, in shares of the truth")] = Factors()
    held: Annotated[list[HeldSpec] | None, unit("", "Inputs of the open-loop controller")] = None
    sees: Annotated[
        Literal["noisy", "truth", "estimate"],
        unit("", "The truth with the scenario's noise, the truth itself, or what sensors and filters tell"),
    ] = "noisy"
    own: Annotated[Own | None, unit("", "Whose own controller flew instead; written by flights")] = None


class BodySpec(SpecPart, frozen=True, kw_only=True):
    """Where a body is and how it moves."""

    position: Annotated[Point | None, unit("m", "Centre of mass in the world")] = None
    velocity: Annotated[Point, unit("m/s", "Velocity in the world")] = (0.0, 0.0, 0.0)
    attitude: Annotated[Turn, unit("rad", "Roll, pitch, yaw, or a yaw alone")] = 0.0
    rate: Annotated[Point, unit("rad/s", "Angular velocity in the body frame")] = (0.0, 0.0, 0.0)


class Start(SpecPart, frozen=True, kw_only=True):
    """Where the flight begins; left out, hovering at the start of the reference."""

    payload: Annotated[BodySpec | None, unit("", "The payload; alone, it hovers at this pose")] = None
    vehicles: Annotated[list[BodySpec] | None, unit("", "Every vehicle of a cable rig, with the payload")] = (
        None
    )
    lean: Annotated[
        Annotated[float, Meta(ge=0, lt=1.4)] | None,
        unit("rad", "Angle of the hovering cables from the vertical, outwards"),
    ] = None


class Loop(SpecPart, frozen=True, kw_only=True):
    """The clocks."""

    control_rate: Annotated[float, unit("Hz", "How often the controller acts", gt=0, le=1e4)] = 100.0
    step: Annotated[float, unit("s", "Longest physics step", ge=1e-5, le=0.05)] = 0.002
    rotor_lag: Annotated[
        float, unit("s", "Time constant with which rotor speeds follow; 0 for at once", ge=0, le=1)
    ] = 0.0
    delay: Annotated[
        int, unit("", "Whole control periods from a measurement to the command it led to", ge=0, le=20)
    ] = 0
    integrator: Annotated[
        str | None, unit("", "How motions are integrated: rk4, sdirk2, own; the rig's own choice if left out")
    ] = None


class RecordSpec(SpecPart, frozen=True, kw_only=True):
    """How much of a flight is kept; metrics and events come from every step all the same."""

    rate: Annotated[float, unit("Hz", "Samples kept a second; every step above 1/loop.step", gt=0, le=1e5)]


class NoiseSpec(SpecPart, frozen=True, kw_only=True):
    """Standard deviations of what the controller measures, of payload and vehicles, each control period."""

    position: Annotated[float, unit("m", "Of positions", ge=0, le=10)] = 0.0
    velocity: Annotated[float, unit("m/s", "Of velocities", ge=0, le=10)] = 0.0
    attitude: Annotated[float, unit("rad", "Of attitudes, about each axis", ge=0, le=1)] = 0.0
    rate: Annotated[float, unit("rad/s", "Of body rates", ge=0, le=10)] = 0.0


class PokeSpec(SpecPart, frozen=True, kw_only=True, tag_field="type", tag="poke"):
    """An impulse on the payload."""

    time: Annotated[float, unit("s", "When", ge=0)]
    impulse: Annotated[Point, unit("N s", "Impulse, world frame")]
    point: Annotated[Point, unit("m", "Where on the payload, in its frame")] = (0.0, 0.0, 0.0)


class WrenchSpec(SpecPart, frozen=True, kw_only=True, tag_field="type", tag="wrench"):
    """A force and a torque over a while, constant or in pulses."""

    time: Annotated[float, unit("s", "When it begins", ge=0)] = 0.0
    until: Annotated[Positive | None, unit("s", "When it ends; with the flight if left out")] = None
    vehicle: Annotated[Index | None, unit("", "On which vehicle, from 0; on the payload if left out")] = None
    force: Annotated[Point, unit("N", "Force at the centre of mass, world frame")] = (0.0, 0.0, 0.0)
    torque: Annotated[Point, unit("N m", "Torque, world frame")] = (0.0, 0.0, 0.0)
    period: Annotated[Positive | None, unit("s", "Time from one pulse to the next")] = None
    width: Annotated[Positive | None, unit("s", "How long each pulse lasts")] = None


class CutSpec(SpecPart, frozen=True, kw_only=True, tag_field="type", tag="cut"):
    """A cable cut for good."""

    time: Annotated[float, unit("s", "When", ge=0)]
    cable: Annotated[int, unit("", "Which one, from 0", ge=0)]
    at: Annotated[
        float, unit("1", "Where along an elastic cable, from 0 at the hook to 1 at the payload", ge=0, le=1)
    ] = 1.0


class ThrustLossSpec(SpecPart, frozen=True, kw_only=True, tag_field="type", tag="thrust-loss"):
    """A vehicle whose rotors give only a share of their thrust for a while."""

    vehicle: Annotated[int, unit("", "Which one, from 0", ge=0)]
    factor: Annotated[float, unit("1", "Share that is left", ge=0, le=1)]
    time: Annotated[float, unit("s", "When it begins", ge=0)] = 0.0
    until: Annotated[Positive | None, unit("s", "When it ends; with the flight if left out")] = None


class RotorFailure(SpecPart, frozen=True, kw_only=True, tag_field="type", tag="rotor-failure"):
    """A rotor that stops for good; its mixer learns of it a little later, the controller never."""

    time: Annotated[float, unit("s", "When", ge=0)]
    vehicle: Annotated[int, unit("", "Of which vehicle, from 0", ge=0)] = 0
    rotor: Annotated[int, unit("", "Which one, from 0", ge=0)] = 0
    noticed: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        unit("s", "How long after it the mixer shares the work among the rest; never if null"),
    ] = 0.05


class Reel(SpecPart, frozen=True, kw_only=True, tag_field="type", tag="winch"):
    """A new length for a cable to be reeled to, within its winch's limits."""

    time: Annotated[float, unit("s", "When", ge=0)]
    length: Annotated[float, unit("m", "Free length to reach", gt=0, le=1e3)]
    cable: Annotated[Index | None, unit("", "Which one, from 0; all if left out")] = None


Happening = PokeSpec | WrenchSpec | CutSpec | ThrustLossSpec | RotorFailure | Reel


class Spec(SpecPart, frozen=True, kw_only=True):
    """A whole scenario."""

    skyrig: Annotated[Literal[1], unit("", "Version of this schema")]
    name: Annotated[str, Meta(pattern=NAME, description="What its flights are called.", extra={"unit": ""})]
    description: Annotated[str, unit("", "What it shows, in a sentence or two")] = ""
    rig: Mechanism
    world: Any = None
    sensors: Any = None
    reference: Annotated[
        str | dict[str, Any] | None,
        unit("", "The wanted motion of the payload, or under 'vehicles' of each vehicle"),
    ] = None
    controller: Annotated[str | ControllerSpec, unit("", "Who flies")] = ControllerSpec()
    start: Annotated[Start, unit("", "Where the flight begins")] = Start()
    loop: Annotated[Loop, unit("", "The clocks")] = Loop()
    noise: Annotated[NoiseSpec, unit("", "Noise of the measurements, none if left out")] = NoiseSpec()
    record: Annotated[
        RecordSpec | None, unit("", "How much of the flight is kept; what 5 MB a minute hold if left out")
    ] = None
    happenings: Annotated[list[Happening], unit("", "What befalls the rig, in any order")] = []
    verdict: Annotated[FlightLimits, unit("", "What the flight is judged by")] = FlightLimits()
    uses: Annotated[
        list[Uses], unit("", "Files that brought in what is not skyrig's own; written by flights")
    ] = []
    duration: Annotated[
        Annotated[float, Meta(gt=0, le=3600)] | None,
        unit("s", "How long it flies; as long as the reference if left out"),
    ] = None
    seed: Annotated[int, unit("", "Of everything random", ge=0, le=2**32 - 1)] = 0

    @property
    def flier(self) -> ControllerSpec:
        """The controller, a bare name standing for one with nothing else said."""
        return ControllerSpec(name=self.controller) if isinstance(self.controller, str) else self.controller

    @property
    def elements(self) -> dict[str, ElementSpec]:
        """The elements that `world:` holds, by name."""
        return {name: it.placed(self) for name, it in _held(self.world).items()}

    @property
    def instruments(self) -> dict[str, SensorSpec]:
        """The sensors that `sensors:` holds, by name."""
        return _held(self.sensors)

    @property
    def brought_in(self) -> list[dict[str, str]]:
        """The files of people's own behind the names it says, as its field `uses` holds them."""
        named = [
            ("mechanism", str(type(self.rig).__struct_config__.tag)),
            ("controller", self.flier.name),
            ("integrator", self.loop.integrator or ""),
            *(("element", name) for name in self.elements),
            *(("sensor", name) for name in self.instruments),
            *(("reference", kind) for kind in _kinds(self.reference)),
        ]
        found = dict.fromkeys(ORIGINS[each] for each in named if each in ORIGINS)
        return [{"file": used.file, "sha256": used.sha256} for used in found]


def _held(struct: Any) -> dict[str, Any]:
    """Those of a struct's fields that are said."""
    named = {} if struct is None else {name: getattr(struct, name) for name in struct.__struct_fields__}
    return {name: it for name, it in named.items() if it is not None}


def _kinds(description: Any) -> Iterator[str]:
    """The types of a reference and of those inside it."""
    if isinstance(description, str):
        yield description
    elif isinstance(description, Mapping):
        kind = description.get("type")
        if isinstance(kind, str):
            yield kind
        for inner in description.values():
            if not isinstance(inner, str):
                yield from _kinds(inner)
    elif isinstance(description, list):
        for inner in description:
            if not isinstance(inner, int | float):
                yield from _kinds(inner)
