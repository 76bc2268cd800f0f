"""What a reference alone tells of a rig's motion, exactly, by Taylor series in time (differential flatness).

All of it runs in NumPy ahead of the flight, over all ticks at once; traced references or masses make the
same code trace. Series have coefficients first, then times, batch, vehicles, and components last.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skyrig.arrays import namespace
from skyrig.planning import Sample, taylor
from skyrig.planning.reference import body_rate
from skyrig.planning.taylor import Series


class Motion(NamedTuple):
    """A body's wanted motion as series."""

    position: Series
    """(7, times, ..., 3) m."""
    euler: Series
    """(7, times, ..., 3) rad."""

    @property
    def rotation(self) -> Series:
        """Rotation matrices, (7, times, ..., 3, 3)."""
        if namespace(self.euler) is np and len(self.euler) > 1 and taylor.still(self.euler):
            first = np.moveaxis(Motion(self.position[:1], self.euler[:1]).rotation[0], 0, -1)
            rest = np.zeros((len(self.euler) - 1, *first.shape))
            return np.moveaxis(np.concatenate([first[None], rest]), -1, 1)
        sine, cosine = taylor.sin_cos(self.euler)
        (sr, sp, sy), (cr, cp, cy) = (tuple(both[..., i] for i in range(3)) for both in (sine, cosine))
        mul = taylor.multiply
        rows = [
            [mul(cy, cp), mul(mul(cy, sp), sr) - mul(sy, cr), mul(mul(cy, sp), cr) + mul(sy, sr)],
            [mul(sy, cp), mul(mul(sy, sp), sr) + mul(cy, cr), mul(mul(sy, sp), cr) - mul(cy, sr)],
            [-sp, mul(cp, sr), mul(cp, cr)],
        ]
        return taylor.beside([taylor.beside(list(each)) for each in zip(*rows, strict=True)])

    @property
    def rate(self) -> Series:
        """Body rates, (6, times, ..., 3) rad/s."""
        if namespace(self.euler) is np and taylor.still(self.euler):
            return np.zeros_like(self.euler[1:])
        return body_rate(self.euler)


def motion(sample: Sample, ahead: Any, bodies: int = 0) -> Motion:
    """The motion of a reference's samples (times first), a moment `ahead` (s) of each.

    Args:
        sample: Times first, then batch, then bodies.
        ahead: One number, or one for each flight of a batch; a sample without a batch then serves them all.
        bodies: 1 where the sample holds several vehicles.
    """
    xp = namespace(sample.position, sample.euler, ahead)
    batch = np.ndim(ahead)
    series = []
    for each in (sample.position, sample.euler):
        moved = taylor.from_derivatives(_times_in_a_row(xp.moveaxis(xp.asarray(each), -2, 0)))
        missing = batch - (moved.ndim - 3 - bodies)
        if missing > 0:
            moved = moved[(slice(None), slice(None)) + (None,) * missing]
        series.append(shifted(moved, xp.asarray(ahead).reshape(np.shape(ahead) + (1,) * (1 + bodies))))
    return Motion(*series)


def _times_in_a_row(series: Series) -> Series:
    """The same numbers, times side by side in memory: NumPy then runs along them, not along xyz."""
    if namespace(series) is not np:
        return series
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(series, 1, -1)), -1, 1)


def shifted(series: Series, ahead: Any) -> Series:
    """The series about a moment `ahead` (s) later."""
    rows = list(series)
    for low in range(len(rows) - 1):  # Horner's scheme, again and again
        for j in range(len(rows) - 2, low - 1, -1):
            rows[j] = rows[j] + ahead * rows[j + 1]
    xp = namespace(*rows)
    return xp.stack(xp.broadcast_arrays(*rows))


def apply_last(matrix: Any, vector: Any) -> Any:
    """Matrices times vectors, components last; coefficients and the rest broadcast."""
    return total(matrix * vector[..., None, :])


def total(parts: Any) -> Any:
    """The sum of three components, on the last axis; written out, as in `attitude.relative_rotation`."""
    return parts[..., 0] + parts[..., 1] + parts[..., 2]


def second_derivative(series: Series) -> Series:
    """The series of the second time derivative, two coefficients shorter."""
    return taylor.differentiate(taylor.differentiate(series))


def upwards(series: Series, value: Any) -> Series:
    """`series` plus a constant `value` along z."""
    xp = namespace(series, value)
    lift = xp.zeros_like(series[0]) + xp.asarray(value)[..., None] * np.array([0.0, 0.0, 1.0])
    return xp.concatenate([series[:1] + lift, series[1:]])


def heading_rate(thrust: Series, yaw: Series, projected: bool = False) -> tuple[Series, Series]:
    """Body rate (one coefficient shorter) and rotation of the frame with z along `thrust` and heading `yaw`.

    The yaw is that of yaw, pitch, roll; or, `projected`, x is as near to the heading as can be.
    """
    xp = namespace(thrust, yaw)
    sine, cosine = taylor.sin_cos(yaw[: len(thrust)])
    still = xp.zeros_like(sine)
    z = taylor.unit(thrust)
    if projected:
        second = taylor.unit(taylor.cross(z, xp.stack([cosine, sine, still], axis=-1)))
        first = taylor.cross(second, z)
    else:
        first = taylor.unit(taylor.cross(xp.stack([-sine, cosine, still], axis=-1), z))
        second = taylor.cross(z, first)
    twist = -taylor.dot(first, taylor.differentiate(second))[..., 0]
    return _rates(first, second, taylor.differentiate(z), twist), xp.stack([first, second, z], axis=-1)


def _rates(first: Series, second: Series, z_rate: Series, twist: Series) -> Series:
    return taylor.beside([-taylor.dot(second, z_rate)[..., 0], taylor.dot(first, z_rate)[..., 0], twist])
