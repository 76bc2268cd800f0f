"""From what people write (times, held inputs, pokes, cuts) to the arrays a compiled flight walks through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jaxtyping import Array, Bool, Float, Int

from skyrig import checks
from skyrig.algebra import as_jax, traced
from skyrig.errors import InputError
from skyrig.rigs.bodies import Inputs

STEP = 2e-3
"""Default physics step (s)."""


@dataclass(frozen=True)
class Poke:
    """An impulse on the payload."""

    time: float
    """When (s)."""
    impulse: npt.ArrayLike
    """(3,) N s, world frame."""
    point: npt.ArrayLike = (0.0, 0.0, 0.0)
    """(3,) where on the payload, payload frame from its centre of mass (m)."""


@dataclass(frozen=True)
class Cut:
    """A cable cut for good."""

    time: float
    """When (s)."""
    cable: int
    """Which one, counted from 0."""


class Plan(eqx.Module):
    """A flight's steps; padding steps have a negative length."""

    dt: Float[Array, " steps"]
    hold: Int[Array, " steps"]
    """Row of the inputs held over each step."""
    act: Int[Array, " steps"]
    """Row of the happenings at the start of each step, or -1."""
    tick: Int[Array, " steps"]
    """Which of the controller's ticks the step begins with, or -1."""
    impulse: Float[Array, "rows 3"]
    point: Float[Array, "rows 3"]
    cut: Bool[Array, "rows n"]


@dataclass(frozen=True)
class Schedule:
    """A plan with what the host remembers of it."""

    plan: Plan
    times: np.ndarray
    """(steps,) time at the end of each step (s), without padding; the first step has no length."""
    happenings: tuple[Poke | Cut, ...]


