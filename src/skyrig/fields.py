"""Words that all parts of the schema share: numbers with bounds, points, vehicles, payloads.

A field's `Meta` holds its bounds, its unit and one line for people; error messages, the JSON schema and the
documentation take them from here. None stands for "not said".
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

Point = tuple[float, float, float]
Turn = float | tuple[float, float, float]
"""Roll, pitch, yaw (rad), or a yaw alone."""
Positive = Annotated[float, Meta(gt=0)]
Length = Annotated[float, Meta(gt=0, le=1e3)]
Share = Annotated[float, Meta(ge=0.1, le=10)]
"""Of a true value, as the controller believes it."""
Index = Annotated[int, Meta(ge=0)]


def unit(unit: str, text: str, **bounds: Any) -> Meta:
    """What a field is, in its unit ('' for none), and its bounds."""
    return Meta(description=f"{text} ({unit})." if unit else f"{text}.", extra={"unit": unit}, **bounds)


class SpecPart(Struct, frozen=True, forbid_unknown_fields=True):
    """A mapping of the schema, whose fields are all known."""


class VehicleSpec(SpecPart, frozen=True, kw_only=True):
    """A vehicle: a bundled one by `type`, perhaps changed, or one of your own with every field."""

    type: Annotated[str | None, unit("", "Name of a bundled vehicle to start from")] = None
    count: Annotated[int, unit("", "How many of them", ge=1, le=100)] = 1
    name: Annotated[str | None, unit("", "What it is called")] = None
    mass: Annotated[float | None, unit("kg", "Mass; a changed vehicle's inertia goes with it")] = None
    inertia: Annotated[list[Any] | None, unit("kg m^2", "Diagonal or 3x3 inertia")] = None
    layout: Annotated[str | None, unit("", "Rotors in an 'x' or a 'plus', with arm")] = None
    arm: Annotated[float | None, unit("m", "Centre of mass to rotor axis, with layout")] = None
    rotor_positions: Annotated[list[Point] | None, unit("m", "Rotor hubs, instead of layout and arm")] = None
    spin: Annotated[list[int] | None, unit("", "+1 or -1 for each rotor")] = None
    thrust_coefficient: Annotated[float | None, unit("N/(rad/s)^2", "Thrust over speed squared")] = None
    torque_coefficient: Annotated[float | None, unit("N m/(rad/s)^2", "Torque over speed squared")] = None
    speed_min: Annotated[float | None, unit("rad/s", "Slowest a rotor turns")] = None
    speed_max: Annotated[float | None, unit("rad/s", "Fastest a rotor turns")] = None
    speed_rate: Annotated[float | None, unit("rad/s^2", "Most a rotor's speed changes, with a lag")] = None
    rotor_radius: Annotated[float | None, unit("m", "Half a propeller's diameter")] = None
    height: Annotated[float | None, unit("m", "Height of the body")] = None
    rotor_axes: Annotated[list[Point] | None, unit("", "Along which rotors push; body z if left out")] = None
    thrust_shares: Annotated[list[float] | None, unit("1", "Share of the coefficients of each rotor")] = None
    gives_up: Annotated[str | None, unit("", "'yaw' or 'thrust', when rotors cannot do all")] = None
    source: Annotated[str | None, unit("", "Where the numbers come from")] = None
    notes: Annotated[str | None, unit("", "What a reader should know")] = None
    ours: Annotated[list[str] | None, unit("", "Fields that are estimates")] = None


class PayloadSpec(SpecPart, frozen=True, kw_only=True):
    """A payload: a bundled one by `type`, perhaps changed, or one of your own with every field."""

    type: Annotated[str | None, unit("", "Name of a bundled payload to start from")] = None
    name: Annotated[str | None, unit("", "What it is called")] = None
    mass: Annotated[float | None, unit("kg", "Mass; a changed payload's inertia goes with it")] = None
    inertia: Annotated[
        list[Any] | None,
        unit("kg m^2", "Diagonal or 3x3 inertia; of a uniform box, cylinder or hull if left out"),
    ] = None
    shape: Annotated[dict[str, Any] | None, unit("m", "{kind: point|box|cylinder|prism|hull, ...}")] = None
    attachments: Annotated[dict[str, Any] | None, unit("m", "Named sets of points")] = None
    source: Annotated[str | None, unit("", "Where the numbers come from")] = None
    notes: Annotated[str | None, unit("", "What a reader should know")] = None
    ours: Annotated[list[str] | None, unit("", "Fields that are estimates")] = None
