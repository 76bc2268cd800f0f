"""What a flight is judged by, checked and read back from a flight's own scenario."""

from __future__ import annotations

import msgspec

from skyrig import files
from skyrig.errors import InputError
from skyrig.scenario.sentences import refuse
from skyrig.scenario.spec import Limits, Spec


def check_limits(spec: Spec, where: str) -> None:
    """The arena's first corner is below its second along every axis."""
    arena = spec.verdict.arena
    for axis, low, high in zip("xyz", *arena, strict=True) if arena is not None else ():
        if not low < high:
            raise refuse(
                where,
                "verdict.arena",
                f"must give its lowest corner first, but along {axis} it goes from {low:g} to {high:g}",
            )


def limits_of(text: str) -> Limits:
    """The limits in a scenario's YAML `text`; those of a scenario that says nothing if it cannot be read."""
    try:
        return msgspec.convert(files.read_yaml(text, "scenario").get("verdict", {}), Limits)
    except (InputError, msgspec.ValidationError, AttributeError):
        return Limits()
