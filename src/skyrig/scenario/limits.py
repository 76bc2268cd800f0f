"""Whether what a flight is judged by makes sense."""

from __future__ import annotations

from skyrig.scenario.sentences import refuse
from skyrig.scenario.spec import Spec


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
