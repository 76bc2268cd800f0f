"""What may be flown but deserves a second look: thin margins, crowded vehicles, low payloads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skyrig.constants import GRAVITY
from skyrig.scenario.controllers import OPEN_LOOP

if TYPE_CHECKING:
    from skyrig.scenario.scenario import Scenario

MARGIN = 1.15
"""Thrust over weight below which little is left for control."""


def remarks(scenario: Scenario) -> tuple[str, ...]:
    """One sentence each."""
    found: list[str] = []
    parts = scenario.parts
    thrust = sum(frame.total_thrust_max for frame in parts.airframes)
    share = thrust / (parts.mass * GRAVITY)
    if share < MARGIN and scenario.controller.name != OPEN_LOOP:
        found.append(f"The team lifts only {share:.2f} times the rig's weight.")
    found += _crowded(scenario)
    for motion in scenario.motions.all:
        until = min(scenario.duration, float(motion.duration))
        low = float(motion.sample(np.linspace(0.0, until, 200)).position[:, 0, 2].min())
        if low < 0:
            found.append(f"The reference goes down to z = {low:.3g} m, below the ground.")
            break
    return tuple(found)


def _crowded(scenario: Scenario) -> list[str]:
    """Vehicles whose propellers would overlap where cables hang straight down or links put them."""
    parts = scenario.parts
    start = scenario.spec.start
    if start.vehicles is not None or (start.lean or 0) > 0 or parts.payload.is_point:
        return []
    heights = [cable.length for cable in parts.cables] or [0.0] * parts.count
    places = parts.attachments + np.outer(heights, [0.0, 0.0, 1.0])
    for j in range(parts.count):
        for k in range(j):
            first, second = parts.airframes[k], parts.airframes[j]
            apart = float(np.linalg.norm((places[j] - places[k])[:2])) - first.radius - second.radius
            tall = ((first.height or 0.0) + (second.height or 0.0)) / 2
            if apart < 0 and abs(places[j, 2] - places[k, 2]) < tall:
                return [f"Vehicles {k} and {j} start with their propellers overlapping by {-apart:.3g} m."]
    return []
