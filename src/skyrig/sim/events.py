"""Events as people read them, from a flight's log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skyrig.errors import FlightDiverged
from skyrig.sim.plan import Cut, Poke
from skyrig.sim.stepping import LOG_FULL, MOST_TURN, OK, TOO_FAST, TOO_MANY, UNSOLVED, Log


@dataclass(frozen=True)
class Event:
    """Something that happened at an instant."""

    time: float
    """When (s)."""
    kind: str
    """"impact", "taut", "slack", "cut", "poke" or "ground" (the payload passes z = 0)."""
    cable: int | None = None
    """Which cable, counted from 0; None where none is concerned."""
    impulse: float = 0.0
    """Impulse along the cable at an impact; size of the impulse of a poke (N s)."""
    impulses: tuple[float, ...] = ()
    """Impulses along all cables at that instant (N s)."""


def events(
    log: Log, times: np.ndarray, start_taut: np.ndarray, happenings: Sequence[Poke | Cut]
) -> list[Event]:
    """All events of one flight in order.

    Args:
        log: The flight's log.
        times: (steps,) time at the end of each step, the first having no length (s).
        start_taut: (n,) cables taut at the start.
        happenings: Pokes and cuts of the flight.
    """
    starts = np.concatenate([times[:1], times[:-1]])
    found = [Event(float(times[0]), "taut", int(k)) for k in np.flatnonzero(start_taut)]
    rows = []
    for row in range(int(log.count)):
        time = float(starts[int(log.step[row])] + np.float64(log.offset[row]))
        rows.append((time, _of_reset(time, log, row)))
    for happening in happenings:
        time = float(happening.time)
        if isinstance(happening, Cut):
            rows.append((time - 1e-15, [Event(time, "cut", happening.cable)]))
            continue
        answers = [r for t, e in rows if abs(t - time) < 1e-12 for r in e]
        size = float(np.linalg.norm(np.asarray(happening.impulse, dtype=float)))
        pulls = answers[0].impulses if answers else ()
        rows.append((time - 1e-15, [Event(time, "poke", None, size, pulls)]))
    for _, group in sorted(rows, key=lambda pair: pair[0]):
        found += group
    return found


def _of_reset(time: float, log: Log, row: int) -> list[Event]:
    """One reset's events: impacts first, then what they led to."""
    reset = log.reset
    impulses = tuple(float(value) for value in np.asarray(reset.impulse[row]))
    found = []
    for kind, mask in (("impact", reset.arrived), ("taut", reset.tightened), ("slack", reset.loosened)):
        for k in np.flatnonzero(np.asarray(mask[row])):
            own = impulses[k] if kind == "impact" else 0.0
            found.append(Event(time, kind, int(k), own, impulses))
    if bool(reset.ground[row]):
        found.append(Event(time, "ground", None, 0.0, impulses))
    return found


def raise_troubles(log: Log, times: np.ndarray, payload: Any, vehicles: Any) -> None:
    """A `FlightDiverged` that says when, where and why, if the flight went wrong."""
    bodies = [("the payload", [np.asarray(leaf) for leaf in payload])]
    count = np.shape(vehicles[0])[1]
    for k in range(count):
        bodies.append((f"vehicle {k}", [np.asarray(leaf)[:, k] for leaf in vehicles]))
    first = None
    for name, leaves in bodies:
        bad = np.zeros(len(times), dtype=bool)
        for leaf in leaves:
            bad |= ~np.all(np.isfinite(leaf), axis=-1)
        if bad.any() and (first is None or np.argmax(bad) < first[0]):
            first = (int(np.argmax(bad)), name)
    if first is not None:
        raise FlightDiverged(f"The state of {first[1]} turned non-finite at t = {times[first[0]]:.6g} s.")
    trouble = int(log.trouble)
    if trouble == OK:
        return
    if trouble == TOO_FAST:
        _raise_whirl(times, bodies)
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