def bucket(count: int, least: int = 16) -> int:
    """`count` rounded up so that few sizes ever occur (above `least`, at most a quarter is padding)."""
    if count <= least:
        return least
    grain = 2 ** (count.bit_length() - 3)
    return -(-count // grain) * grain


def schedule(
    rig: Any,
    grid: np.ndarray,
    step: float,
    happenings: Sequence[Poke | Cut],
    dtype: Any = np.float64,
    ticks: np.ndarray | None = None,
) -> Schedule:
    """Steps of at most `step` on its multiples, split where inputs change or something happens.

    Times are multiples of the step, not a running sum; points closer than a millionth of a step are one.
    `ticks` are those of the times in `grid` at which a controller acts, the first being the start.
    """
    start, end = float(grid[0]), float(grid[-1])
    checks.positive("step", step)
    for happening in happenings:
        if not start <= happening.time < end:
            kind = type(happening).__name__.lower()
            raise InputError(
                f"{kind}.time must lie within the flight, from {start:g} to before {end:g} s, "
                f"not {happening.time:g}."
            )
    multiples = start + step * np.arange(1 + int(np.ceil((end - start) / step - 1e-6)))
    marks = np.concatenate([grid, [happening.time for happening in happenings]])
    times = _merged(multiples[multiples < end - 1e-6 * step], marks, 1e-6 * step)
    lengths = np.diff(times)
    hold = np.searchsorted(grid, times[:-1] + 1e-6 * step, side="right") - 1
    rows = sorted({int(np.argmin(np.abs(times - happening.time))) for happening in happenings})
    act = np.full(len(times), -1)
    act[[row + 1 for row in rows]] = np.arange(len(rows))
    tick = np.full(len(times), -1)
    if ticks is not None:
        acts = np.searchsorted(times, ticks - 1e-6 * step)
        tick[np.where(acts == 0, 0, acts + 1)] = np.arange(len(ticks))
    pad = bucket(len(times), 1024) - len(times)
    room = bucket(len(rows))
    impulse, point = np.zeros((room, 3)), np.zeros((room, 3))
    cut = np.zeros((room, rig.count), dtype=bool)
    for happening in happenings:
        row = rows.index(int(np.argmin(np.abs(times - happening.time))))
        if isinstance(happening, Poke):
            if np.any(impulse[row] != 0):
                raise InputError(
                    f"poke.time {happening.time:g} s is taken by another poke; join them into one."
                )
            impulse[row] = checks.numbers("poke.impulse", happening.impulse, (3,))
            point[row] = checks.numbers("poke.point", happening.point, (3,))
        else:
            if not 0 <= happening.cable < rig.count:
                raise InputError(f"cut.cable must be from 0 to {rig.count - 1}, not {happening.cable}.")
            cut[row, happening.cable] = True
    plan = Plan(
        dt=as_jax(np.concatenate([[0.0], lengths, -np.ones(pad)]).astype(dtype)),
        hold=as_jax(np.concatenate([[0], hold, np.zeros(pad)]).astype(np.int32)),
        act=as_jax(np.concatenate([act, -np.ones(pad)]).astype(np.int32)),
        tick=as_jax(np.concatenate([tick, -np.ones(pad)]).astype(np.int32)),
        impulse=as_jax(impulse.astype(dtype)),
        point=as_jax(point.astype(dtype)),
        cut=as_jax(cut),
    )
    return Schedule(plan, times, tuple(sorted(happenings, key=lambda it: it.time)))


def _merged(multiples: np.ndarray, marks: np.ndarray, near: float) -> np.ndarray:
    """Sorted times without near-doubles; marks win over multiples."""
    times = np.concatenate([marks, multiples])
    order = np.lexsort((np.arange(len(times)), times))
    kept: list[float] = []
    is_mark = np.arange(len(times)) < len(marks)
    for index in order:
        if kept and times[index] - kept[-1] < near:
            if is_mark[index]:
                kept[-1] = float(times[index])
            continue
        kept.append(float(times[index]))
    return np.asarray(kept)


def held_inputs(
    rig: Any,
    count: int,
    thrust: npt.ArrayLike,
    moment: npt.ArrayLike | None,
    payload_force: npt.ArrayLike | None,
    payload_torque: npt.ArrayLike | None,
    vehicle_force: npt.ArrayLike | None,
    vehicle_torque: npt.ArrayLike | None,
    winch: npt.ArrayLike | None,
    dtype: Any,
) -> Inputs:
    """Inputs for `count` intervals (last axis), checked; arrays for one interval serve them all."""
    n = rig.count
    room = bucket(count)

    def rows(field: str, value: Any, shape: tuple[int, ...]) -> Array | None:
        if value is None:
            return None
        if not traced(value):
            value = np.asarray(value, dtype=np.float64) if np.ndim(value) else np.asarray(value)
        have = np.shape(value)
        if have == shape:
            value = jnp.broadcast_to(as_jax(value), (count, *shape))
        elif have != (count, *shape):
            wanted = " or ".join("x".join(map(str, s)) for s in (shape, (count, *shape)))
            given = "x".join(map(str, have)) or "a single number"
            raise InputError(f"{field} must have shape {wanted}, not {given}.")
        if not traced(value):
            checks.numbers(field, np.asarray(value), have if have != shape else (count, *shape))
        value = as_jax(value, dtype)
        value = jnp.concatenate([value, jnp.zeros((room - count, *shape), dtype)])
        return value.T  # components first, intervals last

    whole = rows("moment", np.zeros((n, 3)) if moment is None else moment, (n, 3))
    pushed = rows("thrust", thrust, (n,))
    assert whole is not None and pushed is not None
    return Inputs(
        thrust=pushed,
        moment=whole,
        payload_force=rows("payload_force", payload_force, (3,)),
        payload_torque=rows("payload_torque", payload_torque, (3,)),
        vehicle_force=rows("vehicle_force", vehicle_force, (n, 3)),
        vehicle_torque=rows("vehicle_torque", vehicle_torque, (n, 3)),
        winch=rows("winch", winch, (n,)),
    )
