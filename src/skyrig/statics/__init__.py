"""Statics: where vehicles must be to hold a payload, whether it stays there, and what a team can hold."""

from __future__ import annotations

from skyrig.statics.capacity import Loss, aimed_margin, held_margin, losses, reach
from skyrig.statics.configuration import Configuration, hanging
from skyrig.statics.direct import Equilibrium, direct
from skyrig.statics.distribution import distribution, tension_limit
from skyrig.statics.inverse import Limits, inverse
from skyrig.statics.path import Path, plan
from skyrig.statics.relaxation import Rest, resting
from skyrig.statics.stability import Stability, spherical, stability
from skyrig.statics.team import Pose, Team
from skyrig.statics.three import coordinates, three
from skyrig.statics.workspace import Workspace, workspace

__all__ = [
    "Configuration",
    "Equilibrium",
    "Limits",
    "Loss",
    "Path",
    "Pose",
    "Rest",
    "Stability",
    "Team",
    "Workspace",
    "aimed_margin",
    "coordinates",
    "direct",
    "distribution",
    "hanging",
    "held_margin",
    "inverse",
    "losses",
    "plan",
    "reach",
    "resting",
    "spherical",
    "stability",
    "tension_limit",
    "three",
    "workspace",
]
