"""Controllers by name, for a rig."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skyrig import checks
from skyrig.control.gains import Clock
from skyrig.control.interface import Controller, Noise
from skyrig.control.known import CONTROLLERS, FLAVOURS, OPEN_LOOP, able_to_fly, chosen
from skyrig.errors import InputError
from skyrig.vehicles import Airframe


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
        name: One of `skyrig.control.known.CONTROLLERS`.
        rig: The rig as the controller believes it to be.
        airframes: Its vehicles' airframes, in order.
        gains: Gains in place of the controller's own; see docs/control.md.
        flavour: "full", or "published": with RotorTM's gains and simplifications.
        period: Between ticks (s).
        lag: Time constant of the rotors (s), to which default gains are fitted.
        delay: Control periods from a measurement to the command it led to; gains are fitted to them too.
        noise: Of what is measured, as far as it is known: what is believed of cables is proof against it.
    """
    checks.choice("controller", name, [each for each in CONTROLLERS if each != OPEN_LOOP])
    checks.choice("flavour", flavour, FLAVOURS)
    known = chosen(name, rig.mechanism)
    if not known.flies(rig.mechanism):
        able = ", ".join(able_to_fly(rig.mechanism))
        raise InputError(f"controller must be one that flies {rig.mechanism} ({able}), not {name!r}.")
    if known.gains and flavour not in known.gains:
        raise InputError(f"flavour must be {' or '.join(known.gains)} for {name}, not {flavour!r}.")
    if len(airframes) != rig.count:
        raise InputError(f"airframes must be one for each of {rig.count} vehicles, not {len(airframes)}.")
    period = float(checks.positive("period", period))
    clock = Clock(period, float(checks.nonnegative("lag", lag)), delay)
    made = known.maker(rig, airframes, gains, flavour, clock)
    return made if noise is None else made.told_of_noise(noise)
