"""What drawings and metrics need to know of a rig. It stands for itself: no scenario is asked for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from skyrig.brief import brief
from skyrig.flight.records import PAYLOAD, TEAM, FlightEvent, Reals
from skyrig.rigs.layout import End, Tether, carried
from skyrig.vehicles import Airframe, Payload
from skyrig.vehicles.shapes import Ball, Box, Prism, Shape

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skyrig.scenario.mechanisms import RigParts

SPECK = 0.02
"""Radius of the ball that stands for a body whose shape nobody knows (m)."""


@dataclass(frozen=True, eq=False)
class RigData:
    """A rig as plain numbers: vehicles, what they carry, what joins them."""

    mechanism: str
    """Its name in YAML."""
    words: str
    """How vehicles and payload are joined, as people say it: 'on cables'."""
    airframes: tuple[Airframe, ...]
    loads: Mapping[str, tuple[Payload, ...]] = field(default_factory=dict)
    """What is not a vehicle, by group; most rigs have one 'payload'."""
    tethers: tuple[Tether, ...] = ()
    """Lines between bodies."""
    points: Reals = field(default_factory=lambda: np.zeros((0, 3)))
    """(m, 3) where the payload is held, in its frame (m)."""
    rigid: bool = False
    """Whether the vehicles cannot turn against the payload."""
    marks: Reals = field(default_factory=lambda: np.zeros((0, 3)))
    """(M, 3) places to be marked where it is drawn, world (m); files do not keep them."""
    shades: Reals = field(default_factory=lambda: np.zeros(0))
    """(M,) of the marks, 0 to 1: cold to warm."""

    __repr__ = brief

    @property
    def count(self) -> int:
        """How many vehicles there are."""
        return len(self.airframes)

    @property
    def carried(self) -> str | None:
        """The group that is carried: 'payload', or the first that is no vehicle; None for a bare team."""
        return carried(self.loads)

    @property
    def payload(self) -> Payload | None:
        """What is carried; None for a rig that carries nothing."""
        group = self.carried
        return None if group is None else self.loads[group][0]

    @property
    def columns(self) -> tuple[int, ...]:
        """Which of its name each tether is: its column in the signals of that name."""
        seen: dict[str, int] = {}
        found = []
        for tether in self.tethers:
            found.append(seen.get(tether.name, 0))
            seen[tether.name] = found[-1] + 1
        return tuple(found)

    @property
    def cables(self) -> tuple[Tether, ...]:
        """The tethers, if they are cables: one from each vehicle in turn to the payload; else none."""
        ends = [(it.name, it.start.group, it.start.index, it.end.group, it.end.index) for it in self.tethers]
        wanted = [("cable", TEAM, k, PAYLOAD, 0) for k in range(self.count)]
        return self.tethers if ends == wanted else ()

    @property
    def mass(self) -> dict[str, Reals]:
        """Of the bodies of every group, (k,) (kg)."""
        loads = {group: np.array([it.mass for it in them]) for group, them in self.loads.items()}
        return {**loads, TEAM: self.vehicle_mass}

    @property
    def payload_mass(self) -> float:
        """Of what is carried (kg); 0 for nothing."""
        return 0.0 if self.payload is None else self.payload.mass

    @property
    def payload_is_point(self) -> bool:
        """Whether what is carried has no attitude."""
        return self.payload is None or self.payload.is_point

    @property
    def payload_corners(self) -> Reals:
        """(c, 3) of what is carried, in its frame (m)."""
        return np.zeros((1, 3)) if self.payload is None else np.asarray(self.payload.shape.corners)

    @property
    def vehicle_mass(self) -> Reals:
        """(n,) kg."""
        return np.array([frame.mass for frame in self.airframes])

    @property
    def vehicle_radius(self) -> Reals:
        """(n,) with propellers (m)."""
        return np.array([frame.radius for frame in self.airframes])

    @property
    def vehicle_thrust_max(self) -> Reals:
        """(n,) all rotors together (N)."""
        return np.array([frame.total_thrust_max for frame in self.airframes])

    @property
    def attachments(self) -> Reals:
        """(n, 3) where the payload is held, in its frame (m)."""
        return self.points

    @property
    def hooks(self) -> Reals:
        """(n, 3) where cables hang on the vehicles, in their frames (m); zero without cables."""
        points = [it.start.point for it in self.cables] or [(0.0, 0.0, 0.0)] * self.count
        return np.asarray(points, dtype=np.float64).reshape(-1, 3)

    def shape(self, group: str, index: int) -> Shape:
        """What a body that is no vehicle looks like."""
        them = self.loads.get(group, ())
        return them[index].shape if index < len(them) else Ball(SPECK)

    def severed(self, events: Iterable[FlightEvent], now: float = np.inf) -> dict[int, float]:
        """Which tethers were cut by `now` (s), and when."""
        places = {(it.name, k): j for j, (it, k) in enumerate(zip(self.tethers, self.columns, strict=True))}
        cuts = (event for event in events if event.kind == "cut" and event.time <= now + 1e-9)
        return {
            places[event.owner, event.index]: event.time
            for event in cuts
            if event.index is not None and (event.owner, event.index) in places
        }


def rig_data(parts: RigParts) -> RigData:
    """What a flight remembers of its rig; the same for a scenario that is drawn live."""
    return RigData(
        mechanism=parts.mechanism,
        words=parts.said.words,
        airframes=parts.airframes,
        loads=dict(parts.loads),
        tethers=parts.tethers,
        points=np.asarray(parts.points, dtype=np.float64).reshape(-1, 3),
        rigid=parts.said.rigid,
    )


def sketched(
    *,
    payload_mass: float,
    payload_is_point: bool,
    payload_corners: Reals,
    vehicle_mass: Reals,
    vehicle_radius: Reals,
    vehicle_thrust_max: Reals,
    attachments: Reals,
    hooks: Reals,
    mechanism: str = "cables",
    words: str = "on cables",
    rigid: bool = False,
) -> RigData:
    """A rig of which masses, sizes, corners and points are known and nothing else; see `RigData` for units.

    Unless `rigid`, a cable runs from each hook to its attachment.
    """
    shape = Ball(SPECK) if payload_is_point else _shape(np.asarray(payload_corners, dtype=np.float64))
    inertia = None if isinstance(shape, Ball) else shape.inertia(payload_mass)
    ends = zip(np.asarray(hooks).tolist(), np.asarray(attachments).tolist(), strict=True)
    cables = [
        Tether("cable", End(TEAM, k, tuple(hook)), End(PAYLOAD, 0, tuple(point)))
        for k, (hook, point) in enumerate(ends)
    ]
    each = zip(vehicle_mass, vehicle_radius, vehicle_thrust_max, strict=True)
    return RigData(
        mechanism=mechanism,
        words=words,
        airframes=tuple(_quadrotor(*(float(it) for it in numbers)) for numbers in each),
        loads={PAYLOAD: (Payload(name="payload", mass=float(payload_mass), shape=shape, inertia=inertia),)},
        tethers=() if rigid else tuple(cables),
        points=np.asarray(attachments, dtype=np.float64).reshape(-1, 3),
        rigid=rigid,
    )


def _quadrotor(mass: float, radius: float, thrust: float) -> Airframe:
    """A vehicle of that mass (kg), radius with propellers (m) and most thrust (N)."""
    arm, speed = 0.6 * radius, 1000.0
    hubs = arm * np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]]) / np.sqrt(2)
    lift = thrust / 4 / speed**2
    return Airframe(
        name="vehicle",
        mass=mass,
        inertia=mass * radius**2 / 4 * np.diag([1.0, 1.0, 1.8]),
        rotor_positions=hubs,
        spin=np.array([1.0, -1.0, 1.0, -1.0]),
        thrust_coefficient=lift,
        torque_coefficient=0.05 * radius * lift,
        speed_max=speed,
        rotor_radius=radius - arm,
    )


def _shape(corners: Reals) -> Box | Prism:
    """The shape with these corners; where they are too few or too flat to tell, a box about them."""
    size = np.ptp(corners, axis=0)
    box = Box(np.maximum(size, 1e-6))
    if len(corners) < 6 or (len(corners) == 8 and np.allclose(box.corners, corners)):
        return box
    return Prism(corners[: len(corners) // 2, :2], max(float(size[2]), 1e-6))
