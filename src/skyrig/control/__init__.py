"""Controllers: one file each, all built by name, all flown alike.

    from skyrig.control import build, targets
    controller = build("cables", rig, airframes)
    wanted = targets(controller, reference.sample(times))

See docs/control.md for the equations, the gains, and how to write one's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skyrig import checks
from skyrig.control import builders
from skyrig.control.actuators import Actuators, Produced
from skyrig.control.gains import Clock
from skyrig.control.interface import (
    Aim,
    Command,
    Controller,
    Function,
    Measurement,
    Noise,
    Target,
    row,
    targets,
)
from skyrig.errors import InputError
from skyrig.vehicles import Airframe

CONTROLLERS: dict[str, Callable[..., Controller]] = {
    "geometric": builders.geometric,
    "cables": builders.cables,
    "links": builders.links,
    "vehicle": builders.vehicle,
    "yaw-decoupled": builders.yaw_decoupled,
    "attitude": builders.attitude,
}
"""Builders by the names used in YAML; a new controller is one file, one builder and one line here."""

FLAVOURS = ("full", "published")

FOLLOWS = {
    "geometric": "payload",
    "cables": "payload",
    "links": "payload",
    "vehicle": "vehicles",
    "yaw-decoupled": "vehicles",
    "attitude": "vehicles",
}
"""Whose reference each controller follows."""


def build(
    name: str,
    rig: Any,
    airframes: Sequence[Airframe],
    gains: Mapping[str, Any] | None = None,
    flavour: str = "full",
    period: float = 0.01,
    lag: float = 0.0,
    delay: int = 0,
    noise: Noise | None = None,
) -> Controller:
    """The controller called `name` for a rig.

    Args:
        name: One of `CONTROLLERS`.
        rig: The rig as the controller believes it to be.
        airframes: Its vehicles' airframes, in order.
        gains: Gains in place of the controller's own; see docs/control.md.
        flavour: "full", or "published": with RotorTM's gains and simplifications.
        period: Between ticks (s).
        lag: Time constant of the rotors (s), to which default gains are fitted.
        delay: Control periods from a measurement to the command it led to; gains are fitted to them too.
        noise: Of what is measured, as far as it is known: what is believed of cables is proof against it.
    """
    maker = CONTROLLERS[checks.choice("controller", name, CONTROLLERS)]
    checks.choice("flavour", flavour, FLAVOURS)
    if len(airframes) != rig.count:
        raise InputError(f"airframes must be one for each of {rig.count} vehicles, not {len(airframes)}.")
    period = float(checks.positive("period", period))
    clock = Clock(period, float(checks.nonnegative("lag", lag)), delay, noise or Noise.of())
    return maker(rig, airframes, gains, flavour, clock)


__all__ = [
    "CONTROLLERS",
    "FLAVOURS",
    "FOLLOWS",
    "Actuators",
    "Aim",
    "Command",
    "Controller",
    "Function",
    "Measurement",
    "Noise",
    "Produced",
    "Target",
    "build",
    "row",
    "targets",
]
