"""Soft fingers pulled by tendons: their energies, where they come to rest, and how to pull them there.

The model is that of Fishman and Carlone, "Control and Trajectory Optimization for Soft Aerial Manipulation"
(2021); equation numbers in this room are theirs.
"""

from skyrig.soft.equilibrium import Equilibrium
from skyrig.soft.finger import Finger, FingerDesign, finger
from skyrig.soft.gripper import Gripper, fingertips, shape
from skyrig.soft.inverse import COSTS, Reached, lengths_for, reach
from skyrig.soft.shapes import KINDS

__all__ = [
    "COSTS",
    "KINDS",
    "Equilibrium",
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
