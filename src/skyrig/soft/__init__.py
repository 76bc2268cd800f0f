"""Soft fingers pulled by tendons: their energies, where they come to rest, and how to pull them there.

The model is that of Fishman and Carlone, "Control and Trajectory Optimization for Soft Aerial Manipulation"
(2021); equation numbers in this room are theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skyrig.lazy import lazily
from skyrig.soft.design import FingerDesign
from skyrig.soft.shapes import KINDS

if TYPE_CHECKING:
    from skyrig.soft.equilibrium import FingerEquilibrium
    from skyrig.soft.gripper import Gripper, fingertips, shape
    from skyrig.soft.inverse import COSTS, Reached, lengths_for, reach
    from skyrig.soft.mesh import Finger, finger

_HOMES = {
    "FingerEquilibrium": "equilibrium",
    **dict.fromkeys(("Finger", "finger"), "mesh"),
    **dict.fromkeys(("Gripper", "fingertips", "shape"), "gripper"),
    **dict.fromkeys(("COSTS", "Reached", "lengths_for", "reach"), "inverse"),
}

__all__ = [
    "COSTS",
    "KINDS",
    "FingerEquilibrium",
    "Finger",
    "FingerDesign",
    "Gripper",
    "Reached",
    "finger",
    "fingertips",
    "lengths_for",
    "reach",
    "shape",
]

__getattr__ = lazily(__name__, {name: f"{__name__}.{home}" for name, home in _HOMES.items()})
