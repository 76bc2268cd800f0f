"""RotorTM's gains (parameter files of its code), and what they become for rigs it has none for.

Moments scale with inertia: gains of a vehicle or payload that RotorTM has no file for are those of its
Dragonfly, triangle or bar for the same angular acceleration. For its own they come out as published.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skyrig.control.gains import Gain
from skyrig.control.sharing import uncontrolled_axis
from skyrig.rigs.cables import OnCables
from skyrig.vehicles import Airframe

VEHICLES = {
    "dragonfly": {
        "position": (6.0, 6.0, 10.0),
        "velocity": (3.0, 3.0, 6.0),
        "attitude": (0.25, 0.25, 0.08),
        "rate": (0.025, 0.025, 0.005),
        "inertia": (0.601e-3, 0.589e-3, 1.076e-3),
    },
    "hummingbird": {
        "position": (7.1, 7.1, 11.9),
        "velocity": (2.4, 2.4, 6.7),
        "attitude": (1.5, 1.5, 1.0),
        "rate": (0.13, 0.13, 0.1),
        "inertia": (2.64e-3, 2.64e-3, 4.96e-3),
    },
    "race": {
        "position": (7.1, 7.1, 11.9),
        "velocity": (2.4, 2.4, 6.7),
        "attitude": (1.5, 1.5, 1.0),
        "rate": (0.13, 0.13, 0.1),
        "inertia": (3.0e-3, 3.0e-3, 4.0e-3),
    },
}
"""Position (1/s^2), velocity (1/s), attitude (N m/rad) and rate (N m s/rad) gains, and inertia (kg m^2)."""

CABLE, CABLE_RATE = (16.0, 16.0, 16.0), (6.7, 6.7, 3.1)
"""K_xi (1/s^2) and K_omega (1/s), of every vehicle."""

POINT = {
    "position": (1.45, 1.45, 3.0),
    "velocity": (3.7, 3.2, 2.5),
    "payload_attitude": (0.5, 0.5, 0.02),
    "payload_rate": (0.16, 0.16, 0.04),
}
BAR = {
    "position": (3.08, 3.08, 6.25),
    "velocity": (2.15, 2.15, 3.42),
    "payload_attitude": (0.55, 0.5, 0.05),
    "payload_rate": (0.162, 0.162, 0.01),
}
BAR_INERTIA = (0.004053, 1.3225e-5, 0.004053)
TRIANGLE = {
    "position": (3.08, 3.08, 6.25),
    "velocity": (2.15, 2.15, 3.42),
    "payload_attitude": (0.55, 0.5, 0.16),
    "payload_rate": (0.162, 0.162, 0.068),
}
TRIANGLE_INERTIA = (0.00625019392, 0.00625019392, 0.01245978846)

LINKS = {
    "position": (1.2, 1.2, 3.0),
    "velocity": (1.5, 1.5, 2.5),
    "attitude": (20.5, 20.5, 10.0),
    "rate": (5.5, 5.5, 4.0),
}
"""On acceleration (1/s^2, 1/s) and on angular acceleration (1/s^2, 1/s)."""


def cable_gains(rig: OnCables, airframes: Sequence[Airframe]) -> dict[str, Gain]:
    """Gains of eqs. 69-73 for a rig."""
    inertia = np.diag(np.asarray(rig.payload_inertia))
    if not inertia.any():
        table, scale = POINT, np.ones(3)
    elif rig.count > 1 and uncontrolled_axis(np.asarray(rig.attachment).T) is not None:
        table, scale = BAR, inertia / BAR_INERTIA
    else:
        table, scale = TRIANGLE, inertia / TRIANGLE_INERTIA
    own = _per_vehicle(airframes)
    return {
        "position": Gain(table["position"], "3"),
        "velocity": Gain(table["velocity"], "3"),
        "payload_attitude": Gain(np.asarray(table["payload_attitude"]) * scale, "3", zero=True),
        "payload_rate": Gain(np.asarray(table["payload_rate"]) * scale, "3", zero=True),
        "cable": Gain(np.asarray(CABLE)[:, None], "3n"),
        "cable_rate": Gain(np.asarray(CABLE_RATE)[:, None], "3n"),
        "attitude": own["attitude"],
        "rate": own["rate"],
    }


def vehicle_gains(airframes: Sequence[Airframe]) -> dict[str, Gain]:
    """Gains of a vehicle that flies on its own; the team's position gains are those of its first vehicle."""
    table = _table(airframes[0])
    return {
        "position": Gain(table["position"], "3"),
        "velocity": Gain(table["velocity"], "3"),
        **_per_vehicle(airframes),
    }


def _table(airframe: Airframe) -> dict[str, tuple[float, ...]]:
    return VEHICLES.get(airframe.name, VEHICLES["dragonfly"])


def _per_vehicle(airframes: Sequence[Airframe]) -> dict[str, Gain]:
    columns: dict[str, list[np.ndarray]] = {"attitude": [], "rate": []}
    for each in airframes:
        table = _table(each)
        scale = np.diag(np.asarray(each.inertia)) / np.asarray(table["inertia"])
        for name, column in columns.items():
            column.append(np.asarray(table[name]) * scale)
    return {name: Gain(np.stack(column, axis=1), "3n") for name, column in columns.items()}
