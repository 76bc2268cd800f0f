"""What statics needs of a payload on cables: weights, lengths, attachments, limits, in plain NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from skyrig import checks
from skyrig.checks import Numbers
from skyrig.constants import GRAVITY
from skyrig.errors import InputError
from skyrig.turns import cross, turn

Given = npt.ArrayLike | tuple[Any, ...]
"""Numbers as people write them."""
LEVEL = (1.0, 0.0, 0.0, 0.0)


class Pose(NamedTuple):
    """Where a payload is."""

    position: Numbers
    """(3,) of its centre of mass, world (m)."""
    attitude: Numbers
    """(4,) quaternion wxyz, body to world."""

    @staticmethod
    def of(position: Given = (0.0, 0.0, 0.0), attitude: Given = LEVEL) -> Pose:
        """A pose from what people write, checked."""
        return Pose(
            checks.numbers("position", position, (3,)),
            checks.unit_quaternion("attitude", np.asarray(attitude, dtype=float)),
        )

    @staticmethod
    def turned(
        roll: float = 0.0, pitch: float = 0.0, yaw: float = 0.0, position: Given = (0.0, 0.0, 0.0)
    ) -> Pose:
        """A pose by angles (rad), R = Rz(yaw) Ry(pitch) Rx(roll)."""
        half = checks.numbers("roll, pitch, yaw", (roll, pitch, yaw), (3,)) / 2
        (cr, cp, cy), (sr, sp, sy) = np.cos(half), np.sin(half)
        attitude = [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ]
        return Pose.of(position, attitude)


class _Rope(NamedTuple):
    """What `skyrig.Cable` is, without JAX."""

    length: float
    attachment: Any
    hook: Any


@dataclass(frozen=True, eq=False)
class Team:
    """Vehicles on cables and their payload; `Team.build` and `Team.of_parts` make one."""

    mass: float
    """Of the payload (kg)."""
    inertia: Numbers | None
    """(3, 3) of the payload about its centre of mass, its frame (kg m^2); None for a point mass."""
    attachment: Numbers
    """(n, 3) where the cables hold it, its frame (m)."""
    length: Numbers
    """(n,) of the cables (m)."""
    hook: Numbers
    """(n, 3) where the cables hang on the vehicles, their frames (m)."""
    vehicle_mass: Numbers
    """(n,) kg."""
    thrust_max: Numbers
    """(n,) most thrust of each vehicle (N)."""
    radius: Numbers
    """(n,) of the ball that holds each vehicle with its propellers (m)."""
    gravity: float = GRAVITY
    force: Numbers = field(default_factory=lambda: np.zeros(3))
    """(3,) constant force on the payload besides its weight, world (N): wind, say."""
    point: Numbers = field(default_factory=lambda: np.zeros(3))
    """(3,) where that force acts, payload frame from its centre of mass (m)."""
    moment: Numbers = field(default_factory=lambda: np.zeros(3))
    """(3,) constant moment on the payload, world (N m)."""

    @staticmethod
    def build(
        vehicles: Sequence[Any],
        payload: Any,
        cables: Sequence[Any],
        *,
        gravity: float = GRAVITY,
        force: Given = (0.0, 0.0, 0.0),
        point: Given = (0.0, 0.0, 0.0),
        moment: Given = (0.0, 0.0, 0.0),
    ) -> Team:
        """A team from the parts of which `skyrig.Slung.build` makes a rig.

        Args:
            vehicles: Airframes, such as `skyrig.airframe(name)`.
            payload: Anything with `mass` (kg) and `inertia` (kg m^2, or None for a point mass).
            cables: A `skyrig.Cable` for each vehicle.
            gravity: m/s^2, downwards.
            force: (3,) constant force on the payload besides its weight, world (N).
            point: (3,) where that force acts, payload frame (m).
            moment: (3,) constant moment on the payload, world (N m).
        """
        if not vehicles or len(vehicles) != len(cables):
            raise InputError(
                f"cables must be one for each vehicle: {len(cables)} cables for {len(vehicles)} vehicles."
            )
        hooks = [(0.0, 0.0, 0.0) if cable.hook is None else cable.hook for cable in cables]
        return Team(
            mass=float(checks.positive("payload.mass", payload.mass)),
            inertia=None if payload.inertia is None else checks.inertia("payload.inertia", payload.inertia),
            attachment=checks.numbers(
                "cables[].attachment", [np.asarray(cable.attachment) for cable in cables], (None, 3)
            ),
            length=checks.positive("cables[].length", [float(cable.length) for cable in cables], (None,)),
            hook=checks.numbers("cables[].hook", [np.asarray(hook) for hook in hooks], (None, 3)),
            vehicle_mass=checks.positive("vehicles[].mass", [float(it.mass) for it in vehicles], (None,)),
            thrust_max=np.array([float(it.total_thrust_max) for it in vehicles]),
            radius=np.array([float(it.radius) for it in vehicles]),
            gravity=float(checks.positive("gravity", gravity)),
            force=checks.numbers("force", force, (3,)),
            point=checks.numbers("point", point, (3,)),
            moment=checks.numbers("moment", moment, (3,)),
        )

    @staticmethod
    def of_parts(parts: Any, **others: Any) -> Team:
        """The team of a scenario (`scenario.parts`); `others` are those of `build`.

        Raises:
            InputError: If its payload does not hang on one cable from each vehicle.
        """
        tethers = [it for it in parts.tethers if it.name == "cable"]
        if parts.payload is None or len(tethers) != parts.count or len(parts.lengths) != parts.count:
            raise InputError(
                f"statics needs a payload that hangs on a cable from each vehicle, but this rig is "
                f"{parts.said.words}."
            )
        ends = [(it.start, it.end) for it in tethers]
        cables = [
            _Rope(length, load.point, craft.point)
            for length, (craft, load) in zip(parts.lengths, ends, strict=True)
        ]
        return Team.build(parts.airframes, parts.payload, cables, **others)

    @property
    def count(self) -> int:
        """How many vehicles there are."""
        return len(self.length)

    @property
    def freedoms(self) -> int:
        """In how many ways the payload can move: 6, or 3 for a point mass."""
        return 3 if self.inertia is None else 6

    @property
    def weight(self) -> float:
        """Of the payload (N)."""
        return self.mass * self.gravity

    @property
    def vehicle_weight(self) -> Numbers:
        """(n, 3) what each vehicle's thrust must hold of itself, world (N)."""
        return self.vehicle_mass[:, None] * [0.0, 0.0, self.gravity]

    @property
    def scale(self) -> float:
        """A length by which moments are weighed against forces (m): the farthest attachment's arm."""
        return max(float(np.linalg.norm(self.attachment, axis=1).max()), 1e-3)

    def arms(self, attitude: Numbers) -> Numbers:
        """(..., n, 3) from the centre of mass to the attachments, world (m)."""
        return turn(attitude[..., None, :], self.attachment)

    def points(self, pose: Pose) -> Numbers:
        """(..., n, 3) where the attachments are, world (m)."""
        return pose.position[..., None, :] + self.arms(pose.attitude)

    def load(self, attitude: Numbers) -> Numbers:
        """(..., 6) force (N) and moment about the centre of mass (N m) on the payload, cables left out."""
        push = np.broadcast_to(self.force, (*attitude.shape[:-1], 3))
        moment = cross(turn(attitude, self.point), push) + self.moment
        return np.concatenate([push + [0.0, 0.0, -self.weight], moment], axis=-1)

    def energy(self, pose: Pose) -> Numbers:
        """(...,) potential energy of the payload (J), that of the constant force included."""
        where = pose.position + turn(pose.attitude, self.point)
        return np.asarray(self.weight * pose.position[..., 2] - (where * self.force).sum(-1))

    def separation(self) -> Numbers:
        """(n, n) least distance between vehicles' centres so that their balls do not touch (m)."""
        return self.radius[:, None] + self.radius[None, :]
