"""Grasps of the soft aerial manipulator: maps of where they may start, and what the paper leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skyrig.papers import soft_flights as flights
from skyrig.papers.page import Block, Heading, PageTable, Picture, Text
from skyrig.papers.soft_drawing import maps
from skyrig.papers.soft_flights import SOFT, STIFF, GraspFlight, Tell

LEAST = 0.25
"""Height above which fingertips start above the target (m)."""
WORDS = {SOFT: "soft (2e4 Pa)", STIFF: "stiff (2e5 Pa)"}


@dataclass(frozen=True)
class Size:
    """How much is flown."""

    targets: int
    """Of fig. 6."""
    heavy: int
    """Targets of fig. 7, for each density."""
    xs: tuple[float, ...]
    """Of figs. 8 and 9 (m)."""
    zs: tuple[float, ...]
    """m."""


def _map(
    size: Size, tell: Tell, like: GraspFlight, name: str, caption: str
) -> tuple[list[Sequence[str]], Picture]:
    found, rows = {}, []
    for young, word in WORDS.items():
        asked = [replace(like, x=x, z=z, young=young) for z in size.zs for x in size.xs]
        outcomes = flights.grasps(asked, tell, f"{name}, {word}")
        found[word] = {(it.x, it.z): outcome.held for it, outcome in outcomes.items()}
        above = [outcome.held for it, outcome in outcomes.items() if it.z > LEAST]
        far = [outcome.held for it, outcome in outcomes.items() if it.z > LEAST and it.x > 0.3]
        speed = np.nanmedian([it.knocked for it in outcomes.values()])
        press = np.nanmedian([it.pressed for it in outcomes.values()])
        off = np.nanmax([it.off for it in outcomes.values()])
        held = sum(outcome.held for outcome in outcomes.values())
        rows.append(
            [
                word,
                f"{held} of {len(outcomes)}",
                f"{sum(above)} of {len(above)}",
                f"{sum(far)} of {len(far)}",
                f"{speed:.2f}",
                f"{press:.2f}",
                f"{1e3 * off:.0f}",
            ]
        )
    return rows, maps(name, found, LEAST, caption)


def _said(rows: Sequence[Sequence[str]]) -> str:
    """What came of both, in one sentence."""
    soft, stiff = rows
    return f"Here soft fingers hold in {soft[1]}, stiff ones in {stiff[1]}."


HEAD = (
    "fingers",
    "held",
    f"of those from z > {LEAST:g} m",
    "of those from x > 0.3 m too",
    "target's largest speed (m/s, median)",
    "largest press (N, median)",
    "vehicle off at t_g (mm, most)",
)


def figure_8(size: Size, tell: Tell) -> list[Block]:
    """Objective C1, at rest at the grasp."""
    rows, shown = _map(
        size, tell, GraspFlight(0.0, 0.0), "figure-08", "Figure 8. Held (green) or not (red), objective C1."
    )
    text = (
        "A can of 50 g, objective C1, at rest at the grasp, a set-point 0.2 m above the target; x and z are "
        f"measured from the target's middle. The grid is {len(size.xs)} by {len(size.zs)}; the text of the "
        "paper does not print its own. There the soft gripper holds for all z > 0.25 m, the stiff one fails "
        "for all x > 0.3 m. " + _said(rows)
    )
    return [Heading(2, "Figure 8: where a grasp at rest may start"), Text(text), PageTable(HEAD, rows), shown]


PASSED = GraspFlight(
    0.0,
    0.0,
    approach="surround",
    mass=0.01,
    velocity=(0.5, 0.0, -0.125),
    arrives=2.5,
    above=0.16,
    squeeze=0.015,
)
"""A grasp at speed."""


def figure_9(size: Size, tell: Tell) -> list[Block]:
    """Objective C2, at speed."""
    rows, shown = _map(
        size, tell, PASSED, "figure-09", "Figure 9. Held (green) or not (red), objective C2, at speed."
    )
    text = (
        "A can of 10 g, objective C2, passed at (0.5, 0, -0.125) m/s. In the paper the soft gripper holds "
        "wherever its fingertips pass above the target, the stiff one fails from farther away. "
        + _said(rows)
        + " The fingers begin to close when the bases of the leading ones are above the target, as in the "
        "paper's section V-C: 0.1 s before t_g. Sooner, and all four come down behind it and push it along. "
        f"The vehicle passes {PASSED.above:g} m above the target's middle at t_g = {PASSED.arrives:g} s, and "
        f"the inner tendons are pulled {PASSED.squeeze:g} m further after it."
    )
    return [
        Heading(2, "Figure 9: where a grasp at speed may start"),
        Text(text),
        PageTable(HEAD, rows),
        shown,
    ]


VARIED = {
    "as in figure 8": {},
    "t_g = 1.5 s": {"arrives": 1.5},
    "t_g = 1.75 s": {"arrives": 1.75},
    "friction 0.6": {"friction": 0.6},
    "target of 150 g": {"mass": 0.15},
    "a ball": {"shape": "ball"},
    "a box": {"shape": "box"},
    "a wedge": {"shape": "wedge"},
    "tendons of 5e3 N/m": {"tendon_stiffness": 5e3},
    "nine segments a finger": {"slices": 9},
}
"""What the paper leaves open of a grasp at rest, one at a time."""
VARIED_PASSING = {
    "as in figure 9": {},
    "fingers close 0.3 s before t_g": {"closing": 0.3},
    "0.15 m above the target": {"above": 0.15},
    "0.17 m above the target": {"above": 0.17},
    "pulled on by 0.03 m": {"squeeze": 0.03},
    "t_g = 2 s": {"arrives": 2.0},
    "friction 0.6": {"friction": 0.6},
    "target of 50 g": {"mass": 0.05},
    "a ball": {"shape": "ball"},
    "a box": {"shape": "box"},
}
"""The same of a grasp at speed."""


def left_open(size: Size, tell: Tell) -> list[Block]:
    """Two grasps with one thing changed at a time."""
    at_rest, passing = GraspFlight(0.5, 0.35), replace(PASSED, x=0.4, z=0.35)
    return [
        Heading(2, "What the paper leaves open"),
        Text("A grasp at rest, from x = 0.5 m and z = 0.35 m, with one thing changed at a time."),
        _changed(at_rest, VARIED, tell),
        Text("A grasp at speed, from x = 0.4 m and z = 0.35 m."),
        _changed(passing, VARIED_PASSING, tell),
    ]


def _changed(like: GraspFlight, changes: Mapping[str, Mapping[str, Any]], tell: Tell) -> PageTable:
    """What comes of a grasp, soft and stiff, after each change."""
    rows = []
    asked = [replace(like, young=young, **change) for change in changes.values() for young in WORDS]
    found = flights.grasps(asked, tell, "what is left open")
    for word, change in changes.items():
        cells = []
        for young in WORDS:
            it = found[replace(like, young=young, **change)]
            cells += ["held" if it.held else "failed", f"{it.knocked:.2f}"]
        off = found[replace(like, **change)].off
        rows.append([word, *cells, f"{1e3 * off:.0f}"])
    head = (
        "changed",
        "soft",
        "target's speed (m/s)",
        "stiff",
        "target's speed (m/s)",
        "vehicle off at t_g (mm)",
    )
    return PageTable(head, rows)
