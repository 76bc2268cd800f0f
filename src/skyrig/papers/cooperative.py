"""Michael, Fink, Kumar: Cooperative manipulation and transportation with aerial robots, run again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from skyrig.errors import InputError
from skyrig.papers import page
from skyrig.papers.cooperative_drawing import NAME, drawn
from skyrig.papers.cooperative_experiments import figure_6, figure_7, figure_10
from skyrig.papers.cooperative_team import LEVEL, PRINTED, team
from skyrig.papers.page import Block, Code, Heading, Items, PageTable, Text
from skyrig.statics import Limits, Pose, direct, spherical, stability, three, workspace

POINTS = Limits(tension_min=0.0, separation=0.0, clearance=0.0, elevation=0.0, stable=False)
"""Robots that are points and may be anywhere above the payload's plane."""
PUSH = 0.3
"""Of the wrench-feasible sets (N)."""

Progress = Callable[[int, int, str], None]


def choose(tables: Sequence[int], figures: Sequence[int]) -> list[int]:
    """The figures that are meant, in order; Table I goes with Fig. 4."""
    for number in tables:
        if number != 1:
            raise InputError(f"--table must be 1, not {number}.")
    for number in figures:
        if number not in SECTIONS:
            listed = ", ".join(str(each) for each in SECTIONS)
            raise InputError(f"--figure must be one of {listed}, not {number}.")
    wanted = {*figures, *(4 for _ in tables)}
    return [number for number in SECTIONS if number in wanted or not wanted]


def reproduce(
    out: Path, tables: Sequence[int] = (), figures: Sequence[int] = (), progress: Progress | None = None
) -> tuple[Path, Path]:
    """Compute and fly what is asked for, and write the page with its pictures.

    Args:
        out: Folder to write to.
        tables: 1, or none.
        figures: Numbers of figures; without tables and figures, everything.
        progress: Told of every section that is done.

    Returns:
        The Markdown page and the HTML page.
    """
    chosen = choose(tables, figures)
    blocks = _opening()
    for k, number in enumerate(chosen):
        if progress is not None:
            progress(k, len(chosen), f"figure {number}")
        blocks += SECTIONS[number](out)
    return page.write([*blocks, *_missing()], out, NAME)


def _opening() -> list[Block]:
    return [
        Heading(1, "Cooperative manipulation, run again"),
        Text(
            "The statics of Michael, Fink and Kumar, *Cooperative manipulation and transportation with "
            "aerial robots* (RSS 2009), next to skyrig's, and their experiments as flights in skyrig's "
            "hybrid simulation. This page is written by a command, numbers and pictures alike:"
        ),
        Code(f"skyrig reproduce {NAME}"),
    ]


def _figure_3(out: Path) -> list[Block]:
    """Workspaces of positive and bounded tension."""
    group, rows = team(), []
    blocks: list[Block] = [Heading(2, "Figure 3: configurations of positive and bounded tension")]
    for letter, roll, pitch in (("level", 0.0, 0.0), ("c", 0.3, 0.0), ("d", 0.3, 0.3)):
        for bound in (0.5, 1.0):
            limits = Limits(**{**vars(POINTS), "tension_max": bound * group.weight, "push": PUSH})
            found = workspace(group, Pose.turned(roll, pitch, 0.0, (0.0, 0.0, 1.0)), limits)
            volumes = [f"{it[0]:.3f} ± {it[1]:.3f}" for it in (found.static_volume, found.volume)]
            rows.append([letter, f"{roll:g}, {pitch:g}", f"{bound:g} m g", *volumes])
            if bound == 0.5:
                calm = workspace(group, found.pose, replace(limits, push=0.0))
                blocks.append(
                    drawn(out, f"figure-03-{letter}", calm, f"Figure 3 ({letter}). Valid tensions.")
                )
    head = (
        "panel",
        "roll, pitch (rad)",
        "tension below",
        "volume in {x1, y1, y2} (1)",
        f"the same with a push of {PUSH:g} N",
    )
    text = (
        "Volumes of the sets 0 < tension < bound in {x1, y1, y2}, robots being points without collisions, "
        "from 200,000 samples each. The paper prints pictures, not volumes; the captions of its panels a and "
        "b are missing from the text we have, so every pose is given with two bounds. The last column is of "
        "the wrench-feasible part: configurations that keep their tensions also under a push of "
        f"{PUSH:g} N on the payload, from any side."
    )
    return [blocks[0], Text(text), PageTable(head, rows), *blocks[1:]]


