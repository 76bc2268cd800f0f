"""Three robots in closed form: Michael, Fink, Kumar (RSS 2009), eqs. 3-6, in coordinates {x1, y1, y2}.

In the frame B with its origin at the first attachment, x towards the second and z on the upper side of the
plane of all three, every cable pulls with f_i = t_i (x_i, y_i, 1). Moments about x and y do not know x_i and
y_i, so t_i follows from the load alone: for a plate, the barycentric coordinates of its centre of mass times
the weight across it. What is left of the balance is linear in x_i and y_i: three equations, six unknowns.
Nothing here needs the centre of mass to lie in the plane, nor the load to be weight alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skyrig import checks
from skyrig.checks import Numbers
from skyrig.errors import InputError
from skyrig.statics.configuration import Configuration
from skyrig.statics.team import Given, Pose, Team
from skyrig.turns import cross, turn


class PaperFrame(NamedTuple):
    """The paper's frame B at a pose, and what the cables must hold in it."""

    axes: Numbers
    """(3, 3) its x, y and z axes as rows, world."""
    second: float
    """x of the second attachment (m)."""
    third: Numbers
    """(2,) x and y of the third attachment (m)."""
    pull: Numbers
    """(3,) sum of all pulls (N)."""
    moment: Numbers
    """(3,) sum of their moments about the first attachment (N m)."""

    @property
    def upward(self) -> Numbers:
        """(3,) each cable's pull across the plane, t_i (N)."""
        return upward(self.second, self.third, self.pull, self.moment)


def upward(second: float, third: Numbers, pull: Numbers, moment: Numbers) -> Numbers:
    """(3,) t_i from sum t_i = pull_z, sum b_i t_i = moment_x, sum a_i t_i = -moment_y."""
    t3 = moment[0] / third[1]
    t2 = (-moment[1] - third[0] * t3) / second
    return np.stack([pull[2] - t2 - t3, t2, t3])


def frame(team: Team, pose: Pose) -> PaperFrame:
    """The frame B of a team of three at a pose.

    Raises:
        InputError: If there are not three cables, or their attachments lie on one line.
    """
    if team.count != 3 or team.inertia is None:
        raise InputError(f"the closed form is for three cables on a rigid payload, not {team.count} cables.")
    arms = team.arms(pose.attitude)
    along, across = arms[1] - arms[0], arms[2] - arms[0]
    normal = cross(along, across)
    if np.linalg.norm(normal) < 1e-9 * team.scale**2:
        off = np.linalg.norm(normal) / max(np.linalg.norm(along), 1e-12)
        raise InputError(
            f"the attachments lie on one line (the third is {off:.3g} m off it): three cables there cannot "
            "turn the payload about it; use attachments that span a triangle."
        )
    up = turn(pose.attitude, np.array([0.0, 0.0, 1.0]))
    normal = normal * (1.0 if normal @ up >= 0 else -1.0)
    x, z = along / np.linalg.norm(along), normal / np.linalg.norm(normal)
    axes = np.stack([x, cross(z, x), z])
    load = -team.load(pose.attitude)
    moment = load[3:] + cross(-arms[0], load[:3])
    return PaperFrame(axes, float(along @ x), (axes @ across)[:2], axes @ load[:3], axes @ moment)


def slopes(at: PaperFrame, coordinates: Numbers) -> Numbers:
    """(3, 2, ...) x_i and y_i of all robots from {x1, y1, y2}: the paper's solution of eq. 6.

    Args:
        at: The frame at the pose.
        coordinates: (3, ...) x1, y1, y2 (1).
    """
    t1, t2, t3 = at.upward
    x1, y1, y2 = coordinates
    y3 = (at.pull[1] - t1 * y1 - t2 * y2) / t3
    # moments about z: t2 a2 y2 + t3 (a3 y3 - b3 x3) = moment_z
    x3 = (at.third[0] * y3 - (at.moment[2] - t2 * at.second * y2) / t3) / at.third[1]
    x2 = (at.pull[0] - t1 * x1 - t3 * x3) / t2
    return np.stack([np.stack([x1, y1]), np.stack([x2, y2]), np.stack([x3, y3])])


def three(team: Team, pose: Pose, coordinates: Given) -> Configuration:
    """The configuration of three robots at a pose with the paper's coordinates {x1, y1, y2}.

    Args:
        team: A team of three.
        pose: Where the payload shall be.
        coordinates: (3,) x1, y1, y2: sideways over upwards parts of the first cable's pull, and the second's
            along y (1).

    Raises:
        InputError: If the attachments lie on one line, or a cable would have to push.
    """
    given = checks.numbers("coordinates", coordinates, (3,))
    at = frame(team, pose)
    across = at.upward
    if across.min() <= 1e-12 * team.weight:
        worst = int(across.argmin())
        raise InputError(
            f"cable {worst} would have to push with {-across[worst]:.3g} N across the payload: its centre of "
            "mass must lie within the attachments' triangle as seen along the load."
        )
    return Configuration(team, pose, pulled(at, given))


def pulled(at: PaperFrame, coordinates: Numbers) -> Numbers:
    """(..., 3, 3) pulls of the three robots, world (N), of coordinates (..., 3)."""
    sides = np.moveaxis(slopes(at, np.moveaxis(coordinates, -1, 0)), (0, 1), (-2, -1))
    whole = np.concatenate([sides, np.ones((*sides.shape[:-1], 1))], axis=-1)
    return whole * at.upward[:, None] @ at.axes


def coordinates(found: Configuration) -> Numbers:
    """The paper's {x1, y1, y2} of a configuration of three robots: `three` backwards."""
    local = found.force @ frame(found.team, found.pose).axes.T
    slope = local[:, :2] / local[:, 2:]
    return np.array([slope[0, 0], slope[0, 1], slope[1, 1]])
