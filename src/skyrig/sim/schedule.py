"""From what people write (times, held inputs, pokes, cuts) to the arrays a compiled flight goes through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
import numpy.typing as npt
from jaxtyping import Float, Int

from skyrig import checks
from skyrig.algebra import as_jax
from skyrig.errors import InputError
from skyrig.rigs.protocol import Rig

STEP = 2e-3
"""Default physics step (s)."""


@dataclass(frozen=True)
class Poke:
    """An impulse on a body."""

    time: float
    """When (s)."""
    impulse: npt.ArrayLike
    """(3,) N s, world frame."""
    point: npt.ArrayLike = (0.0, 0.0, 0.0)
    """(3,) where on the body, its frame from its centre of mass (m)."""
    group: str = "payload"
    """Among which bodies."""
    body: int = 0
    """Which of them, counted from 0."""


@dataclass(frozen=True)
class Cut:
    """A cable cut for good."""

    time: float
    """When (s)."""
    cable: int
    """Which one, counted from 0."""
    at: float = 1.0
    """Where along an elastic cable, from 0 at the hook to 1 at the payload."""


class PlanStep(NamedTuple):
    """One step of a plan."""

    time: Any
    """When it begins (s)."""
    dt: Any
    """How long it is (s); negative for none."""
    hold: Any = None
    """Row of what is held over it."""
    act: Any = None
    """Row of the happenings at its start, or -1; None where there never are any."""
    tick: Any = None
    """Which of the controller's ticks it begins with, or -1."""


class StepPlan(eqx.Module):
    """A flight's steps, in NumPy until they are flown; padding steps have a negative length.

    In a batch flights (or 1) come last.
    """

    time: Float[Any, "steps *batch"]
    """When each step begins (s)."""
    dt: Float[Any, "steps *batch"]
    hold: Int[Any, "steps *batch"]
    """Row of what is held over each step."""
    act: Int[Any, "steps *batch"]
    """Row of the happenings at the start of each step, or -1."""
    tick: Int[Any, " steps"] | None
    """Which of the controller's ticks the step begins with, or -1; None where nobody asks."""
    acts: Acts

    def at(self, index: Any) -> PlanStep:
        """One of its steps."""
        columns = (self.time, self.dt, self.hold, self.act, self.tick)
        return PlanStep(*(None if column is None else column[index] for column in columns))


class Even(eqx.Module):
    """Steps of the same length without anything happening between them."""

    dt: Any
    """s."""
    first: Any = 0
    """Number of the first, counted from the flight's start."""
    acts: None = None

    def at(self, index: Any) -> PlanStep:
        """One of its steps."""
        return PlanStep((self.first + index) * self.dt, self.dt)


class Acts(eqx.Module):
    """What happens at an instant, rows first (in a batch, flights last)."""

    impulse: dict[str, Any]
    """By group, (rows, 3, k): blows on its bodies, world frame (N s)."""
    point: dict[str, Any]
    """By group, (rows, 3, k): where, from the centres of mass in the bodies' frames (m)."""
    switch: dict[str, Any]
    """By name, (rows, k) flags: switches thrown, such as cables cut; one for each place of each owner."""

    @staticmethod
    def blank(rig: Rig, rows: int, groups: Sequence[str] = ()) -> Acts:
        """Room for so many rows, in NumPy; blows on the payload, if it takes any, and on further groups."""
        layout = rig.layout
        usual = () if type(rig).poke is Rig.poke else ("payload",)
        known = [group for group in layout.groups if group.name in (*usual, *groups)]
        return Acts(
            {it.name: np.zeros((rows, 3, it.count)) for it in known},
            {it.name: np.zeros((rows, 3, it.count)) for it in known},
            {it.name: np.zeros((rows, it.count * it.places), dtype=bool) for it in layout.switches},
        )

    def put(self, row: int, happening: Poke | Cut, rig: Rig) -> None:
        """Write a checked happening into a row."""
        if isinstance(happening, Cut):
            switch = rig.layout.switch("cut")
            places = 1 if switch is None else switch.places
            place = min(int(happening.at * places), places - 1)
            self.switch["cut"][row, happening.cable * places + place] = True
            return
        group, body = happening.group, happening.body
        if np.any(self.impulse[group][row, :, body] != 0):
            raise InputError(f"poke.time {happening.time:g} s is taken by another poke; join them into one.")
        self.impulse[group][row, :, body] = checks.numbers("poke.impulse", happening.impulse, (3,))
        self.point[group][row, :, body] = checks.numbers("poke.point", happening.point, (3,))

    def done(self, rig: Any, state: Any, row: Any) -> Any:
        """The rig's state after what a row says; `row` picks it out of a table."""
        for group, impulse in self.impulse.items():
            state = rig.poke(state, group, row(impulse), row(self.point[group]))
        for name, which in self.switch.items():
            state = rig.switch(state, name, row(which))
        return state


