"""What statics found, as moments to be looked at in turn: equilibria, modes, ways to hold a pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from skyrig.checks import Numbers
from skyrig.statics.configuration import Configuration
from skyrig.statics.direct import Equilibrium
from skyrig.statics.stability import stability
from skyrig.statics.workspace import Workspace
from skyrig.turns import multiply

RATE = 25.0
"""Moments a second."""
REST = 2.0
"""How long an equilibrium is shown (s)."""
SWINGS, WIDE = 3, 0.25
"""How often a mode swings, and how far at most (m, rad)."""
WAYS, STAY = 40, 0.4
"""Ways to hold a pose that are gone through, and how long each is shown (s)."""
MARKED = 4000
"""Samples whose vehicles are marked at most."""


@dataclass(frozen=True, eq=False)
class Story:
    """T moments of a payload under its vehicles."""

    times: Numbers
    """(T,) s."""
    position: Numbers
    """(T, 3) of the payload (m)."""
    attitude: Numbers
    """(T, 4)."""
    held: tuple[Configuration, ...]
    """(T,) what the vehicles hold at each moment: their places, thrusts and the cables' tensions."""
    chapters: tuple[tuple[float, str], ...] = ()
    """What begins when (s)."""
    marks: Numbers = field(default_factory=lambda: np.zeros((0, 3)))
    """(M, 3) places to be marked, world (m)."""
    shades: Numbers = field(default_factory=lambda: np.zeros(0))
    """(M,) from 0 to 1: their colours, cold to warm."""


def equilibria(found: Sequence[Equilibrium]) -> Story:
    """Every equilibrium under the same vehicles, lowest first."""
    held, chapters = [], []
    for k, it in enumerate(found):
        word = "stable" if it.stable else "unstable"
        chapters.append((k * REST, f"{word} equilibrium {k + 1}, {it.energy:.3f} J"))
        held += [it.configuration] * round(REST * RATE)
    return _still(held, chapters)


def modes(found: Configuration) -> Story:
    """Every natural motion in turn, at its own frequency; those that run away are shown slowly."""
    known = stability(found)
    times, position, attitude, chapters = [], [], [], []
    begin = 0.0
    for k, square in enumerate(known.squares):
        hertz = float(np.sqrt(square)) / (2 * np.pi) if square > 0 else 0.5
        word = f"mode {k + 1}: {hertz:.3f} Hz" if square > 0 else f"mode {k + 1}: runs away"
        chapters.append((begin, word))
        shape = known.modes[:, k] * WIDE / np.abs(known.modes[:, k]).max()
        moments = np.arange(0.0, SWINGS / hertz, 1 / RATE)
        swing = np.sin(2 * np.pi * hertz * moments)[:, None]
        times.append(begin + moments)
        position.append(found.pose.position + swing * shape[:3])
        attitude.append(_turned(found.pose.attitude, swing * shape[3:] if len(shape) > 3 else None, swing))
        begin = times[-1][-1] + 1 / RATE
    every = np.concatenate(times)
    return Story(
        every,
        np.concatenate(position),
        np.concatenate(attitude),
        (found,) * len(every),
        tuple(chapters),
    )


def ways(found: Workspace) -> Story:
    """Some of the ways to hold a pose, and where vehicles may be in all of them, by the largest tension."""
    rows = np.flatnonzero(found.valid)
    marked = rows[:MARKED]
    many = found.configuration(marked)
    shade = found.tension[marked].max(axis=1)
    low, high = (float(shade.min()), float(shade.max())) if len(shade) else (0.0, 1.0)
    shade = (shade - low) / max(high - low, 1e-12)
    chosen = _near_each_other(found.samples, rows[: 6 * WAYS].tolist())[:WAYS]
    held = [found.configuration(row) for row in chosen for _ in range(round(STAY * RATE))]
    chapters = [(k * STAY, f"way {k + 1}") for k in range(0, len(chosen), 10)]
    told = _still(held, chapters)
    places = many.vehicles.reshape(-1, 3)
    return Story(
        told.times,
        told.position,
        told.attitude,
        told.held,
        told.chapters,
        places,
        np.repeat(shade, found.team.count),
    )


def _still(held: Sequence[Configuration], chapters: Sequence[tuple[float, str]]) -> Story:
    return Story(
        np.arange(len(held)) / RATE,
        np.stack([it.pose.position for it in held]),
        np.stack([it.pose.attitude for it in held]),
        tuple(held),
        tuple(chapters),
    )


def _turned(attitude: Numbers, angle: Numbers | None, like: Numbers) -> Numbers:
    """(T, 4) the attitude after turns by vectors (T, 3), world frame (rad)."""
    if angle is None:
        return np.tile(attitude, (len(like), 1))
    half = np.concatenate([np.ones((len(angle), 1)), angle / 2], axis=1)
    return multiply(half / np.linalg.norm(half, axis=1, keepdims=True), attitude[None])


def _near_each_other(samples: Numbers, rows: Sequence[int]) -> list[int]:
    """The rows in an order in which each is the nearest to the one before."""
    left = list(rows)
    order = left[:1]
    left = left[1:]
    while left:
        apart = np.linalg.norm(samples[left] - samples[order[-1]], axis=1)
        order.append(left.pop(int(apart.argmin())))
    return order
