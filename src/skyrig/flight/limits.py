"""What a flight is judged by, and read back from the scenario that a flight carries."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from skyrig import files
from skyrig.errors import InputError
from skyrig.fields import Point, SpecPart, unit


class FlightLimits(SpecPart, frozen=True, kw_only=True):
    """What a flight is judged by, besides collisions and a lost load."""

    ground: Annotated[
        Literal["none"] | float, unit("m", "Height that bodies stay above, or 'none'; 0 if left out")
    ] = 0.0
    ends: Annotated[
        Literal["held", "standing"],
        unit("", "Whether cables hold the payload in the end, or it was put down to stand"),
    ] = "held"
    arena: Annotated[
        tuple[Point, Point] | None, unit("m", "Lowest and highest corner of a box that bodies stay in")
    ] = None
    position: Annotated[float, unit("m", "How close to its reference a flight must end", gt=0)] = 0.5
    attitude: Annotated[
        float, unit("rad", "The same of the payload's attitude; pi for any", gt=0, le=3.1416)
    ] = 1.0


def limits_of(text: str) -> FlightLimits:
    """The limits in a scenario's YAML `text`; those of a scenario that says nothing if it cannot be read."""
    try:
        return msgspec.convert(files.read_yaml(text, "scenario").get("verdict", {}), FlightLimits)
    except (InputError, msgspec.ValidationError, AttributeError):
        return FlightLimits()
