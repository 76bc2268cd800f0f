"""Controllers that are plain Python callables: no JAX, one call at every tick, NumPy arrays with xyz last.

def controller(t, target, measurement):
    ...
    return thrust, moment  # (n,) N and (n, 3) N m
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skyrig.algebra import as_jax
from skyrig.control.interface import Aim, Command, Controller, Measurement, Target
from skyrig.errors import InputError

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SeenBodies:
    """One body, (3,), or n vehicles, (n, 3), as measured."""

    position: Numbers
    """m, world."""
    velocity: Numbers
    """m/s, world."""
    attitude: Numbers
    """Quaternion wxyz, body to world."""
    rate: Numbers
    """rad/s, body frame."""


@dataclass(frozen=True)
class Seen:
    """What a stepped controller is told at a tick."""

    payload: SeenBodies
    vehicles: SeenBodies
    length: Numbers
    """(n,) free lengths of the cables (m)."""


@dataclass(frozen=True)
class WantedBodies:
    """The wanted motion of one body, or of n with the bodies in front."""

    position: Numbers
    """(7, 3) or (n, 7, 3): position and its derivatives (m/s^j), world."""
    attitude: Numbers
    """(4,) or (n, 4)."""
    rate: Numbers
    """(6, 3) or (n, 6, 3): body rate and its derivatives (rad/s^(j+1)), body frame."""


@dataclass(frozen=True)
class Wanted:
    """What is wanted at a tick; None of whoever has no reference."""

    payload: WantedBodies | None
    vehicles: WantedBodies | None


class Told(Controller):
    """A controller that passes on the command it finds in its target."""

    def __call__(self, memory: Any, t: Any, target: Target, measurement: Measurement) -> tuple[Any, Command]:
        """The command that was decided elsewhere."""
        return memory, target.nominal


def looks(target: Target, tick: int) -> Wanted:
    """Tick number `tick` of a stack of targets, for a stepped controller."""

    def one(aim: Aim | None) -> WantedBodies | None:
        if aim is None:
            return None
        leaves = (np.asarray(leaf)[tick] for leaf in (aim.position, aim.attitude, aim.rate))
        return WantedBodies(
            *(np.moveaxis(leaf, -1, 0) if aim.position.ndim == 4 else leaf for leaf in leaves)
        )

    return Wanted(one(target.payload), one(target.vehicles))


def answer(controller: Callable[..., Any], t: float, target: Wanted, measurement: Measurement) -> Command:
    """The controller's command, components first, checked."""
    payload, vehicles = (
        SeenBodies(*(np.asarray(leaf).T for leaf in (it.position, it.velocity, it.attitude, it.rate)))
        for it in (measurement.payload, measurement.vehicles)
    )
    length = np.asarray(measurement.length)
    given = controller(t, target, Seen(payload, vehicles, length))
    if isinstance(given, Command):
        given = (given.thrust, given.moment, *(given.drives or {}).values())
    if not isinstance(given, (tuple, list)) or len(given) not in (2, 3):
        raise InputError(
            f"controller must return thrust and moment (and winch rates, if it likes), not {given!r}."
        )
    n = len(length)
    checked = []
    for name, value, shape in zip(("thrust", "moment", "winch"), given, ((n,), (n, 3), (n,)), strict=False):
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"controller must return numbers as {name}, not {value!r}.") from None
        if array.shape != shape:
            want, have = ("x".join(map(str, each)) or "a single number" for each in (shape, array.shape))
            raise InputError(f"controller must return {name} of shape {want}, not {have}.")
        if not np.isfinite(array).all():
            raise InputError(f"controller returned {name} that is not finite at t = {t:g} s.")
        checked.append(as_jax(array.T))
    return Command(checked[0], checked[1], {"winch": checked[2]} if len(checked) == 3 else None)
