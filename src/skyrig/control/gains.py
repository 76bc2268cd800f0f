"""Gains as people give them: by name, checked, filled up with defaults that follow from the airframes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array

from skyrig import checks
from skyrig.algebra import as_jax
from skyrig.arrays import is_jax, namespace
from skyrig.errors import InputError
from skyrig.vehicles import Airframe


class Gain(NamedTuple):
    """One gain: its default and what shape it may have."""

    default: Any
    """A number, or an array with components first: (3,), (n,) or (3, n)."""
    kind: str = ""
    """'' for one number, '3' one for each axis, 'n' one for each vehicle, '3n' both."""
    zero: bool = False
    """Whether zero makes sense."""


def read_gains(given: Mapping[str, Any] | None, known: Mapping[str, Gain], n: int) -> dict[str, Array]:
    """Every known gain as an array, components first: the given ones, and the others' defaults.

    One number serves all axes and vehicles; three serve all vehicles; for both, rows of three, one a vehicle.
    """
    asked = checks.mapping("gains", {} if given is None else given, optional=known)
    return {
        name: _array(f"gains.{name}", asked.get(name, gain.default), gain, n, name in asked)
        for name, gain in known.items()
    }


def _array(field: str, value: Any, gain: Gain, n: int, given: bool) -> Array:
    shape = tuple({"3": 3, "n": n}[letter] for letter in gain.kind)
    if not given:
        return as_jax(np.broadcast_to(np.asarray(value, dtype=float), shape))
    have = np.shape(value)
    # as people write them, vehicles come first
    allowed = {(), shape[::-1]} | ({(3,)} if "3" in gain.kind else set())
    if have not in allowed:
        choices = " or ".join(" x ".join(map(str, each)) or "one number" for each in sorted(allowed))
        raise InputError(f"{field} must have shape {choices}, not {' x '.join(map(str, have))}.")
    if not is_jax(value):
        value = (checks.nonnegative if gain.zero else checks.positive)(field, value, have)
    array = namespace(value).asarray(value, dtype=float)
    if have == (3,) and gain.kind == "3n":
        array = array[:, None]
    elif len(have) == 2:
        array = array.T
    return as_jax(namespace(array).broadcast_to(array, shape))


class Bandwidths(NamedTuple):
    """What a team of vehicles can follow (rad/s)."""

    vehicle: np.ndarray
    """(3, n): roll, pitch, yaw of each vehicle."""

    @property
    def tilt(self) -> np.ndarray:
        """(n,) of the slower of roll and pitch."""
        return self.vehicle[:2].min(axis=0)


SAMPLED, DELAYED, LIFTED = 0.2, 0.4, 0.12
"""Most bandwidth times control period, and times what delays a command: of attitudes, and of heights."""
TILT, TWIST = 0.15, 0.3
"""An error of this size (rad) may ask for all the moment there is, about roll and pitch, about yaw."""
SLOW_YAW = 0.3
"""Yaw is at most this much slower than the sampled limit; nothing hangs on it."""


def authority(levers: np.ndarray, room: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Angular acceleration (rad/s^2) about each axis that rotors with `room` (N) can make.

    Args:
        levers: (3, rotors) moment of a newton from each rotor (m).
        room: (rotors,) how far each may leave its thrust in hover (N).
        inertia: (3, 3) kg m^2.
    """
    return np.abs(levers) @ room / np.diag(inertia)


class Clock(NamedTuple):
    """What makes a command act late."""

    period: float
    """Between ticks (s)."""
    lag: float = 0.0
    """Time constant of the rotors (s)."""
    delay: int = 0
    """Control periods from a measurement to the tick at which the command it led to takes effect."""

    @property
    def lead(self) -> float:
        """From a measurement to when the command it leads to has taken effect, on average (s)."""
        return self.period / 2 + self.delay * self.period + self.lag

    @property
    def prompt(self) -> Clock:
        """The same without lag and delay."""
        return self._replace(lag=0.0, delay=0)

    @property
    def fastest(self) -> float:
        """Most bandwidth a vehicle's attitude can have (rad/s)."""
        return min(SAMPLED / self.period, DELAYED / self.lead)

    def height_bandwidth(self, prompt: float) -> float:
        """Bandwidth of heights that could be `prompt` if commands acted at once (rad/s).

        Thrust alone controls heights: late commands slow it less than tilting.
        """
        return min(prompt, LIFTED / self.lead)

    def reachable(self, strength: np.ndarray) -> np.ndarray:
        """Bandwidths (rad/s) of roll, pitch, yaw from angular accelerations (rad/s^2)."""
        fastest = self.fastest * np.array([1.0, 1.0, SLOW_YAW])
        errors = np.array([TILT, TILT, TWIST])
        return np.minimum(np.sqrt(strength / errors), fastest)


def vehicle_bandwidths(
    airframes: Sequence[Airframe], load: np.ndarray, gravity: float, clock: Clock
) -> Bandwidths:
    """What each vehicle can follow while it hovers with its `load` (kg)."""
    columns = []
    for each, extra in zip(airframes, load, strict=True):
        hover = (each.mass + extra) * gravity / each.rotor_count
        room = max(min(hover - each.thrust_min, each.thrust_max - hover), 0.1 * each.thrust_max)
        levers = np.asarray(each.mixing)[1:]
        strength = authority(levers, np.full(each.rotor_count, room), np.asarray(each.inertia))
        columns.append(clock.reachable(strength))
    return Bandwidths(np.stack(columns, axis=1))
