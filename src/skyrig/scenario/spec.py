"""What a scenario file may say, as msgspec structs: the schema, version 1.

A field's `Meta` holds its bounds, its unit and one line for people; error messages, the JSON schema and the
documentation take them from here. None stands for "not said".
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

VERSION = 1
NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$"

Point = tuple[float, float, float]
Turn = float | tuple[float, float, float]
"""Roll, pitch, yaw (rad), or a yaw alone."""


Positive = Annotated[float, Meta(gt=0)]
Length = Annotated[float, Meta(gt=0, le=1e3)]
Share = Annotated[float, Meta(ge=0.1, le=10)]
"""Of a true value, as the controller believes it."""
Index = Annotated[int, Meta(ge=0)]


def _unit(unit: str, text: str, **bounds: Any) -> Meta:
    return Meta(description=f"{text} ({unit})." if unit else f"{text}.", extra={"unit": unit}, **bounds)


class _Part(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Vehicle(_Part, frozen=True, kw_only=True):
    """A vehicle: a bundled one by `type`, perhaps changed, or one of your own with every field."""

    type: Annotated[str | None, _unit("", "Name of a bundled vehicle to start from")] = None
    count: Annotated[int, _unit("", "How many of them", ge=1, le=100)] = 1
    name: Annotated[str | None, _unit("", "What it is called")] = None
    mass: Annotated[float | None, _unit("kg", "Mass; a changed vehicle's inertia goes with it")] = None
    inertia: Annotated[list[Any] | None, _unit("kg m^2", "Diagonal or 3x3 inertia")] = None
    layout: Annotated[str | None, _unit("", "Rotors in an 'x' or a 'plus', with arm")] = None
    arm: Annotated[float | None, _unit("m", "Centre of mass to rotor axis, with layout")] = None
    rotor_positions: Annotated[list[Point] | None, _unit("m", "Rotor hubs, instead of layout and arm")] = None
    spin: Annotated[list[int] | None, _unit("", "+1 or -1 for each rotor")] = None
    thrust_coefficient: Annotated[float | None, _unit("N/(rad/s)^2", "Thrust over speed squared")] = None
    torque_coefficient: Annotated[float | None, _unit("N m/(rad/s)^2", "Torque over speed squared")] = None
    speed_min: Annotated[float | None, _unit("rad/s", "Slowest a rotor turns")] = None
    speed_max: Annotated[float | None, _unit("rad/s", "Fastest a rotor turns")] = None
    rotor_radius: Annotated[float | None, _unit("m", "Half a propeller's diameter")] = None
    height: Annotated[float | None, _unit("m", "Height of the body")] = None
    source: Annotated[str | None, _unit("", "Where the numbers come from")] = None
    notes: Annotated[str | None, _unit("", "What a reader should know")] = None
    ours: Annotated[list[str] | None, _unit("", "Fields that are estimates")] = None


class Payload(_Part, frozen=True, kw_only=True):
    """A payload: a bundled one by `type`, perhaps changed, or one of your own with every field."""

    type: Annotated[str | None, _unit("", "Name of a bundled payload to start from")] = None
    name: Annotated[str | None, _unit("", "What it is called")] = None
    mass: Annotated[float | None, _unit("kg", "Mass; a changed payload's inertia goes with it")] = None
    inertia: Annotated[
        list[Any] | None,
        _unit("kg m^2", "Diagonal or 3x3 inertia; of a uniform box or cylinder if left out"),
    ] = None
    shape: Annotated[dict[str, Any] | None, _unit("m", "{kind: point|box|cylinder|prism, ...}")] = None
    attachments: Annotated[dict[str, Any] | None, _unit("m", "Named sets of points")] = None
    source: Annotated[str | None, _unit("", "Where the numbers come from")] = None
    notes: Annotated[str | None, _unit("", "What a reader should know")] = None
    ours: Annotated[list[str] | None, _unit("", "Fields that are estimates")] = None


class Winch(_Part, frozen=True, kw_only=True):
    """A drum on the vehicle that reels its cable out and in."""

    rate: Annotated[float, _unit("m/s", "Fastest reeling, either way", gt=0, le=1e3)]
    acceleration: Annotated[float, _unit("m/s^2", "Hardest speeding up and slowing down", gt=0, le=1e4)]
    shortest: Annotated[float, _unit("m", "Least free length it leaves", gt=0, le=1e3)]
    longest: Annotated[float, _unit("m", "Most cable it can let out", gt=0, le=1e3)]


class Cable(_Part, frozen=True, kw_only=True):
    """One cable of a list."""

    length: Annotated[float, _unit("m", "Free length, at the start if there is a winch", gt=0, le=1e3)]
    attachment: Annotated[
        Point | None, _unit("m", "Where it holds the payload, in its frame; of the default set if left out")
    ] = None
    hook: Annotated[Point | None, _unit("m", "Where it hangs on the vehicle, in its frame")] = None
    winch: Annotated[Winch | None, _unit("", "A drum for this cable")] = None


class Cables(_Part, frozen=True, kw_only=True):
    """What all cables have in common."""

    length: Annotated[Length | list[Length], _unit("m", "Free length of every cable, or a list of lengths")]
    attachments: Annotated[
        str | list[Point] | None,
        _unit("m", "One of the payload's sets by name, or points; the set cable-n if left out"),
    ] = None
    hook: Annotated[Point | None, _unit("m", "Where they hang on the vehicles, in their frame")] = None
    winch: Annotated[Winch | None, _unit("", "A drum for every cable")] = None


class CableRig(_Part, frozen=True, kw_only=True, tag_field="mechanism", tag="cables"):
    """Vehicles that carry a payload on cables."""

    vehicles: Annotated[str | Vehicle | list[str | Vehicle], _unit("", "The team, in order")]
    payload: Annotated[str | Payload, _unit("", "What is carried")]
    cables: Annotated[Cables | list[Cable], _unit("", "One cable for each vehicle")]
    restitution: Annotated[
        float, _unit("1", "Share of an arriving cable's speed that comes back", ge=0, lt=1)
    ] = 0.0


class LinkRig(_Part, frozen=True, kw_only=True, tag_field="mechanism", tag="links"):
    """Vehicles fixed to the payload by rigid links."""

    vehicles: Annotated[str | Vehicle | list[str | Vehicle], _unit("", "The team, in order")]
    payload: Annotated[str | Payload, _unit("", "What is carried")]
    attachments: Annotated[
        str | list[Point] | None,
        _unit("m", "Where the vehicles sit: a set's name or points; the set rigid-n if left out"),
    ] = None
    yaw: Annotated[
        float | list[float], _unit("rad", "Turn of the vehicles about the payload's z axis, one or a list")
    ] = 0.0


class Held(_Part, frozen=True, kw_only=True):
    """Inputs held from a time on, of a rig that flies without a controller."""

    time: Annotated[float, _unit("s", "From when on", ge=0)] = 0.0
    thrust: Annotated[
        str | list[float], _unit("N", "A number a vehicle, 'weight' (its own), or 'trim' (of the whole rig)")
    ] = "trim"
    moment: Annotated[list[Point] | None, _unit("N m", "Rotor moments in the vehicles' frames")] = None


class Own(_Part, frozen=True, kw_only=True):
    """A controller of somebody's own that flew in place of the named one: a trace, which runs nothing."""

    name: Annotated[str, _unit("", "What it is called, in its file")]
    file: Annotated[str | None, _unit("", "Python file it came from, if from one")] = None
    sha256: Annotated[str | None, _unit("", "Hash of that file as it was")] = None


