"""A payload held at a pose: the pull of every cable, and where that puts the vehicles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyrig import checks
from skyrig.checks import Numbers
from skyrig.errors import InputError
from skyrig.statics.team import LEVEL, Given, Pose, Team
from skyrig.turns import cross, tilted, turn


def wrenches(arms: Numbers, directions: Numbers) -> Numbers:
    """(..., 6, n) the wrench of a unit pull along each cable: force over moment about the centre of mass.

    These are the columns of the paper's eq. 2, taken about the centre of mass instead of the origin.
    """
    return np.moveaxis(np.concatenate([directions, cross(arms, directions)], axis=-1), -2, -1)


@dataclass(frozen=True, eq=False)
class Configuration:
    """A pose, and the pull of each cable on the payload there.

    Searches look at many at once: then the pulls, and whatever follows from them, have more axes in front.
    """

    team: Team
    pose: Pose
    force: Numbers
    """(n, 3) pull of each cable on the payload, world (N)."""

    @property
    def tension(self) -> Numbers:
        """(n,) N."""
        return np.linalg.norm(self.force, axis=-1)

    @property
    def direction(self) -> Numbers:
        """(n, 3) unit vectors from the attachments to the hooks, world."""
        return self.force / np.maximum(self.tension, 1e-300)[..., None]

    @property
    def hooks(self) -> Numbers:
        """(n, 3) where the cables' upper ends are, world (m): the q_i of the paper."""
        return self.team.points(self.pose) + self.team.length[:, None] * self.direction

    @property
    def thrust(self) -> Numbers:
        """(n, 3) what each vehicle pushes to hold itself and its cable, world (N)."""
        return self.team.vehicle_weight + self.force

    @property
    def vehicle_attitude(self) -> Numbers:
        """(n, 4) quaternions wxyz, with no yaw of their own."""
        return tilted(np.array(LEVEL), self.thrust)

    @property
    def vehicles(self) -> Numbers:
        """(n, 3) where the vehicles' centres are, world (m)."""
        return self.hooks - turn(self.vehicle_attitude, self.team.hook)

    @property
    def wrench_matrix(self) -> Numbers:
        """(6, n) the wrench of a unit pull along each cable, about the centre of mass."""
        arms = np.broadcast_to(self.team.arms(self.pose.attitude), self.force.shape)
        return wrenches(arms, self.direction)

    @property
    def residual(self) -> float:
        """What is left of the balance, over the payload's weight (1); moments over weight times arm."""
        total = self.wrench_matrix @ self.tension + self.team.load(self.pose.attitude)
        return float(np.abs(total / np.repeat([1.0, self.team.scale], 3)).max() / self.team.weight)

    @property
    def separation(self) -> Numbers:
        """(n, n) distances between the vehicles' centres (m); infinite to themselves."""
        places = self.vehicles
        apart = np.linalg.norm(places[..., :, None, :] - places[..., None, :, :], axis=-1)
        return np.where(np.eye(self.team.count, dtype=bool), np.inf, apart)

    @property
    def clearance(self) -> Numbers:
        """(n, n) from vehicle j's centre to cable i (m); infinite for its own."""
        low = self.team.points(self.pose)[..., :, None, :]
        span = (self.team.length[:, None] * self.direction)[..., :, None, :]
        away = self.vehicles[..., None, :, :] - low
        along = np.clip((away * span).sum(-1) / (span**2).sum(-1), 0.0, 1.0)
        apart = np.linalg.norm(away - along[..., None] * span, axis=-1)
        return np.where(np.eye(self.team.count, dtype=bool), np.inf, apart)

    @property
    def margin(self) -> float:
        """Newtons between the worst cable and slackness, or the worst vehicle and its most thrust."""
        spare = self.team.thrust_max - np.linalg.norm(self.thrust, axis=1)
        return float(min(self.tension.min(), spare.min()))

    def table(self) -> list[dict[str, float | int]]:
        """A row for each vehicle, of plain numbers, for people's tables and other tools."""
        columns = {
            "tension": self.tension,
            "thrust": np.linalg.norm(self.thrust, axis=1),
            "lean": np.arccos(np.clip(self.direction[:, 2], -1, 1)),
        }
        rows = []
        for k in range(self.team.count):
            row: dict[str, float | int] = {"vehicle": k}
            row |= {name: float(value[k]) for name, value in columns.items()}
            row |= {axis: float(self.vehicles[k, j]) for j, axis in enumerate("xyz")}
            rows.append(row)
        return rows


def hanging(team: Team, hooks: Given, pose: Pose, tolerance: float = 1e-6) -> Configuration:
    """The configuration of a payload at a pose under given hooks: least-squares tensions of its taut cables.

    Args:
        team: The team.
        hooks: (n, 3) where the cables' upper ends are, world (m).
        pose: Where the payload is.
        tolerance: How far from its length a taut cable may be (m).

    Raises:
        InputError: If a cable would be longer than it is, or the payload is in no equilibrium there.
    """
    ends = checks.numbers("hooks", hooks, (team.count, 3))
    span = ends - team.points(pose)
    distance = np.linalg.norm(span, axis=1)
    for k in np.flatnonzero(distance > team.length + tolerance):
        raise InputError(
            f"hooks[{k}] is {distance[k]:.6g} m from its attachment, more than its cable's "
            f"{team.length[k]:.6g} m."
        )
    taut = distance > team.length - tolerance
    direction = span / np.maximum(distance, 1e-12)[:, None]
    matrix = wrenches(team.arms(pose.attitude), direction)[: team.freedoms]
    load = -team.load(pose.attitude)[: team.freedoms]
    weigh = np.repeat([1.0, 1 / team.scale], 3)[: team.freedoms]
    tension = np.zeros(team.count)
    tension[taut] = np.linalg.lstsq(matrix[:, taut] * weigh[:, None], load * weigh, rcond=1e-12)[0]
    found = Configuration(team, pose, tension[:, None] * direction)
    miss = np.abs(matrix @ tension - load) * weigh
    if miss.max() > 1e-6 * team.weight or tension.min() < -1e-9 * team.weight:
        raise InputError(
            f"the payload is in no equilibrium at this pose: {miss.max():.3g} N are left over "
            f"and the least tension is {tension.min():.3g} N."
        )
    return found
