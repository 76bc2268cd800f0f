"""What may be flown but deserves a second look: a sentence each, with the number and the likely cause."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skyrig.constants import GRAVITY
from skyrig.control.known import OPEN_LOOP
from skyrig.scenario.demands import demands
from skyrig.scenario.plausible import implausible
from skyrig.scenario.spec import RotorFailure
from skyrig.vehicles.authority import hover

if TYPE_CHECKING:
    from skyrig.scenario.scenario import Scenario

MARGIN = 1.15
"""Thrust over weight below which little is left for control."""


def remarks(scenario: Scenario) -> tuple[str, ...]:
    """One sentence each; cheap, and without JAX."""
    parts = scenario.parts
    found = [*_thin(scenario), *_lost(scenario), *_washed(scenario), *parts.remarks(scenario.spec.start)]
    found += [*implausible(parts), *demands(scenario)]
    return tuple(dict.fromkeys(found))


def _lost(scenario: Scenario) -> Iterator[str]:
    """Vehicles that cannot fly on the rotors they are left with, whoever flies."""
    failures = [it for it in scenario.spec.happenings if isinstance(it, RotorFailure)]
    for k, frame in enumerate(scenario.parts.airframes):
        lost = tuple(it.rotor for it in failures if it.vehicle == k)
        if not lost:
            continue
        left = hover(frame, lost)
        which = f"Vehicle {k} without rotor {' and '.join(map(str, lost))}"
        if not left.stays:
            yield f"{which} cannot stay in the air: the rest cannot hold its weight, roll and pitch."
        elif not left.possible:
            yield f"{which} can stay in its place, but not hold its yaw."


def _thin(scenario: Scenario) -> Iterator[str]:
    """A team that can hardly lift."""
    parts = scenario.parts
    share = sum(frame.total_thrust_max for frame in parts.airframes) / (parts.mass * GRAVITY)
    if share < MARGIN and scenario.controller.name != OPEN_LOOP:
        yield f"The team lifts only {share:.2f} times the rig's weight."


def _washed(scenario: Scenario) -> Iterator[str]:
    """A team that cannot lift through its own wash."""
    wash = scenario.spec.elements.get("downwash")
    if wash is None or scenario.controller.name == OPEN_LOOP:
        return
    said = scenario.controller.gains.get("lean", scenario.spec.start.lean)
    lean = scenario.lean if scenario.lean is not None else said
    yield from scenario.parts.washed(float(lean or 0.0), getattr(wash, "payload", 1.0))
