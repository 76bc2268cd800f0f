"""Everything that can be plotted of a flight, by the names that people choose it by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skyrig.flight import meshes
from skyrig.flight.frames import Frames
from skyrig.flight.records import TEAM, ordered, people
from skyrig.flight.rig import RigData
from skyrig.rigs.layout import is_course
from skyrig.turns import euler_angles

Reals = npt.NDArray[np.float64]

AXES = ((213, 64, 50), (40, 150, 70), (50, 110, 220))
"""Colours of x, y and z, and of roll, pitch and yaw."""
ONE = (0, 0, 0)
"""Stands for the colour of the page's text."""
AIM = (47, 128, 208)
"""Of where something shall be."""
USUAL = 6
"""Signals of the rig that are plotted before anybody chooses, at most."""
UNSEEN = ("cable.length", "tendon.length")
"""Signals that are not among them."""


@dataclass(frozen=True)
class Trace:
    """Something that can be plotted: some lines over time."""

    name: str
    """What it is called where it is chosen."""
    unit: str
    lines: tuple[tuple[str, meshes.Colour], ...]
    """What each line is called, and its colour."""
    least: float
    """What its vertical axis spans at least, in its unit."""
    read: Callable[[Frames], Reals]
    """(T, lines) values at the moments of frames, in its unit."""

    @property
    def title(self) -> str:
        """Its name with its unit."""
        return self.name if self.unit in ("", "1") else f"{self.name} ({self.unit})"


def traces(first: Frames, rig: RigData) -> dict[str, Trace]:
    """All that can be plotted of flights of a rig, of which `first` is a frame; the usual ones first."""
    found = [*_usual(first), *_signals(first, UNSEEN), *_thrust(rig), *_bodies(first)]
    return {it.name: it for it in found}


def usual(first: Frames, rig: RigData) -> tuple[str, ...]:
    """What is plotted before anybody chooses: the error, the rig's own signals, heights."""
    error, height = (tuple(it.name for it in _usual(first) if it.name.startswith(word)) for word in "TH")
    own = [it.name for it in _signals(first, UNSEEN) if it.name not in UNSEEN]
    return (*error, *own[:USUAL], *height)


def _usual(first: Frames) -> list[Trace]:
    found = []
    aimed = first.wanted_position is not None
    if aimed:
        found.append(
            Trace("Tracking error", "mm", (("error", ONE),), 1.0, lambda it: 1e3 * it.error[:, None])
        )

    def heights(it: Frames) -> Reals:
        aim = [] if it.wanted_position is None else [it.wanted_position[:, 2]]
        return np.stack([it.place[:, 2], *aim], axis=1)

    lines = ((first.main_name, ONE), *((("wanted", AIM),) if aimed else ()))
    return [*found, Trace("Heights", "m", lines, 0.2, heights)]


def _signals(first: Frames, last: tuple[str, ...]) -> list[Trace]:
    """The rig's signals that have a unit; those in `last` come last."""
    names = [
        name
        for name, values in first.signals.items()
        if first.units.get(name) and not is_course(name) and values.shape[1]
    ]
    found = []
    for name in sorted(names, key=lambda it: it in last):
        lines = tuple((f"{k}", meshes.colour(k)) for k in range(first.signals[name].shape[1]))
        least = 0.2 if name.endswith(".tension") else 1e-3
        words = "Tensions" if name == "cable.tension" else name
        found.append(Trace(words, first.units[name], lines, least, lambda it, name=name: it.signals[name]))
    return found


def _thrust(rig: RigData) -> list[Trace]:
    """What the vehicles' rotors give, and how fast they turn for it."""
    lines = tuple((f"{k}", meshes.colour(k)) for k in range(rig.count))
    per_rotor = np.array([it.rotor_count * it.thrust_coefficient for it in rig.airframes])

    def speed(it: Frames) -> Reals:
        return np.sqrt(np.maximum(it.thrust, 0.0) / per_rotor)

    return [
        Trace("Thrust", "N", lines, 0.2, lambda it: it.thrust),
        Trace("Rotor speed, mean of each vehicle", "rad/s", lines, 1.0, speed),
    ]


def _bodies(first: Frames) -> list[Trace]:
    """Where every body is, how fast, and how it is turned."""
    found = []
    axes = tuple(zip("xyz", AXES, strict=True))
    angles = tuple(zip(("roll", "pitch", "yaw"), AXES, strict=True))
    for group in ordered(first.bodies):
        count = first.bodies[group].position.shape[1]
        for k in range(count):
            name = people(group, k, count)
            name = name[0].upper() + name[1:]

            def place(it: Frames, group: str = group, k: int = k) -> Reals:
                return it.bodies[group].position[:, k]

            def velocity(it: Frames, group: str = group, k: int = k) -> Reals:
                return rates(it.times, it.bodies[group].position[:, k])

            def turned(it: Frames, group: str = group, k: int = k) -> Reals:
                return np.degrees(np.unwrap(euler_angles(it.bodies[group].attitude[:, k]), axis=0))

            found += [
                Trace(f"{name}, position", "m", axes, 0.1, place),
                Trace(f"{name}, velocity", "m/s", axes, 0.05, velocity),
                Trace(f"{name}, attitude", "deg", angles, 1.0, turned),
            ]
    return sorted(found, key=lambda it: TEAM.removesuffix("s") in it.name.lower())


def rates(times: Reals, values: Reals) -> Reals:
    """How fast values (T, c) change at `times` (s): differences between neighbours; zero for a single one."""
    if len(times) < 2:
        return np.zeros_like(values)
    return np.gradient(values, times, axis=0)