class Factors(_Part, frozen=True, kw_only=True):
    """What the controller believes, in shares of what is true; one number, or one for each vehicle."""

    vehicle_mass: Annotated[Share | list[Share], _unit("1", "Of the vehicles' masses")] = 1.0
    vehicle_inertia: Annotated[Share | list[Share], _unit("1", "Of the vehicles' inertias")] = 1.0
    payload_mass: Annotated[Share, _unit("1", "Of the payload's mass")] = 1.0
    payload_inertia: Annotated[Share, _unit("1", "Of the payload's inertia")] = 1.0
    cable_length: Annotated[Share | list[Share], _unit("1", "Of the cables' lengths")] = 1.0


class Controller(_Part, frozen=True, kw_only=True):
    """Who flies, and what it believes."""

    name: Annotated[str, _unit("", "Which controller")] = "geometric"
    flavour: Annotated[
        Literal["full", "published"], _unit("", "With every term of the theory, or as published")
    ] = "full"
    gains: Annotated[dict[str, Any], _unit("", "Gains by name, in place of the controller's own")] = {}
    model: Annotated[
        dict[str, Any], _unit("", "What the controller believes wrongly, such as payload.mass: 0.3")
    ] = {}
    factors: Annotated[Factors, _unit("", "What the controller believes, in shares of the truth")] = Factors()
    held: Annotated[list[Held] | None, _unit("", "Inputs of the open-loop controller")] = None
    own: Annotated[Own | None, _unit("", "Whose own controller flew instead; written by flights")] = None


