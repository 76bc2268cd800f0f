"""Events as people read them, from a flight's log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skyrig.errors import FlightDiverged
from skyrig.rigs.layout import Layout
from skyrig.sim.log import LOG_FULL, OK, TOO_FAST, TOO_MANY, UNSOLVED, Log
from skyrig.sim.schedule import Cut, Poke
from skyrig.sim.stepping import MOST_TURN
from skyrig.tracks import Track

REARM = 1e-3
"""How far from z = 0 a payload must be before passing it counts again (m)."""


@dataclass(frozen=True)
class Event:
    """Something that happened at an instant."""

    time: float
    """When (s)."""
    kind: str
    """One of the rig's layout ("impact", "taut", "slack"), or "cut", "poke", "ground" (passing z = 0)."""
    owner: str = ""
    """To what it happened: "cable", or a group of bodies."""
    index: int | None = None
    """To which of them, counted from 0; None for none in particular."""
    value: float = 0.0
    """The number that goes with it: an impact's or a poke's impulse (N s)."""
    values: tuple[float, ...] = field(default=(), repr=False)
    """The same of all owners at that instant."""
    row: int = field(default=-1, repr=False, compare=False)
    """Row of the log, where both sides of the jump are kept; -1 where nothing jumped."""

    @property
    def cable(self) -> int | None:
        """Which cable, counted from 0; None where none is concerned."""
        return self.index if self.owner == "cable" else None

    @property
    def impulse(self) -> float:
        """The impulse that goes with it (N s)."""
        return self.value

    @property
    def impulses(self) -> tuple[float, ...]:
        """Impulses along all cables at that instant (N s)."""
        return self.values


def events(
    rig: Any,
    start: Any,
    log: Log,
    times: np.ndarray,
    happenings: Sequence[Poke | Cut],
    bodies: Mapping[str, Track],
) -> list[Event]:
    """All events of one flight in order.

    Args:
        rig: What was flown.
        start: The rig's state at the start; None if the flight began before `times`.
        log: The flight's log.
        times: (steps,) time at the end of each step, the first having no length (s).
        happenings: Pokes and cuts of the flight.
        bodies: How they moved, by group, a row for each step; the payload is seen to pass z = 0.
    """
    layout, standing = rig.layout, {} if start is None else rig.standing(start)
    starts = np.concatenate([times[:1], times[:-1]])
    owners = {kind.name: kind.owner for kind in layout.events}
    found = [
        Event(float(times[0]), kind, owners[kind], int(k))
        for kind, who in standing.items()
        for k in np.flatnonzero(np.asarray(who))
    ]
    rows = []
    for row in range(int(log.count)):
        time = float(starts[int(log.step[row])] + np.float64(log.offset[row]))
        rows.append((time, _of_reset(layout, time, log, row)))
    for happening in happenings:
        time = float(happening.time)
        if isinstance(happening, Cut):
            rows.append((time - 1e-15, [Event(time, "cut", "cable", happening.cable)]))
            continue
        answers = [r for t, e in rows if abs(t - time) < 1e-12 for r in e]
        size = float(np.linalg.norm(np.asarray(happening.impulse, dtype=float)))
        pulls = answers[0].values if answers else ()
        rows.append((time - 1e-15, [Event(time, "poke", happening.group, happening.body, size, pulls)]))
    if "payload" in bodies:
        load = bodies["payload"].one()
        heights = np.asarray(load.position), np.asarray(load.velocity)
        rows += [(time, [Event(time, "ground", "payload", 0)]) for time in passings(times, *heights)]
    for _, group in sorted(rows, key=lambda pair: pair[0]):
        found += group
    return found


def _of_reset(layout: Layout, time: float, log: Log, row: int) -> list[Event]:
    """One reset's events: the layout's first kinds first, then what they led to."""
    found = []
    first = next(iter(log.reset.events.values())).value
    values = () if first is None else tuple(float(it) for it in np.asarray(first[row]))
    for kind in layout.events:
        happened = log.reset.events[kind.name]
        for k in np.flatnonzero(np.asarray(happened.who[row])):
            own = 0.0 if happened.value is None else float(np.asarray(happened.value[row])[k])
            found.append(Event(time, kind.name, kind.owner, int(k), own, values, row))
    return found


