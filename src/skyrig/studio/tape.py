"""A live flight as a file keeps it: what each chunk left at its control ticks, put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
import numpy.typing as npt

from skyrig.control import HeldCommands
from skyrig.errors import InputError
from skyrig.flight.flight import Flight, Inputs
from skyrig.flight.metrics import metrics
from skyrig.runs.assembly import assemble
from skyrig.runs.flying import who_flies
from skyrig.tracks import Track

if TYPE_CHECKING:
    from skyrig.scenario.build import Built

Rows = npt.NDArray[np.integer]
_HELD = ("commanded_thrust", "commanded_moment", "thrust", "moment", "saturated")
"""What a chunk tells once a tick."""


def piece(flown: Any, ends: Rows, ticks: npt.NDArray[np.float64]) -> Any:
    """What is kept of a chunk.

    Args:
        flown: Its `skyrig.sim.ClosedLoop`.
        ends: Rows at which its ticks end, the flight's first row too if it begins there.
        ticks: When its ticks began (s).
    """
    rows = sorted({it.row for it in flown.events if it.row >= 0}) if flown.log.sides is not None else []
    place = {row: k for k, row in enumerate(rows)}
    sides = flown.log.sides
    held = slice(0, len(ticks))
    return SimpleNamespace(
        times=flown.times[ends],
        bodies=_each(flown.bodies, lambda it: np.array(it[ends])),
        signals={name: np.array(it[ends]) for name, it in flown.signals.items()},
        made=tuple(np.array(it[ends]) for it in flown.made),
        ticks=ticks,
        measured=_each(flown.measured, lambda it: np.array(it[held])),
        controller_signals={name: np.array(it[held]) for name, it in flown.controller_signals.items()},
        **{name: np.array(getattr(flown, name)[held]) for name in _HELD},
        events=[replace(it, row=place.get(it.row, -1)) for it in flown.events],
        sides=jax.tree.map(lambda leaf: np.asarray(leaf)[rows], sides) if rows else None,
    )


def flight_of(built: Built, pieces: Sequence[Any]) -> Flight:
    """The flight that pieces make, one after the other, as `skyrig fly` records it: a sample a tick."""
    if not pieces:
        raise InputError("Nothing was flown yet: press Play first.")
    events, jumped = [], 0
    for it in pieces:
        events += [replace(each, row=each.row + jumped if each.row >= 0 else -1) for each in it.events]
        jumped += 0 if it.sides is None else len(jax.tree.leaves(it.sides)[0])
    sides = [it.sides for it in pieces if it.sides is not None]
    whole = SimpleNamespace(
        times=_joined(it.times for it in pieces),
        bodies=_tracks([it.bodies for it in pieces]),
        signals=_dicts([it.signals for it in pieces]),
        made=tuple(_joined(it.made[k] for it in pieces) for k in range(2)),
        ticks=_joined(it.ticks for it in pieces),
        measured=_tracks([it.measured for it in pieces]),
        controller_signals=_dicts([it.controller_signals for it in pieces]),
        **{name: _joined(getattr(it, name) for it in pieces) for name in _HELD},
        events=events,
        log=SimpleNamespace(
            sides=jax.tree.map(lambda *parts: np.concatenate(parts), *sides) if sides else None
        ),
    )
    made = Inputs(whole.ticks, *(getattr(whole, name) for name in _HELD))
    flying = who_flies(built)
    measured = None if isinstance(flying, HeldCommands) else whole.measured
    units = getattr(flying, "signal_units", None)
    flight = assemble(built, whole, made, measured, whole.controller_signals, units)
    return replace(flight, metrics=metrics(flight, limits=built.scenario.spec.verdict))


def _joined(parts: Any) -> npt.NDArray[Any]:
    return np.concatenate(list(parts))


def _dicts(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {name: _joined(it[name] for it in parts) for name in parts[0]}


def _each(tracks: Mapping[str, Track], rows: Callable[[Any], Any]) -> dict[str, Track]:
    return {group: Track(*(rows(leaf) for leaf in vars(it).values())) for group, it in tracks.items()}


def _tracks(parts: Sequence[Mapping[str, Track]]) -> dict[str, Track]:
    leaves = {group: [tuple(vars(it[group]).values()) for it in parts] for group in parts[0]}
    return {group: Track(*map(_joined, zip(*each, strict=True))) for group, each in leaves.items()}