class Body(_Part, frozen=True, kw_only=True):
    """Where a body is and how it moves."""

    position: Annotated[Point | None, _unit("m", "Centre of mass in the world")] = None
    velocity: Annotated[Point, _unit("m/s", "Velocity in the world")] = (0.0, 0.0, 0.0)
    attitude: Annotated[Turn, _unit("rad", "Roll, pitch, yaw, or a yaw alone")] = 0.0
    rate: Annotated[Point, _unit("rad/s", "Angular velocity in the body frame")] = (0.0, 0.0, 0.0)


class Start(_Part, frozen=True, kw_only=True):
    """Where the flight begins; left out, hovering at the start of the reference."""

    payload: Annotated[Body | None, _unit("", "The payload; alone, it hovers at this pose")] = None
    vehicles: Annotated[list[Body] | None, _unit("", "Every vehicle of a cable rig, with the payload")] = None
    lean: Annotated[
        Annotated[float, Meta(ge=0, lt=1.4)] | None,
        _unit("rad", "Angle of the hovering cables from the vertical, outwards"),
    ] = None


class Loop(_Part, frozen=True, kw_only=True):
    """The clocks."""

    control_rate: Annotated[float, _unit("Hz", "How often the controller acts", gt=0, le=1e4)] = 100.0
    step: Annotated[float, _unit("s", "Longest physics step", ge=1e-5, le=0.05)] = 0.002
    rotor_lag: Annotated[
        float, _unit("s", "Time constant with which rotors follow; 0 for at once", ge=0, le=1)
    ] = 0.0
    delay: Annotated[
        int, _unit("", "Whole control periods from a measurement to the command it led to", ge=0, le=20)
    ] = 0


class Record(_Part, frozen=True, kw_only=True):
    """How much of a flight is kept; metrics and events come from every step all the same."""

    rate: Annotated[float, _unit("Hz", "Samples kept a second; every step above 1/loop.step", gt=0, le=1e5)]


class Noise(_Part, frozen=True, kw_only=True):
    """Standard deviations of what the controller measures, of payload and vehicles, each control period."""

    position: Annotated[float, _unit("m", "Of positions", ge=0, le=10)] = 0.0
    velocity: Annotated[float, _unit("m/s", "Of velocities", ge=0, le=10)] = 0.0
    attitude: Annotated[float, _unit("rad", "Of attitudes, about each axis", ge=0, le=1)] = 0.0
    rate: Annotated[float, _unit("rad/s", "Of body rates", ge=0, le=10)] = 0.0


class Limits(_Part, frozen=True, kw_only=True):
    """What a flight is judged by, besides collisions and a lost load."""

    ground: Annotated[
        Literal["none"] | float, _unit("m", "Height that bodies stay above, or 'none'; 0 if left out")
    ] = 0.0
    arena: Annotated[
        tuple[Point, Point] | None, _unit("m", "Lowest and highest corner of a box that bodies stay in")
    ] = None
    position: Annotated[float, _unit("m", "How close to its reference a flight must end", gt=0)] = 0.5
    attitude: Annotated[
        float, _unit("rad", "The same of the payload's attitude; pi for any", gt=0, le=3.1416)
    ] = 1.0