def passings(times: np.ndarray, position: np.ndarray, velocity: np.ndarray) -> list[float]:
    """When a body passes z = 0 (s), by cubics through heights and speeds at the ends of the steps.

    Args:
        times: (steps,) s.
        position: (steps, 3) m.
        velocity: (steps, 3) m/s.
    """
    height, climb = position[:, 2], velocity[:, 2]
    side, found = np.sign(height[0]), []
    for k in np.flatnonzero((height[1:] * height[:-1] <= 0) | (np.abs(height[1:]) <= 2 * REARM)) + 1:
        before = np.sign(height[max(k - 1, 0)]) if abs(height[k - 1]) > REARM else side
        side = before if side == 0 else side
        if side != 0 and side * height[k] < 0:
            found.append(_root(times[k - 1 : k + 1], height[k - 1 : k + 1], climb[k - 1 : k + 1]))
            side = 0.0
        if abs(height[k]) > REARM:
            side = np.sign(height[k])
    return found


def _root(times: np.ndarray, value: np.ndarray, slope: np.ndarray) -> float:
    """Where a cubic with these ends is zero."""
    width = times[1] - times[0]
    if width <= 0 or value[0] == 0:
        return float(times[0])
    a, b, da, db = value[0], value[1], slope[0] * width, slope[1] * width
    low, high = 0.0, 1.0
    for _ in range(60):
        u = (low + high) / 2
        at = a + u * (da + u * (3 * (b - a) - 2 * da - db + u * (da + db - 2 * (b - a))))
        low, high = (u, high) if at * a > 0 else (low, u)
    return float(times[0] + (low + high) / 2 * width)


def raise_troubles(log: Log, times: np.ndarray, bodies: dict[str, Any]) -> None:
    """A `FlightDiverged` that says when, where and why, if the flight went wrong.

    Args:
        log: The flight's log.
        times: (steps,) s.
        bodies: By group, anything with position, velocity, attitude and rate (steps, k, xyz).
    """
    trouble = int(log.trouble)
    # one sum of all tells in a moment that nothing is wrong
    if trouble == OK and all(np.isfinite(leaf.sum()) for them in bodies.values() for leaf in _leaves(them)):
        return
    named: list[tuple[str, list[np.ndarray]]] = []
    for group, them in bodies.items():
        leaves = _leaves(them)
        count = leaves[0].shape[1]
        one = group.removesuffix("s")
        for k in range(count):
            name = f"the {group}" if count == 1 and group == one else f"{one} {k}"
            named.append((name, [leaf[:, k] for leaf in leaves]))
    first = None
    for name, leaves in named:
        bad = np.zeros(len(times), dtype=bool)
        for leaf in leaves:
            bad |= ~np.all(np.isfinite(leaf), axis=-1)
        if bad.any() and (first is None or np.argmax(bad) < first[0]):
            first = (int(np.argmax(bad)), name)
    if first is not None:
        raise FlightDiverged(f"The state of {first[1]} turned non-finite at t = {times[first[0]]:.6g} s.")
    if trouble == OK:
        return
    if trouble == TOO_FAST:
        _raise_whirl(times, named)
    last = max(int(log.count) - 1, 0)
    step = int(log.step[last]) if int(log.count) else 0
    time = times[max(step, 0)]
    reasons = {
        LOG_FULL: f"more than {log.step.shape[0]} events happened; ask for room with max_events",
        TOO_MANY: "cables chattered faster than could be resolved in one step",
        TOO_FAST: "the cables' ends move too fast for this step; make it shorter",
        UNSOLVED: "no set of pulling cables could be found",
    }
    raise FlightDiverged(f"The flight stopped making sense near t = {time:.6g} s: {reasons[trouble]}.")


def _leaves(bodies: Any) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in (bodies.position, bodies.velocity, bodies.attitude, bodies.rate)]


def _raise_whirl(times: np.ndarray, bodies: list[tuple[str, list[np.ndarray]]]) -> None:
    """A `FlightDiverged` that names the body that turned too far in one step, if there is one."""
    length = np.diff(times, prepend=times[:1])
    found = []
    for name, leaves in bodies:
        spin = np.linalg.norm(leaves[3], axis=-1)
        beyond = spin * length > MOST_TURN
        if beyond.any():
            row = int(np.argmax(beyond))
            found.append((row, name, spin[row], length[row]))
    if found:
        row, name, spin, dt = min(found, key=lambda it: it[0])
        raise FlightDiverged(
            f"Near t = {times[row]:.6g} s {name} turns at {spin:.3g} rad/s, too fast for a step of {dt:g} s: "
            f"it must stay below {MOST_TURN / spin:.2g} s."
        )
