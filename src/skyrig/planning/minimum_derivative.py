"""Through waypoints with the least squared k-th derivative (RotorTM, eqs. 59-60)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from skyrig.arrays import (
    Array,
    Scalar,
    Vector,
    euler_angles,
    is_jax,
    namespace,
    numbers,
    positive,
    whole,
)
from skyrig.errors import InputError
from skyrig.planning import allocation as allocate
from skyrig.planning import spline
from skyrig.planning.pieces import Pieces
from skyrig.planning.pytree import static
from skyrig.planning.reference import Reference
from skyrig.planning.taylor import ORDER, Series


@dataclass(frozen=True, eq=False)
class MinimumDerivative(Reference):
    """The path of least cost through waypoints.

    Attributes:
        pieces: Position (m) and Euler angles (rad), six columns.
        times: When each waypoint is passed (s).
        cost: Integral of the squared k-th derivative of position (m^2/s^(2k-1)).
    """

    pieces: Pieces
    times: Float[Array, " waypoints"]
    cost: Float[Array, ""]
    order: int = static()
    rest: tuple[int, int] = static()

    @property
    def duration(self) -> Array:
        """From the first waypoint to the last (s)."""
        return self.times[-1]

    @property
    def knots(self) -> Array:
        """The waypoints' times (s)."""
        return self.times

    @property
    def inner_continuity(self) -> int:
        """2k-2 for the true minimiser, otherwise what was asked for; at most 6."""
        return min(self.order, ORDER)

    @property
    def rest_orders(self) -> tuple[int, int]:
        """As many derivatives as are fixed to zero; none at an end that is free or moving."""
        return min(self.rest[0], ORDER), min(self.rest[1], ORDER)

    def series(self, times: Array) -> tuple[Series, Series]:
        """Position and angles from their pieces."""
        both = self.pieces.series(times)
        return both[..., :3], both[..., 3:]


def waypoints(
    *,
    points: object,
    derivative: int = 4,
    times: object = None,
    durations: object = None,
    allocation: str = "published",
    total: Scalar | None = None,
    speed: Scalar = 2.0,
    acceleration: Scalar = 5.0,
    start_motion: object = "rest",
    end_motion: object = "rest",
    continuity: int | None = None,
    degree: int | None = None,
    attitude: Vector = 0.0,
    attitudes: object = None,
) -> MinimumDerivative:
    """The path of least squared `derivative` through `points`.

    Args:
        points: Waypoints (m), one row each, at least two.
        derivative: k, from 2 (acceleration) over 4 (snap) to 6.
        times: When each is passed (s), the first at 0; or
        durations: of each segment (s); or, if both are left out,
        allocation: "published" (RotorTM's formula), "chord" (in proportion to the distances), or
            "optimal" (the split of the total time that costs least).
        total: Time in all (s); that of the published formula if left out.
        speed: In the published formula (m/s).
        acceleration: In the published formula (m/s^2).
        start_motion: "rest", "free", or rows of velocity, acceleration, ... at the start (m/s^j);
            angles are then at rest in as many derivatives.
        end_motion: The same at the end.
        continuity: Derivatives shared by neighbouring segments and zero at rest, k-1 if left out. The
            path is then continuous up to 2k-2 inside. 6 gives a path that is continuous up to 6
            with the holds before and after, too.
        degree: Of the segments, 2 continuity + 1 if left out. RotorTM's Python planner is
            derivative 4, continuity 2, degree 6.
        attitude: Roll, pitch, yaw (rad) all along, or a yaw alone.
        attitudes: Instead, roll, pitch, yaw (rad) at every waypoint, joined in the same way.
    """
    place = numbers("points", points, (None, 3))
    if len(place) < 2:
        raise InputError(f"points must be at least two, not {len(place)}.")
    angles = _angles(attitude, attitudes, len(place))
    xp = namespace(place, angles)
    both = xp.concatenate([place, angles], axis=1)
    problem = _problem(derivative, continuity, degree, start_motion, end_motion, len(place))
    if times is not None:
        if durations is not None:
            raise InputError("times and durations cannot both be given.")
        seconds = _from_times(times, len(place))
    elif durations is not None:
        seconds = positive("durations", durations, (len(place) - 1,))
    else:
        seconds = _allocated(problem, place, allocation, total, speed, acceleration)
    nodes = spline.node_derivatives(problem, both, seconds)
    found = spline.pieces(problem, both, nodes, seconds)
    cost, _ = spline.cost(problem, place, nodes[..., :3], seconds)
    return MinimumDerivative(
        pieces=found,
        times=found.breaks[::2],
        cost=cost,
        order=2 * problem.derivative - 2 if problem.is_spline else problem.continuity,
        rest=(_rest(start_motion, problem), _rest(end_motion, problem)),
    )


