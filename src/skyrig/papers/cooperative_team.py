"""The team of Michael, Fink and Kumar, and the configurations that they print."""

from __future__ import annotations

from skyrig.scenario import load
from skyrig.statics import Limits, Pose, Team

LEVEL = Pose.turned(position=(0.0, 0.0, 1.0))
PRINTED = {
    "9(b)": (-0.2724, -0.3054, -0.3054),
    "9(c)": (0.0, 0.0, -0.9),
    "9(d)": (0.6, 0.45, -0.9),
}
"""Coordinates as printed."""


def team() -> Team:
    """The paper's team."""
    return Team.of_parts(load("three-hummingbirds-frame").parts)


def bounds(group: Team) -> Limits:
    """Those of Fig. 9: tensions below half the weight, robots more than 1 m apart."""
    return Limits(tension_max=0.5 * group.weight, separation=1.0)
