"""What is drawn, and how."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    """What is drawn, and how."""

    trail: bool = True
    path: bool = True
    arrows: bool = True
    """What blows at every body."""
    forces: bool = False
    """Thrusts, weights, and how cables pull at what is carried."""
    velocities: bool = False
    axes: bool = False
    """The frames of all bodies."""
    ghost: bool = True
    labels: bool = False
    by_tension: bool = False
    """Cables in the colour of their tension instead of their own."""
    dark: bool = False
    follow: bool = False
    """Whether cameras go along with what is carried."""