@dataclass(frozen=True)
class Schedule:
    """A plan with what the host remembers of it."""

    plan: StepPlan
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
    rig: Rig,
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
        _check(happening, rig, start, end)
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
    acts = Acts.blank(rig, room, [it.group for it in happenings if isinstance(it, Poke)])
    for happening in happenings:
        acts.put(rows.index(int(np.argmin(np.abs(times - happening.time)))), happening, rig)
    starts = np.concatenate([times[:1], times[:-1], np.full(pad, times[-1])])
    plan = StepPlan(
        time=starts.astype(dtype),
        dt=np.concatenate([[0.0], lengths, -np.ones(pad)]).astype(dtype),
        hold=np.concatenate([[0], hold, np.zeros(pad)]).astype(np.int32),
        act=np.concatenate([act, -np.ones(pad)]).astype(np.int32),
        tick=np.concatenate([tick, -np.ones(pad)]).astype(np.int32),
        acts=jax.tree.map(lambda it: as_jax(it if it.dtype == bool else it.astype(dtype)), acts),
    )
    return Schedule(plan, times, tuple(sorted(happenings, key=lambda it: it.time)))


def _check(happening: Poke | Cut, rig: Rig, start: float, end: float) -> None:
    """A sentence about a happening that cannot be."""
    kind, layout = type(happening).__name__.lower(), rig.layout
    if not start <= happening.time < end:
        raise InputError(
            f"{kind}.time must lie within the flight, from {start:g} to before {end:g} s, "
            f"not {happening.time:g}."
        )
    if isinstance(happening, Poke):
        if type(rig).poke is Rig.poke:
            raise InputError(
                "poke.time is given, but this rig cannot be poked: its mechanism says nothing of it."
            )
        if not layout.has(happening.group):
            names = ", ".join(group.name for group in layout.groups)
            raise InputError(f"poke.group must be one of {names}, not {happening.group!r}.")
        count = layout.group(happening.group).count
        if not 0 <= happening.body < count:
            raise InputError(f"poke.body must be from 0 to {count - 1}, not {happening.body}.")
        return
    switch = layout.switch("cut")
    if switch is None:
        raise InputError("cut.cable names a cable, but this rig has none.")
    if not 0 <= happening.cable < switch.count:
        raise InputError(f"cut.cable must be from 0 to {switch.count - 1}, not {happening.cable}.")


def _merged(multiples: np.ndarray, marks: np.ndarray, near: float) -> np.ndarray:
    """Sorted times without near-doubles; marks win over multiples."""
    times = np.concatenate([marks, multiples])
    order = np.lexsort((np.arange(len(times)), times))
    times, is_mark = times[order], order < len(marks)
    group = np.cumsum(np.concatenate([[False], np.diff(times) >= near]))
    kept = times[np.searchsorted(group, np.arange(group[-1] + 1))]
    kept[group[is_mark]] = times[is_mark]  # the last of several in a group
    return kept
