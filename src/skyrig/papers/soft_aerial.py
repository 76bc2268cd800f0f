"""Fishman and Carlone: Control and trajectory optimization for soft aerial manipulation, run again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from skyrig.errors import InputError
from skyrig.papers import page
from skyrig.papers import soft_flights as flights
from skyrig.papers.page import Block, Code, Heading, Items, PageTable, Text
from skyrig.papers.soft_drawing import NAME, errors, fingers
from skyrig.papers.soft_flights import Tell
from skyrig.papers.soft_grasps import VARIED, VARIED_PASSING, Size, figure_8, figure_9, left_open

Progress = Callable[[int, int, str], None]


def _row(begin: float, end: float, step: float) -> tuple[float, ...]:
    return tuple(np.round(np.arange(begin, end + step / 2, step), 3).tolist())


QUICK = Size(20, 6, _row(0.1, 0.7, 0.1), _row(0.15, 0.45, 0.05))
FULL = Size(20, 20, _row(0.1, 0.7, 0.05), _row(0.15, 0.45, 0.025))


def choose(tables: Sequence[int], figures: Sequence[int]) -> list[int]:
    """The figures that are meant, in order; 1 stands for what the paper leaves open."""
    if tables:
        raise InputError("--table cannot be given: the paper has no tables.")
    for number in figures:
        if number not in SECTIONS:
            listed = ", ".join(str(each) for each in SECTIONS)
            raise InputError(f"--figure must be one of {listed}, not {number}.")
    return [number for number in SECTIONS if number in figures or not figures]


def reproduce(
    out: Path,
    tables: Sequence[int] = (),
    figures: Sequence[int] = (),
    progress: Progress | None = None,
    full: bool = False,
) -> tuple[Path, Path]:
    """Compute and fly what is asked for, and write the page with its pictures.

    Args:
        out: Folder to write to.
        tables: None; the paper has none.
        figures: Numbers of figures; everything if left out.
        progress: Told of every flight that is done.
        full: Whether maps are as fine as `FULL` says, or as `QUICK` does.

    Returns:
        The Markdown page and the HTML page.
    """
    chosen, size = choose(tables, figures), FULL if full else QUICK
    done, total = 0, sum(COUNTS[number](size) for number in chosen)

    def tell(label: str) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total, label)

    blocks = _opening(size)
    for number in chosen:
        blocks += SECTIONS[number](size, tell)
    return page.write([*blocks, *_open_ends()], out, NAME)


def _opening(size: Size) -> list[Block]:
    flown = "skyrig reproduce " + NAME + (" --full" if size is FULL else "")
    return [
        Heading(1, "Soft aerial manipulation, run again"),
        Text(
            "The simulations of Fishman and Carlone, *Control and Trajectory Optimization for Soft Aerial "
            "Manipulation* (IEEE Aerospace Conference 2021), who flew them in SOFA, next to skyrig's. This "
            "page is written by a command, numbers and pictures alike:"
        ),
        Code(flown),
        Text(
            "`--full` flies maps twice as fine. Fingers fly as reduced rods "
            "([soft fingers](soft.md)) where nothing else is said, with the paper's controller and gains. "
            "Where the paper gives no number, ours are below, and so is what they do."
        ),
    ]


def _figure_4(size: Size, tell: Tell) -> list[Block]:
    """The two objectives of the approach, and section VI-D's timing."""
    from skyrig import soft
    from skyrig.soft.gripper import in_body
    from skyrig.soft.surface import edges

    ring = soft.Gripper.build()
    target, shapes, rows = (0.12, 0.0, -0.2), {}, []
    for word, cost in (("C1 (eq. 7)", "spread"), ("C2 (eq. 8)", "surround"), ("C_grasp (eq. 6)", "grasp")):
        aim = target if cost != "grasp" else (0.0, 0.0, -0.15)
        soft.lengths_for(ring, cost, aim)
        began = time.process_time()
        found = soft.lengths_for(ring, cost, aim)
        spent = time.process_time() - began
        at = soft.shape(ring, found.lengths).blocks
        around = edges(ring.finger, at)
        flat = in_body(ring, around.reshape((ring.fingers, -1, 3))).reshape(around.shape)
        shapes[word] = (np.asarray(flat), np.asarray(aim))
        rows.append([word, f"{spent:.2f}", str(int(found.steps)), "yes" if found.found else "no"])
        tell(word)
    both = float(rows[0][1]) + float(rows[2][1])
    text = (
        "Seen from the side, in the vehicle's frame: far from the target (C1), around it (C2), and closed. "
        f"Lengths for the approach and the grasp of all four fingers take {both:.2f} s of processor time "
        "once compiled; the paper's C++ needs about 1 s for a sequence (section VI-D)."
    )
    head = ("objective", "processor time (s)", "steps of the search", "found")
    shown = fingers(shapes, "Figure 4. Fingers from the side, the target in red.")
    return [
        Heading(2, "Figure 4 and section VI-D: objectives and their time"),
        Text(text),
        shown,
        PageTable(head, rows),
    ]


