"""Statics: where vehicles must be to hold a payload, whether it stays there, and what a team can hold."""

from __future__ import annotations

from skyrig.statics.configuration import Configuration, hanging
from skyrig.statics.direct import Equilibrium, direct
from skyrig.statics.inverse import Limits, inverse
from skyrig.statics.stability import Stability, spherical, stability
from skyrig.statics.team import Pose, Team
from skyrig.statics.three import coordinates, three

__all__ = [
    "Configuration",
    "Equilibrium",
    "Limits",
    "Pose",
    "Stability",
    "Team",
    "coordinates",
    "direct",
    "hanging",
    "inverse",
    "spherical",
    "stability",
    "three",
]
