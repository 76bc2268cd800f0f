"""Controllers: one file each, all built by name, all flown alike.

    from skyrig.control import build, targets
    controller = build("cables", rig, airframes)
    wanted = targets(controller, reference.sample(times))

See docs/control.md for the equations, the gains, and how to write one's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skyrig.control.known import CONTROLLERS, FLAVOURS
from skyrig.lazy import lazily

if TYPE_CHECKING:
    from skyrig.control.actuators import Actuators, Produced
    from skyrig.control.building import build
    from skyrig.control.gains import Clock
    from skyrig.control.held import HeldCommands
    from skyrig.control.interface import (
        Aim,
        Command,
        Controller,
        Function,
        Measurement,
        Noise,
        Target,
        axes,
        fitted,
        row,
        targets,
    )

_INTERFACE = (
    "axes",
    "fitted",
    "row",
    "targets",
    "Aim",
    "Command",
    "Controller",
    "Function",
    "Measurement",
    "Noise",
    "Target",
)

__all__ = [
    "CONTROLLERS",
    "FLAVOURS",
    "Actuators",
    "Aim",
    "Clock",
    "Command",
    "Controller",
    "Function",
    "HeldCommands",
    "Measurement",
    "Noise",
    "Produced",
    "Target",
    "axes",
    "build",
    "fitted",
    "row",
    "targets",
]

__getattr__ = lazily(
    __name__,
    {
        **dict.fromkeys(("Actuators", "Produced"), "skyrig.control.actuators"),
        "build": "skyrig.control.building",
        "Clock": "skyrig.control.gains",
        "HeldCommands": "skyrig.control.held",
        **dict.fromkeys(_INTERFACE, "skyrig.control.interface"),
    },
)