def _fallen(tracks: Sequence[flights.JumpErrors]) -> tuple[float, float]:
    """When the mean error has fallen by 95 % for good (s), and the largest error in the end (m)."""
    rows = np.stack([it.position for it in tracks])
    mean, times = rows.mean(0), tracks[0].times
    above = np.flatnonzero(mean > 0.05 * mean[0])
    settled = float(times[min(above[-1] + 1, len(times) - 1)])
    return (settled if above[-1] + 1 < len(times) else np.nan), float(rows[:, -1].max())


def _figure_6(size: Size, tell: Tell) -> list[Block]:
    tracks = flights.jumps(250.0, size.targets, tell)
    settled, left = _fallen(tracks)
    text = (
        f"{size.targets} targets on a circle of 1 m, drawn by chance. The mean position error has fallen by "
        f"95 % after **{settled:.2f} s** (paper: 1.3 s), and is {1e3 * left:.1f} mm at most after 5 s. "
        "The attitude's error is shown as the sine of the tilt, for the wanted attitude ends level."
    )
    shown = errors("figure-06", {"250": tracks}, "Figure 6. Means and standard deviations, 250 kg/m^3.")
    return [Heading(2, "Figure 6: a target 1 m away"), Text(text), shown]


def _figure_7(size: Size, tell: Tell) -> list[Block]:
    groups = {f"{density:g}": flights.jumps(density, size.heavy, tell, SLACK) for density in DENSITIES}
    rows = []
    for word, tracks in groups.items():
        settled, left = _fallen(tracks)
        most = max(float(it.position[it.times > 1.0].max()) for it in tracks)
        fallen = f"{settled:.2f}" if np.isfinite(settled) else "later than 5"
        rows.append([word, f"{tracks[0].hangs:.2f}", fallen, f"{most:.3f}", f"{left:.4f}"])
    head = (
        "density (kg/m^3)",
        "fingers hang down by (m)",
        "mean error down by 95 % for good (s)",
        "most after 1 s (m)",
        "most after 5 s (m)",
    )
    text = (
        f"The same with fingers from a tenth of helium's density to five times lead's, {size.heavy} targets "
        "each; the paper flies 1e-2, 1e3 and 1e5 kg/m^3 and says that all converge within 5 s. Fingers of "
        "1e5 kg/m^3 weigh 45 kg together, below a vehicle of 1 kg. Rubber of 2e4 Pa cannot hold that: the "
        "fingers stretch to many times their length. Tendons that held it would crush it, so they are let "
        "out here, for all densities."
    )
    shown = errors("figure-07", groups, "Figure 7. Means and standard deviations, by density (kg/m^3).")
    return [
        Heading(2, "Figure 7: fingers light and heavy"),
        Text(text),
        PageTable(head, rows),
        shown,
    ]


DENSITIES = (1e-2, 1e3, 1e4, 1e5)
"""Of fig. 7 (kg/m^3)."""
SLACK = 1e-2
"""Stiffness of tendons that are let out (N/m)."""
SECTIONS: dict[int, Callable[[Size, Tell], list[Block]]] = {
    4: _figure_4,
    6: _figure_6,
    7: _figure_7,
    8: figure_8,
    9: figure_9,
    1: left_open,
}
"""By figure; 1 stands for what the paper leaves open."""
COUNTS: dict[int, Callable[[Size], int]] = {
    4: lambda size: 3,
    6: lambda size: size.targets,
    7: lambda size: len(DENSITIES) * size.heavy,
    8: lambda size: 2 * len(size.xs) * len(size.zs),
    9: lambda size: 2 * len(size.xs) * len(size.zs),
    1: lambda size: 2 * (len(VARIED) + len(VARIED_PASSING)),
}
"""How many flights or searches each takes."""


def _open_ends() -> list[Block]:
    entries = [
        "The mesh: theirs is of linear tetrahedra, of a size that is not printed; ours are quadratic "
        "hexahedra, and rods fitted to them. Figures 6 and 7 have three elements a finger.",
        "Friction: 1.2 of fingers on the target, 0.5 on the ground. The target: a can 0.06 m across and "
        "0.08 m high. Tendons: 1e3 N/m. Not printed in the paper.",
        f"At rest, the time to the grasp, t_g: {flights.ARRIVES:g} s. The set-point above the target is "
        "passed when two thirds of it are over. The fingers close in the last 0.3 s. The vehicle is 0.15 m "
        "above the target's middle at the grasp, and the inner tendons are pulled 0.03 m further after it. "
        "At speed other numbers hold, printed with figure 9.",
        f"Damping: a viscosity of {flights.VISCOSITY:g} Pa s, soft or stiff.",
        "Rotors: the paper's vehicle pushes and turns as asked. In figure 6 ours has strong rotors "
        "3 m out, which do the same; in the grasps those of `soft-drone`.",
        "A grasp holds if the target is lifted by half of the way at least and held by two fingers or more, "
        "off the ground, all of the last half second.",
    ]
    return [Heading(2, "What was chosen here"), Items(entries)]
