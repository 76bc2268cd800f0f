"""Points fixed to bodies: where they are, how they move, and what forces at them do to their bodies."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jaxtyping import Array, Float

from skyrig.algebra import apply, as_jax, cross, rotation_matrix
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.protocol import Wrench


class Moving(eqx.Module):
    """Points on their way."""

    arm: Float[Array, "3 p *batch"]
    """From the body's centre of mass, world frame (m)."""
    place: Float[Array, "3 p *batch"]
    """World (m)."""
    velocity: Float[Array, "3 p *batch"]
    """World (m/s)."""


class Points(eqx.Module):
    """Points fixed to the bodies of a group."""

    group: str = eqx.field(static=True)
    body: tuple[int, ...] = eqx.field(static=True)
    """Of which body of the group each point is."""
    arm: Float[Array, "3 p *batch"] | None
    """From the body's centre of mass, body frame (m); None where all are there."""

    @staticmethod
    def of(group: str, body: Sequence[int], arm: npt.ArrayLike) -> Points:
        """Points from arrays with xyz last, (p, 3) (m)."""
        return Points(group, tuple(int(k) for k in body), as_jax(np.asarray(arm, dtype=np.float64).T.copy()))

    @staticmethod
    def tied(group: str, body: Sequence[int], arm: npt.ArrayLike) -> Points:
        """The same, but without arms where all of them are zero, which leaves out all turning."""
        whole = Points.of(group, body, arm)
        return whole if np.any(np.asarray(arm)) else Points(group, whole.body, None)

    def moving(self, bodies: dict[str, Bodies]) -> Moving:
        """Where they are now."""
        it = bodies[self.group]
        if self.arm is None:
            place, velocity = _each(it.position, self.body), _each(it.velocity, self.body)
            return Moving(jnp.zeros_like(place), place, velocity)
        turn = rotation_matrix(it.attitude)
        arm = apply(_each(turn, self.body, 2), self.arm)
        rate = apply(_each(turn, self.body, 2), cross(_each(it.rate, self.body), self.arm))
        return Moving(arm, _each(it.position, self.body) + arm, _each(it.velocity, self.body) + rate)

    def wrench(
        self,
        arm: Float[Array, "3 p *batch"],
        force: Float[Array, "3 p *batch"],
        count: int,
        torque: Float[Array, "3 p *batch"] | None = None,
    ) -> Wrench:
        """What forces (N) and torques (N m) at the points, world frame, do to the group's `count` bodies.

        Points without arms turn nothing.
        """
        if self.arm is None and torque is None:
            return Wrench(_summed(force, self.body, count))
        turning = cross(arm, force)
        turning = turning if torque is None else turning + torque
        return Wrench(_summed(force, self.body, count), _summed(turning, self.body, count))


def _each(values: Array, body: tuple[int, ...], axis: int = 1) -> Array:
    """For each point the value of its body; `axis` counts bodies."""
    count = values.shape[axis]
    if body == tuple(range(count)):
        return values
    if len(set(body)) == 1:
        return jax.lax.slice_in_dim(values, body[0], body[0] + 1, axis=axis)
    runs, rest = divmod(len(body), count)
    if rest == 0 and body == tuple(k for k in range(count) for _ in range(runs)):
        return jnp.repeat(values, runs, axis=axis)  # so many points to each body: no gather is needed
    return jnp.stack([values[(slice(None),) * axis + (k,)] for k in body], axis=axis)


def _summed(values: Float[Array, "3 p *batch"], body: tuple[int, ...], count: int) -> Array:
    """Sums of the points' values, body by body, (3, count, *batch)."""
    if body == tuple(range(count)):
        return values
    runs, rest = divmod(len(body), count)
    if rest == 0 and body == tuple(k for k in range(count) for _ in range(runs)):
        return values.reshape((3, count, runs, *values.shape[2:])).sum(2)
    mine = [[p for p, k in enumerate(body) if k == one] for one in range(count)]
    none = jnp.zeros_like(values[:, 0])
    return jnp.stack([sum((values[:, p] for p in own), none) for own in mine], axis=1)