def _figure_4(out: Path) -> list[Block]:
    """Several equilibria under the same robots, and the eigenvalues of eq. 9."""
    group = team()
    hooks = three(group, Pose.turned(0.1, 0.1, 0.3), (0.2, 0.2, 0.2)).hooks
    rows = []
    for it in direct(group, hooks):
        if it.taut.all():
            try:
                values = ", ".join(f"{each:.2f}" for each in np.linalg.eigvalsh(spherical(it.configuration)))
            except InputError:
                values = "singular"
            hertz = ", ".join(
                "none" if np.isnan(each) else f"{each:.2f}" for each in it.stability.frequencies
            )
            word = "stable" if it.stable else "unstable"
            rows.append([f"{it.energy:.3f}", word, values, hertz, " ".join(f"{t:.2f}" for t in it.tension)])
    calm = sum(row[1] == "stable" for row in rows)
    head = ("energy (J)", "", "eigenvalues of eq. 9 (J)", "natural frequencies (Hz)", "tensions (N)")
    text = (
        "Equilibria with three taut cables under one set of robot positions: those that hold the payload at "
        "roll 0.1, pitch 0.1, yaw 0.3 rad with {x1, y1, y2} = {0.2, 0.2, 0.2}. The positions behind the "
        "paper's Fig. 4(b) and Table I, with five equilibria of which one is stable, are not printed, so its "
        f"rows cannot be compared. Here there are {len(rows)}, {calm} of them stable."
    )
    return [
        Heading(2, "Figure 4 and Table I: equilibria under the same robots"),
        Text(text),
        PageTable(head, rows),
    ]


def _figure_9(out: Path) -> list[Block]:
    group, rows = team(), []
    for panel, normalised in PRINTED.items():
        found = three(group, LEVEL, normalised)
        ours = " ".join(f"{each:.3f}" for each in found.tension / group.weight)
        calm = "yes" if stability(found).stable else "no"
        hertz = ", ".join(f"{each:.3f}" for each in stability(found).frequencies)
        place = ", ".join(f"{each:g}" for each in normalised)
        rows.append([panel, place, ours, f"{found.separation.min():.3f}", calm, hertz])
    head = ("panel", "{x1, y1, y2}", "tension / m g", "least distance (m)", "stable", "frequencies (Hz)")
    limits = Limits(**{**vars(POINTS), "tension_max": 0.5 * group.weight, "separation": 1.0})
    found = workspace(group, LEVEL, limits)
    volume, error = found.volume
    text = (
        "The set of 9(a), tensions below m g / 2 and robots more than 1 m apart, has a volume of "
        f"{volume:.3f} ± {error:.3f}. The paper prints the coordinates of three configurations of it."
    )
    marks = np.array(list(PRINTED.values()))
    shown = drawn(
        out, "figure-09", found, "Figure 9 (a). Valid configurations, the printed ones in black.", marks
    )
    return [
        Heading(2, "Figure 9: three configurations of the level pose"),
        Text(text),
        PageTable(head, rows),
        shown,
    ]


SECTIONS: dict[int, Callable[[Path], list[Block]]] = {
    3: _figure_3,
    4: _figure_4,
    6: figure_6,
    7: figure_7,
    9: _figure_9,
    10: figure_10,
}
"""By figure; 7 stands for 8 too."""


def _missing() -> list[Block]:
    entries = [
        "Table I and Fig. 4(b): the robots' positions are not printed.",
        "Figs. 6 to 8 and 10 are experiments: poses, pokes and failures are ours, of similar size.",
        "The payload's inertia is not printed: ours is that of three thin rods, which sets the frequencies "
        "of turning.",
        "The paper gives fundamental frequencies of around 3 to 5 Hz. Upright cables of 1 m swing at 0.5 Hz, "
        "and the configurations above at 0.5 to 1.3 Hz, which is 3 to 8 rad/s: was the unit rad/s?",
    ]
    return [Heading(2, "What cannot be reproduced"), Items(entries)]
