"""The motion of a cable rig that follows its reference exactly (RotorTM eqs. 69-73 run backwards in time).

Reference -> payload wrench -> least-norm cable forces -> cable directions -> vehicle positions -> thrust
vectors -> attitudes. Each arrow that differentiates twice takes two derivatives of the reference with it: the
vehicles' angular accelerations need its sixth.
"""

from __future__ import annotations

from operator import mul
from typing import Any, NamedTuple

import equinox as eqx
from jaxtyping import Float

from skyrig.arrays import Array, namespace
from skyrig.control.interface import axes
from skyrig.control.nominal import motion, second_derivative
from skyrig.control.sharing import Sharing, sharing
from skyrig.planning import Sample, taylor
from skyrig.planning.taylor import Series


class CableNominal(eqx.Module):
    """A cable rig on its reference in the middle of a hold, for one tick (times first in a stack)."""

    position: Float[Array, ...] = axes(2)
    """(3, 3): payload position, velocity, acceleration (m, m/s, m/s^2)."""
    rotation: Float[Array, ...] = axes(2)
    """(3, 3): payload frame to world."""
    rate: Float[Array, ...] = axes(2)
    """(2, 3): payload body rate and its derivative (rad/s, rad/s^2)."""
    direction: Float[Array, ...] = axes(3)
    """(3, 3, n): xi and its first two derivatives."""
    pull_rate: Float[Array, ...] = axes(2)
    """(3, n): time derivative of the cables' forces on the payload (N/s)."""
    vehicle: Float[Array, ...] = axes(3)
    """(4, 3, n): position of each cable's upper end and its first three derivatives (m/s^j)."""
    vehicle_spin: Float[Array, ...] = axes(2)
    """(3, n): angular acceleration of the vehicles, their body frames (rad/s^2)."""


PARAMETERS = {
    "mass": 1,
    "payload_mass": 0,
    "payload_inertia": 2,
    "attachment": 2,
    "length": 1,
    "gravity": 0,
    "available": 1,
    "internal": 2,
}
"""What the motion depends on besides the reference, and how many axes each has before the batch."""


class CableSeries(NamedTuple):
    """A cable rig on its reference, as series."""

    position: Series
    """Of the payload."""
    rotation: Series
    """Payload frame to world."""
    rate: Series
    """Body rate of the payload."""
    pull: Series
    """Forces of the cables on the payload (N)."""
    direction: Series
    """Of the cables, from vehicle to payload."""
    craft: Series
    """The cables' upper ends."""
    thrust: Series
    """Thrust vectors of the vehicles (N)."""
    turning: Series
    """Body rates of the vehicles."""


def cable_nominal(model: Any, payload: Sample, ahead: Any) -> CableNominal:
    """The rig's motion on a reference, `ahead` (s) of its samples; see `cable_series`."""
    it = cable_series(model, payload, ahead)
    spin = taylor.differentiate(it.turning)[0]

    def rows(series: Series, count: int, bodies: int) -> Array:
        return times_first(taylor.derivatives(series[:count]), 2 + bodies)

    return CableNominal(
        position=rows(it.position, 3, 0),
        rotation=times_first(it.rotation[0], 2),
        rate=rows(it.rate, 2, 0),
        direction=rows(it.direction, 3, 1),
        pull_rate=times_first(it.pull[1], 2),
        vehicle=rows(it.craft, 4, 1),
        vehicle_spin=times_first(spin, 2),
    )


def cable_series(model: Any, payload: Sample, ahead: Any) -> CableSeries:
    """The rig's motion on a reference, `ahead` (s) of its samples.

    Series here have coefficients first, then components, vehicles, times, and the batch last: what differs
    from flight to flight lies side by side in memory.

    Args:
        model: What the rig is like: has the `PARAMETERS`, as numbers with components first.
        payload: The payload's reference at every tick.
        ahead: How long after each tick to look (s).
    """
    body = motion(payload, ahead)
    given = {name: getattr(model, name) for name in PARAMETERS}
    batch = max(body.position.ndim - 3, *(given[name].ndim - PARAMETERS[name] for name in given))
    it = {name: _ended(value, PARAMETERS[name] + batch) for name, value in given.items()}
    timed = {name: _timed(value, PARAMETERS[name]) for name, value in it.items()}
    position, rotation, rate = (
        _ended(_forward(series, components), 2 + components + batch)
        for series, components in ((body.position, 1), (body.rotation, 2), (body.rate, 1))
    )
    length, gravity, available = timed["length"], timed["gravity"], timed["available"]

    force = timed["payload_mass"] * _upwards(second_derivative(position), gravity)
    spinning = _applied(timed["payload_inertia"][None], rate)
    moment = taylor.differentiate(spinning) + _crossed(taylor.multiply, rate, spinning)[:5]
    team = sharing(it["attachment"], it["available"])
    local = taylor.multiply(rotation[:5], force[:, :, None])
    forces = _forces(team, timed["internal"], local[:, 0] + local[:, 1] + local[:, 2], moment)
    turned = taylor.multiply(rotation[:5, :, :, None], forces[:, None])
    pull = turned[:, :, 0] + turned[:, :, 1] + turned[:, :, 2]
    # a cable that carries nothing hangs straight down
    direction = -_unit(_upwards(pull, 1.0 - available))

    ends = position[:, :, None] + _applied(rotation[:, :, :, None], timed["attachment"][None])
    craft = ends[:5] - length * direction
    thrust = timed["mass"] * _upwards(second_derivative(craft), gravity) + pull[:3]
    turning = _least_turn_rate(thrust)
    return CableSeries(position, rotation, rate, pull, direction, craft, thrust, turning)