class Poke(_Part, frozen=True, kw_only=True, tag_field="type", tag="poke"):
    """An impulse on the payload."""

    time: Annotated[float, _unit("s", "When", ge=0)]
    impulse: Annotated[Point, _unit("N s", "Impulse, world frame")]
    point: Annotated[Point, _unit("m", "Where on the payload, in its frame")] = (0.0, 0.0, 0.0)


class Wrench(_Part, frozen=True, kw_only=True, tag_field="type", tag="wrench"):
    """A force and a torque over a while, constant or in pulses."""

    time: Annotated[float, _unit("s", "When it begins", ge=0)] = 0.0
    until: Annotated[Positive | None, _unit("s", "When it ends; with the flight if left out")] = None
    vehicle: Annotated[Index | None, _unit("", "On which vehicle, from 0; on the payload if left out")] = None
    force: Annotated[Point, _unit("N", "Force at the centre of mass, world frame")] = (0.0, 0.0, 0.0)
    torque: Annotated[Point, _unit("N m", "Torque, world frame")] = (0.0, 0.0, 0.0)
    period: Annotated[Positive | None, _unit("s", "Time from one pulse to the next")] = None
    width: Annotated[Positive | None, _unit("s", "How long each pulse lasts")] = None


class Cut(_Part, frozen=True, kw_only=True, tag_field="type", tag="cut"):
    """A cable cut for good."""

    time: Annotated[float, _unit("s", "When", ge=0)]
    cable: Annotated[int, _unit("", "Which one, from 0", ge=0)]


class ThrustLoss(_Part, frozen=True, kw_only=True, tag_field="type", tag="thrust-loss"):
    """A vehicle whose rotors give only a share of their thrust for a while."""

    vehicle: Annotated[int, _unit("", "Which one, from 0", ge=0)]
    factor: Annotated[float, _unit("1", "Share that is left", ge=0, le=1)]
    time: Annotated[float, _unit("s", "When it begins", ge=0)] = 0.0
    until: Annotated[Positive | None, _unit("s", "When it ends; with the flight if left out")] = None


class Reel(_Part, frozen=True, kw_only=True, tag_field="type", tag="winch"):
    """A new length for a cable to be reeled to, within its winch's limits."""

    time: Annotated[float, _unit("s", "When", ge=0)]
    length: Annotated[float, _unit("m", "Free length to reach", gt=0, le=1e3)]
    cable: Annotated[Index | None, _unit("", "Which one, from 0; all if left out")] = None


Happening = Poke | Wrench | Cut | ThrustLoss | Reel


class Spec(_Part, frozen=True, kw_only=True):
    """A whole scenario."""

    skyrig: Annotated[Literal[1], _unit("", "Version of this schema")]
    name: Annotated[str, Meta(pattern=NAME, description="What its flights are called.", extra={"unit": ""})]
    description: Annotated[str, _unit("", "What it shows, in a sentence or two")] = ""
    rig: Annotated[CableRig | LinkRig, _unit("", "Vehicles, payload, and how they are joined")]
    reference: Annotated[
        str | dict[str, Any] | None,
        _unit("", "The wanted motion of the payload, or under 'vehicles' of each vehicle"),
    ] = None
    controller: Annotated[str | Controller, _unit("", "Who flies")] = Controller()
    start: Annotated[Start, _unit("", "Where the flight begins")] = Start()
    loop: Annotated[Loop, _unit("", "The clocks")] = Loop()
    noise: Annotated[Noise, _unit("", "Noise of the measurements, none if left out")] = Noise()
    record: Annotated[
        Record | None, _unit("", "How much of the flight is kept; what 5 MB a minute hold if left out")
    ] = None
    happenings: Annotated[list[Happening], _unit("", "What befalls the rig, in any order")] = []
    verdict: Annotated[Limits, _unit("", "What the flight is judged by")] = Limits()
    duration: Annotated[
        Annotated[float, Meta(gt=0, le=3600)] | None,
        _unit("s", "How long it flies; as long as the reference if left out"),
    ] = None
    seed: Annotated[int, _unit("", "Of everything random", ge=0, le=2**32 - 1)] = 0
