"""What may be flown but deserves a second look: a sentence each, with the number and the likely cause."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from skyrig.constants import GRAVITY
from skyrig.scenario.controllers import OPEN_LOOP
from skyrig.scenario.demands import demands
from skyrig.scenario.plausible import implausible

if TYPE_CHECKING:
    from skyrig.scenario.scenario import Scenario

MARGIN = 1.15
"""Thrust over weight below which little is left for control."""


def remarks(scenario: Scenario) -> tuple[str, ...]:
    """One sentence each; cheap, and without JAX."""
    found = [*_thin(scenario), *_crowded(scenario), *implausible(scenario.parts), *demands(scenario)]
    return tuple(dict.fromkeys(found))


def _thin(scenario: Scenario) -> Iterator[str]:
    """A team that can hardly lift."""
    parts = scenario.parts
    share = sum(frame.total_thrust_max for frame in parts.airframes) / (parts.mass * GRAVITY)
    if share < MARGIN and scenario.controller.name != OPEN_LOOP:
        yield f"The team lifts only {share:.2f} times the rig's weight."


def _crowded(scenario: Scenario) -> Iterator[str]:
    """Vehicles whose propellers would overlap where cables hang straight down or links put them."""
    parts = scenario.parts
    start = scenario.spec.start
    if start.vehicles is not None or (start.lean or 0) > 0 or parts.payload.is_point:
        return
    heights = [cable.length for cable in parts.cables] or [0.0] * parts.count
    places = parts.attachments + np.outer(heights, [0.0, 0.0, 1.0])
    for j in range(parts.count):
        for k in range(j):
            first, second = parts.airframes[k], parts.airframes[j]
            apart = float(np.linalg.norm((places[j] - places[k])[:2])) - first.radius - second.radius
            tall = ((first.height or 0.0) + (second.height or 0.0)) / 2
            if apart < 0 and abs(places[j, 2] - places[k, 2]) < tall:
                yield f"Vehicles {k} and {j} start with their propellers overlapping by {-apart:.3g} m."
                return
