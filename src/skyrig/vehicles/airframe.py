"""An airframe: what a vehicle weighs, how it turns, where its rotors are and what they can do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from functools import cache
from typing import Any

import numpy as np

from skyrig import checks, files
from skyrig.checks import Numbers
from skyrig.constants import GRAVITY
from skyrig.errors import InputError

FOLDER = "vehicles"
LAYOUTS = ("x", "plus")

_REQUIRED = ("name", "mass", "inertia", "spin", "thrust_coefficient", "torque_coefficient", "speed_max")
_PLACES = ("arm", "layout", "rotor_positions")
_OPTIONAL = (
    *("speed_min", "speed_rate", "rotor_radius", "height", "rotor_axes", "thrust_shares", "gives_up"),
    *("source", "notes", "ours"),
)
GIVES_UP = ("yaw", "thrust")
_POSITIVE = (
    *("mass", "thrust_coefficient", "torque_coefficient", "speed_max"),
    *("speed_rate", "rotor_radius", "height"),
)
_ESTIMABLE = (
    *_POSITIVE,
    "speed_min",
    "inertia",
    "spin",
    "arm",
    "rotor_positions",
    "rotor_axes",
    "thrust_shares",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Airframe:
    """A multirotor as plain numbers, checked when made; the body frame sits at the centre of mass, z up.

    Rotor i turning at speed w (rad/s) pushes along body z with `thrust_coefficient` w^2 and twists the body
    about body z with `spin[i]` `torque_coefficient` w^2.

    Attributes:
        name: What it is called in files.
        mass: Mass of the whole vehicle (kg).
        inertia: Inertia about the centre of mass in the body frame, 3x3 (kg m^2).
        rotor_positions: Rotor hubs in the body frame, rx3 (m).
        spin: +1 where the rotor's reaction torque on the body is about +z (the propeller turns clockwise
            seen from above), -1 where it is about -z, r entries.
        thrust_coefficient: Thrust over speed squared (N/(rad/s)^2).
        torque_coefficient: Reaction torque over speed squared (N m/(rad/s)^2).
        speed_min: Slowest a flying rotor turns (rad/s).
        speed_max: Fastest a rotor turns (rad/s).
        speed_rate: Most that a rotor's speed changes (rad/s^2), where rotors lag; None for no limit.
        rotor_radius: Half a propeller's diameter (m), for drawing and distances.
        height: Height of the body (m), for drawing and distances.
        rotor_axes: Along which each rotor pushes in the body frame, rx3, made unit vectors; None for body z.
        thrust_shares: Share of the coefficients that each rotor has, r entries, such as less than one for the
            lower rotors of coaxial pairs; None for one each.
        gives_up: What is given up first when a command does not fit the rotors: 'yaw' moment or 'thrust'.
        source: Where the numbers come from.
        notes: What a reader should know about them.
        ours: The fields that are estimates of this project rather than published values.
        where: What an error message begins with; a file's name, say.
    """

    name: str
    mass: float
    inertia: Numbers
    rotor_positions: Numbers
    spin: Numbers
    thrust_coefficient: float
    torque_coefficient: float
    speed_max: float
    speed_min: float = 0.0
    speed_rate: float | None = None
    rotor_radius: float | None = None
    height: float | None = None
    rotor_axes: Numbers | None = None
    thrust_shares: Numbers | None = None
    gives_up: str = "yaw"
    source: str = ""
    notes: str = ""
    ours: tuple[str, ...] = ()
    where: InitVar[str | None] = None

    def __post_init__(self, where: str | None) -> None:
        """Check every field, and keep arrays from being written to."""
        at = where or f"airframe '{self.name}'"
        for name, value in _checked(vars(self), at).items():
            object.__setattr__(self, name, value)
        if self.speed_min >= self.speed_max:
            raise InputError(
                f"{at}: speed_min must be below speed_max, but {self.speed_min:g} is not below "
                f"{self.speed_max:g} rad/s."
            )
        if self.spin.size != self.rotor_count:
            raise InputError(
                f"{at}: spin has {self.spin.size} entries for {self.rotor_count} rotor_positions."
            )
        for name in ("rotor_axes", "thrust_shares"):
            given = getattr(self, name)
            if given is not None and len(given) != self.rotor_count:
                raise InputError(
                    f"{at}: {name} has {len(given)} entries for {self.rotor_count} rotor_positions."
                )
        # Scaled so that a small airframe's short arms do not look like missing rank.
        scale = np.array([1, self.arm, self.arm, self.torque_to_thrust])
        if self.arm == 0 or np.linalg.matrix_rank(self.mixing / scale[:, None], tol=1e-6) < 4:
            raise InputError(
                f"{at}: these {self.rotor_count} rotor_positions and spins cannot make thrust and all three "
                "moments independently."
            )

    @classmethod
    def from_dict(cls, values: object, where: str = "airframe") -> Airframe:
        """An airframe from a mapping such as a YAML file holds; see the bundled files for an example.

        Rotors are placed by `layout` ('x' or 'plus') with `arm` (m), counter-clockwise seen from above from
        the front left ('x') or front ('plus'), or one by one by `rotor_positions`.

        Args:
            values: The fields of an `Airframe`, an inertia being 3x3 or its diagonal.
            where: What an error message begins with; a file's name, say.

        Raises:
            InputError: If a field is missing, unknown or cannot be.
        """
        given = dict(checks.mapping(where, values, _REQUIRED, (*_PLACES, *_OPTIONAL)))
        rotors = checks.numbers(f"{where}: spin", given["spin"], (None,)).size
        given["rotor_positions"] = _positions(where, given, rotors)
        return cls(**_checked(given, where), where=where)

    @property
    def rotor_count(self) -> int:
        """How many rotors there are."""
        return self.rotor_positions.shape[0]

    @property
    def arm(self) -> float:
        """Distance from the centre of mass to the farthest rotor axis (m)."""
        return float(np.linalg.norm(self.rotor_positions[:, :2], axis=1).max(initial=0.0))

    @property
    def radius(self) -> float:
        """Radius of the upright cylinder that holds the vehicle with its propellers (m)."""
        return self.arm + (self.rotor_radius or 0.0)

    @property
    def thrust_min(self) -> float:
        """Least thrust of one rotor in flight (N)."""
        return self.thrust_coefficient * self.speed_min**2

    @property
    def thrust_max(self) -> float:
        """Most thrust of one rotor (N)."""
        return self.thrust_coefficient * self.speed_max**2

    @property
    def plain(self) -> bool:
        """Whether all rotors are alike and push along body z."""
        return self.rotor_axes is None and self.thrust_shares is None

    @property
    def tilted(self) -> bool:
        """Whether rotors also push sideways."""
        return self.rotor_axes is not None and bool(np.any(np.abs(self.rotor_axes[:, :2]) > 1e-9))

    @property
    def shares(self) -> Numbers:
        """Share of the coefficients that each rotor has, r entries."""
        return np.ones(self.rotor_count) if self.thrust_shares is None else self.thrust_shares

    @property
    def axes(self) -> Numbers:
        """Along which each rotor pushes, body frame, rx3."""
        up = np.tile([0.0, 0.0, 1.0], (self.rotor_count, 1))
        return up if self.rotor_axes is None else self.rotor_axes

    @property
    def total_thrust_min(self) -> float:
        """Least thrust of all rotors together, along body z (N)."""
        if self.plain:
            return self.rotor_count * self.thrust_min
        return float(self.thrust_min * (self.shares * self.axes[:, 2]).sum())

    @property
    def total_thrust_max(self) -> float:
        """Most thrust of all rotors together, along body z (N)."""
        if self.plain:
            return self.rotor_count * self.thrust_max
        return float(self.thrust_max * (self.shares * self.axes[:, 2]).sum())

    @property
    def thrust_to_weight(self) -> float:
        """Most thrust over weight (1); hovering alone needs more than 1."""
        return self.total_thrust_max / (self.mass * GRAVITY)

    @property
    def torque_to_thrust(self) -> float:
        """Reaction torque over thrust of a rotor (m)."""
        return self.torque_coefficient / self.thrust_coefficient

    @property
    def mixing(self) -> Numbers:
        """From rotor thrusts (N) to total thrust (N) and body moments Mx, My, Mz (N m), 4xr.

        Each rotor adds its thrust, the moment r x f e3 = (y f, -x f, 0), and its reaction torque.
        """
        if self.rotor_axes is not None:
            return self.wrenches[2:]
        x, y, _ = self.rotor_positions.T
        return np.stack([np.ones_like(x), y, -x, self.spin * self.torque_to_thrust])

    @property
    def wrenches(self) -> Numbers:
        """From rotor thrusts (N) to force (N) and moment (N m) in the body frame, 6xr.

        A rotor with thrust f along its axis a at r gives the force f a, the moment r x f a, and its reaction
        torque about a.
        """
        axes = self.axes
        turning = np.cross(self.rotor_positions, axes) + (self.spin * self.torque_to_thrust)[:, None] * axes
        return np.concatenate([axes, turning], axis=1).T

    @property
    def allocation(self) -> Numbers:
        """From thrust (N) and moments (N m) to least-norm rotor thrusts (N), rx4.

        Rotors that can also push sideways are shared so that they do not, where there are enough of them.
        """
        if self.tilted:
            whole = self.wrenches
            size = np.array([1, 1, 1, self.arm, self.arm, self.arm])
            if np.linalg.matrix_rank(whole / size[:, None], tol=1e-3) == 6:
                return np.asarray(np.linalg.pinv(whole)[:, 2:], dtype=np.float64)
        return np.asarray(np.linalg.pinv(self.mixing), dtype=np.float64)


def airframe_names() -> tuple[str, ...]:
    """The names of the airframes that come with skyrig."""
    return files.bundled_names(FOLDER)


@cache
def airframe(name: str) -> Airframe:
    """The airframe that comes with skyrig under `name`; `airframe_names()` lists them."""
    return Airframe.from_dict(files.read_bundled(FOLDER, name), where=f"{FOLDER}/{name}.yaml")


def _checked(fields: Mapping[str, object], where: str) -> dict[str, Any]:
    """Those of an airframe's `fields` that are there, each checked by itself and of its proper type."""
    checked: dict[str, Any] = {}
    for name, value in fields.items():
        at = f"{where}: {name}"
        if name in _POSITIVE and not (value is None and name in _OPTIONAL):
            checked[name] = float(checks.positive(at, value))
        elif name == "speed_min":
            checked[name] = float(checks.nonnegative(at, value))
        elif name == "inertia":
            checked[name] = checks.read_only(checks.inertia(at, value))
        elif name in ("rotor_axes", "thrust_shares", "gives_up"):
            checked[name] = _layout_field(name, at, value)
        elif name == "rotor_positions":
            checked[name] = checks.read_only(checks.numbers(at, value, (None, 3)))
        elif name == "spin":
            checked[name] = checks.read_only(checks.numbers(at, value, (None,)))
            if np.any(np.abs(checked[name]) != 1):
                raise InputError(f"{at} must be +1 or -1 for each rotor, not {checked[name].tolist()}.")
        elif name == "ours":
            checked[name] = checks.names(at, value, _ESTIMABLE)
        elif name == "name" or value:
            checked[name] = checks.text(at, value)
    return checked


