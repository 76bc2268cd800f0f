"""Attitudes to ask of firmware, so that its own loops turn a vehicle as a controller's moment would.

Firmware holds an attitude by two loops, one in the other: a missing turn asks for a body rate, a missing rate
for an angular acceleration. With both known they can be run backwards, from the angular acceleration that a
controller wants to the attitude that makes firmware give it; so any controller's moments become attitudes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyrig.sensing.sensor import Numbers
from skyrig.turns import cross, multiply, of_vector

MOST = 0.7
"""Largest turn that is asked for at once (rad)."""


@dataclass(frozen=True)
class AttitudeLoops:
    """How firmware turns about forward, left and up."""

    turn: tuple[float, float, float]
    """Body rate over missing turn (1/s)."""
    rate: tuple[float, float, float]
    """Angular acceleration over missing body rate (1/s)."""


def attitude_asked(
    loops: AttitudeLoops, inertia: Numbers, attitude: Numbers, rate: Numbers, moment: Numbers
) -> Numbers:
    """(n, 4) attitudes for which loops give what these moments would.

    Args:
        loops: Of the firmware.
        inertia: (n, 3, 3) kg m^2.
        attitude: (n, 4) of the vehicles now.
        rate: (n, 3) body frame (rad/s).
        moment: (n, 3) wanted, body frame (N m).
    """
    spin = np.linalg.solve(inertia, (moment - cross(rate, _turned(inertia, rate)))[..., None])[..., 0]
    missing = (rate + spin / loops.rate) / loops.turn
    size = np.linalg.norm(missing, axis=-1, keepdims=True)
    return multiply(attitude, of_vector(missing * (MOST / np.maximum(size, MOST))))


def _turned(inertia: Numbers, rate: Numbers) -> Numbers:
    return np.einsum("nij,nj->ni", inertia, rate)