def _forces(team: Sharing, inner: Any, force: Series, moment: Series) -> Series:
    """Least-norm cable forces in the payload frame, (coefficients, 3, n, times, *batch).

    Args:
        team: Who shares, as numbers with components first.
        inner: Forces that make no wrench (N).
        force: Wanted force, payload frame.
        moment: Wanted moment, payload frame.
    """
    centre, arm = _timed(team.centre, 1)[None], _timed(team.arm, 2)[None]
    left = moment - _crossed(mul, centre, force)
    turn = _applied(_timed(team.inverse, 2)[None], left)
    forces = _timed(team.share, 1) * force[:, :, None] + _crossed(mul, turn[:, :, None], arm)
    return namespace(forces, inner).concatenate([forces[:1] + inner, forces[1:]])


def _least_turn_rate(thrust: Series) -> Series:
    """Body rate of the frame that points z along `thrust` by the least turn; one coefficient shorter."""
    xp, product = namespace(thrust), taylor.multiply
    z = _unit(thrust)
    z_rate = taylor.differentiate(z)
    x, y, up = z[:, 0], z[:, 1], z[:, 2]
    factor = taylor.reciprocal(xp.concatenate([1 + up[:1], up[1:]]))
    xx, xy, yy = (product(product(a, b), factor) for a, b in ((x, x), (x, y), (y, y)))
    one = xp.concatenate([xp.ones_like(x[:1]), xp.zeros_like(x[1:])])
    first, second = xp.stack([one - xx, -xy, -x], axis=1), xp.stack([-xy, one - yy, -y], axis=1)
    twist = product(product(y, z_rate[:, 0]) - product(x, z_rate[:, 1]), factor)
    return xp.stack([-product(second, z_rate).sum(1), product(first, z_rate).sum(1), twist], axis=1)


def _forward(series: Series, components: int) -> Series:
    """(coefficients, times, *batch, *components) to (coefficients, *components, times, *batch)."""
    back = range(-components, 0)
    return namespace(series).moveaxis(series, list(back), list(range(1, components + 1)))


def times_first(array: Any, components: int) -> Array:
    """(*components, times, *batch) to (times, *components, *batch)."""
    return namespace(array).moveaxis(array, components, 0)


def _ended(value: Any, ndim: int) -> Any:
    """`value` with axes of extent 1 behind where it has no batch."""
    return value.reshape(value.shape + (1,) * (ndim - value.ndim))


def _timed(value: Any, components: int) -> Any:
    """A parameter (*components, *batch) with an axis for the times."""
    return value.reshape(*value.shape[:components], 1, *value.shape[components:])


def _upwards(series: Series, value: Any) -> Series:
    """`series` plus a constant `value` along z."""
    xp = namespace(series, value)
    still = xp.zeros_like(series[0, 0] + value)
    return xp.concatenate([series[:1] + xp.stack([still, still, still + value])[None], series[1:]])


def _applied(matrix: Any, vector: Any) -> Any:
    """Matrices times vectors, of which only one moves; written out, as in `attitude.relative_rotation`."""
    x, y, z = (matrix[:, :, k] * vector[:, None, k] for k in range(3))
    return x + y + z


def _crossed(product: Any, a: Any, b: Any) -> Any:
    """Vector products, with the `product` of series, or that of numbers where one does not move."""
    (x, y, z), (u, v, w) = ([it[:, k] for k in range(3)] for it in (a, b))
    parts = [product(y, w) - product(z, v), product(z, u) - product(x, w), product(x, v) - product(y, u)]
    return namespace(a, b).stack(parts, axis=1)


def _unit(series: Series) -> Series:
    """Vectors at length one; they must not vanish."""
    square = taylor.multiply(series, series).sum(1, keepdims=True)
    return taylor.multiply(series, taylor.power(square, -0.5))
