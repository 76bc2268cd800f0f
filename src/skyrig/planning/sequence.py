"""One reference after another: take off, circle, land."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from skyrig.arrays import Array, Vector, is_jax, namespace
from skyrig.errors import InputError
from skyrig.planning import registry
from skyrig.planning.pytree import static
from skyrig.planning.reference import Reference, Sample, still
from skyrig.planning.taylor import ORDER, Series

TOLERANCE = 1e-9
"""Poses closer than this (m, rad) are the same; of derivatives, closer than this times their size."""


@dataclass(frozen=True, eq=False)
class Shifted(Reference):
    """A reference moved elsewhere: a constant added to its position and to its Euler angles."""

    inner: Reference
    position: Float[Array, " 3"]
    euler: Float[Array, " 3"]

    @property
    def duration(self) -> Array:
        """Unchanged (s)."""
        return self.inner.duration

    @property
    def knots(self) -> Array:
        """Unchanged (s)."""
        return self.inner.knots

    @property
    def inner_continuity(self) -> int:
        """Unchanged."""
        return self.inner.inner_continuity

    @property
    def rest_orders(self) -> tuple[int, int]:
        """Unchanged."""
        return self.inner.rest_orders

    def series(self, times: Array) -> tuple[Series, Series]:
        """The inner one's, moved."""
        position, euler = self.inner.series(times)
        return position + still(self.position, times), euler + still(self.euler, times)


@dataclass(frozen=True, eq=False)
class Sequence(Reference):
    """References joined in time; each begins when the one before it ends.

    Attributes:
        parts: The references, in order.
        joints: Highest derivative that is continuous across each joint; -1 where the pose jumps.
    """

    parts: tuple[Reference, ...]
    joints: tuple[int, ...] = static()

    @property
    def starts(self) -> tuple[Array, ...]:
        """When each part begins (s)."""
        times = [np.asarray(0.0)]
        for part in self.parts[:-1]:
            times.append(times[-1] + part.duration)
        return tuple(times)

    @property
    def duration(self) -> Array:
        """All parts together (s)."""
        return self.starts[-1] + self.parts[-1].duration

    @property
    def knots(self) -> Array:
        """The parts' own and the joints (s)."""
        xp = namespace(*self.leaves())
        joints = xp.stack([xp.asarray(t) for t in self.starts[1:]]) if self.parts[1:] else xp.zeros(0)
        inside = [start + part.knots for start, part in zip(self.starts, self.parts, strict=True)]
        return xp.sort(xp.concatenate([joints, *inside]))

    @property
    def inner_continuity(self) -> int:
        """That of the worst part or joint."""
        return min(*(part.inner_continuity for part in self.parts), *self.joints, ORDER)

    @property
    def rest_orders(self) -> tuple[int, int]:
        """Of the first part's start and of the last one's end."""
        return self.parts[0].rest_orders[0], self.parts[-1].rest_orders[1]

    def series(self, times: Array) -> tuple[Series, Series]:
        """That of the part whose turn it is, on its own clock."""
        xp = namespace(times, *self.leaves())
        position = euler = None
        for start, part in zip(self.starts, self.parts, strict=True):
            own = part.series(xp.clip(times - start, 0.0, part.duration))
            if position is None:
                position, euler = own
            else:
                later = (times >= start)[..., None]
                position, euler = xp.where(later, own[0], position), xp.where(later, own[1], euler)
        return position, euler


def sequence(
    *,
    parts: object,
    start: Vector | None = None,
    attitude: Vector | None = None,
    offset: bool = False,
    joint_continuity: int = 1,
    directory: str | None = None,
) -> Sequence:
    """Join references in time.

    A part described without a `start` (or `attitude`) begins where the one before it ended. A part
    that says where it begins must begin there, or be moved there if `offset` is set.

    Args:
        parts: References or their descriptions; only the last may go on for ever. A description may
            hold `offset` of its own.
        start: Where the first part begins (m), if it does not say.
        attitude: Roll, pitch, yaw (rad) where the first part begins, if it does not say.
        offset: Whether parts that begin elsewhere are moved to where the one before them ended.
        joint_continuity: Derivatives up to this one must agree at every joint: 1 for no jump in
            velocity, 0 to allow one, -1 to allow a jump in the pose too.
        directory: Where files named in a description lie.
    """
    if not isinstance(parts, Iterable) or isinstance(parts, str | Mapping) or not (listed := list(parts)):
        raise InputError(f"parts must be a list of at least one reference, not {parts!r}.")
    built: list[Reference] = []
    joints: list[int] = []
    for i, description in enumerate(listed):
        moved = offset
        if (
            isinstance(description, Mapping)
            and "offset" in description
            and description.get("type") != "sequence"
        ):
            moved = bool(description["offset"])
            description = {name: value for name, value in description.items() if name != "offset"}
        field = f"parts[{i}]"
        part = registry.build(description, field, start=start, attitude=attitude, directory=directory)
        if built:
            part, joint = _join(built[-1], part, i, moved, joint_continuity)
            joints.append(joint)
        built.append(part)
        if i < len(listed) - 1 and not is_jax(part.duration) and np.isinf(part.duration):
            raise InputError(f"{field}.duration must be given: only the last part may go on for ever.")
        if i < len(listed) - 1:
            end = part.end
            start, attitude = end.position[0], end.euler[0]
    return Sequence(tuple(built), tuple(joints))


def _join(before: Reference, after: Reference, i: int, moved: bool, wanted: int) -> tuple[Reference, int]:
    """The part to follow, moved if asked, and how smoothly it follows."""
    last, first = before.end, after.start
    if moved:
        after = Shifted(after, last.position[0] - first.position[0], last.euler[0] - first.euler[0])
        first = after.start
    at_rest = min(before.rest_orders[1], after.rest_orders[0])
    if any(is_jax(leaf) for leaf in (last.position, first.position, last.euler, first.euler)):
        return after, at_rest  # tracers cannot be compared; at rest, all these derivatives are zero
    joint = max(_agreement(last, first), -1)
    if joint < 0 <= wanted:
        raise InputError(
            f"parts[{i}] begins at {_pose(first)} but parts[{i - 1}] ends at {_pose(last)}: "
            "leave out its start, give it the right one, or set offset to true."
        )
    if joint < wanted:
        name = ["", "velocity", "acceleration"][joint + 1] if joint < 2 else f"derivative {joint + 1}"
        raise InputError(
            f"parts[{i}] begins with another {name} than parts[{i - 1}] ends with: "
            f"bring both to rest, or set joint_continuity to {joint}."
        )
    return after, joint


def _agreement(last: Sample, first: Sample) -> int:
    """Highest derivative up to which two motions agree; -1 if not even the poses do."""
    for k in range(ORDER + 1):
        for a, b in ((last.position[k], first.position[k]), (last.euler[k], first.euler[k])):
            size = 1.0 if k == 0 else max(1.0, float(np.abs(a).max()), float(np.abs(b).max()))
            if np.abs(a - b).max() > TOLERANCE * size:
                return k - 1
    return ORDER


def _pose(sample: Sample) -> str:
    place, angles = (
        ", ".join(f"{x + 0.0:.6g}" for x in row) for row in (sample.position[0], sample.euler[0])
    )
    return f"({place}) m, ({angles}) rad"