def _layout_field(name: str, at: str, value: object) -> Any:
    """A field of rotors that are not all alike."""
    if value is None:
        return None
    if name == "gives_up":
        return checks.choice(at, value, GIVES_UP)
    if name == "thrust_shares":
        return checks.read_only(checks.positive(at, value, (None,)))
    axes = checks.numbers(at, value, (None, 3))
    sizes = np.linalg.norm(axes, axis=1, keepdims=True)
    if np.any(axes[:, 2:] <= 0.1 * sizes):
        raise InputError(f"{at} must all point upwards (z above 0.1 of their length).")
    return checks.read_only(axes / sizes)


def _positions(where: str, given: dict[str, object], rotors: int) -> Numbers:
    """Take the rotors' places out of `given`, written as positions or as a layout with an arm, rx3 (m)."""
    positions, layout, arm = (given.pop(key, None) for key in ("rotor_positions", "layout", "arm"))
    if positions is not None:
        if layout is not None or arm is not None:
            raise InputError(f"{where}: give either rotor_positions, or layout and arm, not both.")
        return checks.numbers(f"{where}: rotor_positions", positions, (rotors, 3))
    if layout is None or arm is None:
        raise InputError(f"{where}: rotor_positions are missing; or give both layout and arm.")
    layout = checks.choice(f"{where}: layout", layout, LAYOUTS)
    length = float(checks.positive(f"{where}: arm", arm))
    turns = (np.arange(rotors) + (0.5 if layout == "x" else 0.0)) / rotors
    angles = 2 * math.pi * turns
    return length * np.stack([np.cos(angles), np.sin(angles), np.zeros(rotors)], axis=1)
