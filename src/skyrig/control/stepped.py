"""Controllers that are plain Python callables: no JAX, one call at every tick, NumPy arrays with xyz last.

def controller(t, target, measurement):
    ...
    return thrust, moment  # (n,) N and (n, 3) N m
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from skyrig.algebra import as_jax
from skyrig.control.interface import Aim, Command, Controller, Measurement, Target
from skyrig.errors import InputError
from skyrig.rigs.bodies import Bodies

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

    payload: SeenBodies | None
    """None where nothing is carried."""
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


class Given(NamedTuple):
    """A command from Python, in NumPy, components first."""

    thrust: Numbers
    """(n,) N."""
    moment: Numbers
    """(3, n) N m."""
    drives: dict[str, Numbers] | None = None
    """As in `Command`."""
    rotors: Numbers | None = None
    """(r, n) N, in place of thrust and moment."""

    @property
    def form(self) -> tuple[bool, bool]:
        """Which of the optional parts there are."""
        return self.drives is not None, self.rotors is not None

    def row(self) -> Numbers:
        """All numbers in a row, in the order of a `Command`'s leaves."""
        parts = [self.thrust, self.moment.reshape(-1)]
        parts += [it.reshape(-1) for _, it in sorted((self.drives or {}).items())]
        parts += [] if self.rotors is None else [self.rotors.reshape(-1)]
        return np.concatenate(parts)

    def command(self) -> Command:
        """The same for JAX."""
        drives = None if self.drives is None else {name: as_jax(it) for name, it in self.drives.items()}
        rotors = None if self.rotors is None else as_jax(self.rotors)
        return Command(as_jax(self.thrust), as_jax(self.moment), drives, rotors)


class PassedOn(Controller):
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


class Sight:
    """Where in a row of numbers a measurement lies: from rows, what a stepped controller is told.

    Args:
        where: A measurement with places in the row instead of numbers.
    """

    def __init__(self, where: Measurement) -> None:
        def one(bodies: Bodies) -> list[Any]:
            leaves = (bodies.position, bodies.velocity, bodies.attitude, bodies.rate)
            return [np.asarray(leaf).astype(int).T for leaf in leaves]

        self._payload = one(where.payload) if "payload" in where.bodies else None
        self._vehicles = one(where.vehicles)
        length = where.readings.get("cable.length")
        self._length = None if length is None else np.asarray(length).astype(int)
        self._none = np.zeros(len(self._vehicles[0]))

    def __call__(self, row: Numbers) -> Seen:
        """What is seen in a row."""
        payload = None if self._payload is None else SeenBodies(*(row[it] for it in self._payload))
        vehicles = SeenBodies(*(row[it] for it in self._vehicles))
        return Seen(payload, vehicles, self._none.copy() if self._length is None else row[self._length])


def answer(controller: Callable[..., Any], t: float, target: Wanted, seen: Seen) -> Given:
    """The controller's command, components first, checked."""
    return command_of(controller(t, target, seen), len(seen.vehicles.position), t)


ANSWER, HANDED = ("controller must return", "controller returned"), ("command must hold", "command holds")
"""How sentences about wrong commands begin: about one that was returned, and one that was handed over."""


def command_of(given: Any, n: int, t: float, begin: tuple[str, str] = ANSWER) -> Given:
    """The command that somebody gave at `t` (s) for n vehicles, components first, checked."""
    must, does = begin
    if isinstance(given, Command):
        given = (given.thrust, given.moment, *(given.drives or {}).values())
    if not isinstance(given, (tuple, list)) or len(given) not in (2, 3):
        raise InputError(f"{must} thrust and moment (and winch rates, if it likes), not {given!r}.")
    checked = []
    for name, value, shape in zip(("thrust", "moment", "winch"), given, ((n,), (n, 3), (n,)), strict=False):
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"{must} numbers as {name}, not {value!r}.") from None
        if array.shape != shape:
            want, have = ("x".join(map(str, each)) or "a single number" for each in (shape, array.shape))
            raise InputError(f"{must} {name} of shape {want}, not {have}.")
        if not np.isfinite(array).all():
            raise InputError(f"{does} {name} that is not finite at t = {t:g} s.")
        checked.append(array.T)
    return Given(checked[0], checked[1], {"winch": checked[2]} if len(checked) == 3 else None)