def _rest(motion: object, problem: spline.SplineProblem) -> int:
    return problem.continuity if isinstance(motion, str) and motion == "rest" else 0


def _problem(
    derivative: int, continuity: int | None, degree: int | None, start: Vector, end: Vector, count: int
) -> spline.SplineProblem:
    whole("derivative", derivative, 2, 6)
    least = derivative // 2  # below, every segment could be bent at no cost
    c = whole("continuity", derivative - 1 if continuity is None else continuity, least, 8)
    n = whole("degree", 2 * c + 1 if degree is None else degree, max(2 * c + 1, derivative), 17)
    motions = [_motion(f"{name}_motion", motion, c) for name, motion in (("start", start), ("end", end))]
    # Pieces of degree k-1 cost nothing; the conditions on them must leave no choice among such paths.
    known = [min(len(motion), derivative - 1) for motion in motions]
    conditions = 2 * (count - 1) + min(c, derivative - 1) * (count - 2) + sum(known)
    if conditions < derivative * (count - 1):
        raise InputError(
            f"points must be more than {count}, or the ends at rest, or continuity {derivative - 1}: for "
            f"derivative {derivative} as it stands, more than one path costs nothing."
        )
    return spline.SplineProblem(derivative, c, n, *motions)


def _motion(field: str, motion: object, continuity: int) -> Float[Array, "fixed 6"]:
    """Rows of derivatives of position and angles that an end fixes."""
    if isinstance(motion, str):
        if motion not in ("rest", "free"):
            raise InputError(f"{field} must be rest, free or rows of three numbers, not {motion!r}.")
        return np.zeros((continuity if motion == "rest" else 0, 6))
    rows = numbers(field, motion, (None, 3))
    if len(rows) > continuity:
        raise InputError(f"{field} must have at most {continuity} rows, not {len(rows)}.")
    xp = namespace(rows)
    return xp.concatenate([rows, xp.zeros_like(rows)], axis=1)


def _angles(attitude: Vector, attitudes: object, count: int) -> Float[Array, "waypoints 3"]:
    if attitudes is not None:
        return numbers("attitudes", attitudes, (count, 3))
    one = euler_angles("attitude", attitude)
    return namespace(one).broadcast_to(one, (count, 3))


def _from_times(times: object, count: int) -> Array:
    passed = numbers("times", times, (count,))
    if not is_jax(passed):
        if passed[0] != 0:
            raise InputError(f"times must begin at 0, not {passed[0]:g} s.")
        for i in np.flatnonzero(np.diff(passed) <= 0)[:1]:
            raise InputError(f"times must grow, but {passed[i + 1]:g} s follows {passed[i]:g} s.")
    return passed[1:] - passed[:-1]


def _allocated(
    problem: spline.SplineProblem,
    place: Array,
    allocation: str,
    total: Scalar,
    speed: Scalar,
    acceleration: Scalar,
) -> Array:
    if allocation not in ("published", "chord", "optimal"):
        raise InputError(f"allocation must be published, chord or optimal, not {allocation!r}.")
    xp = namespace(place)
    distances = xp.sqrt(((place[1:] - place[:-1]) ** 2).sum(axis=1))
    if not is_jax(distances):
        for i in np.flatnonzero(distances == 0)[:1]:
            raise InputError(f"points {i} and {i + 1} must differ unless times or durations are given.")
    seconds = allocate.published(distances, positive("speed", speed), positive("acceleration", acceleration))
    if allocation != "published":
        seconds = distances * (seconds.sum() / distances.sum())
    if total is not None:
        seconds = seconds * (positive("total", total) / seconds.sum())
    if allocation == "optimal":
        slim = problem._replace(start=problem.start[:, :3], end=problem.end[:, :3])
        return allocate.optimal(slim, place, seconds)
    return seconds
