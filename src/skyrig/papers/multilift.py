"""The multilift report's results, run again: `skyrig reproduce multilift`."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from skyrig.errors import InputError
from skyrig.flight.storage import write_whole
from skyrig.papers import page
from skyrig.papers.multilift_cables import DAMPING, STEP, STIFFNESS, Drop, single, six
from skyrig.papers.multilift_flight import MOMENTS, PATH, flown, followed, moment, path, scenario
from skyrig.papers.page import Block, Code, Heading, Items, PageTable, Picture, Text

NAME = "multilift"
SINGLE = {8: 0.1, 9: 0.5, 10: 1.0, 11: 5.0}
"""Weight of each figure with one cable (kg)."""
SIX = {12: 6.0, 13: 30.0, 14: 60.0}
"""Weight of each figure with six cables (kg)."""
PRINTED = {0.1: ("1.000e5", "0.0"), 0.5: ("1.000e5", "0.0"), 1.0: ("9.995e4", "0.5"), 5.0: ("9.978e4", "2.2")}
"""Table 1: stiffness (N/m) and relative error (%), as printed, by weight (kg)."""
FLIGHT = (*MOMENTS, PATH)
"""Figures of the flight."""
SEGMENTS = (10, 20)
Progress = Callable[[int, int, str], None]


def choose(tables: Sequence[int], figures: Sequence[int]) -> tuple[list[int], list[int]]:
    """The tables and figures that are meant, in order, or an `InputError` if there is no such one."""
    known = [*SINGLE, *SIX, *FLIGHT]
    if not tables and not figures:
        return [1], known
    return _known("table", tables, [1]), _known("figure", figures, known)


def reproduce(
    out: Path, tables: Sequence[int] = (), figures: Sequence[int] = (), progress: Progress | None = None
) -> tuple[Path, Path]:
    """Fly what is asked for and write the page, its figures and their data.

    Args:
        out: Folder to write to: multilift.md, multilift.html, and a folder multilift with pictures and data.
        tables: Numbers of tables: 1.
        figures: Numbers of figures, 8 to 18. Without tables and figures, everything.
        progress: Told of every flight that is done.

    Returns:
        The Markdown page and the HTML page.
    """
    some_tables, some_figures = choose(tables, figures)
    wanted = [(single, mass, n) for mass in SINGLE.values() for n in SEGMENTS] if some_tables else []
    wanted += [(single, SINGLE[it], SEGMENTS[0]) for it in some_figures if it in SINGLE]
    wanted += [(six, SIX[it], SEGMENTS[0]) for it in some_figures if it in SIX]
    wanted = list(dict.fromkeys(wanted))
    flight = any(it in FLIGHT for it in some_figures)
    found, count = {}, len(wanted) + flight
    for k, ask in enumerate(wanted):
        fly, mass, n = ask
        found[ask] = fly(mass, n)
        if progress is not None:
            progress(k + 1, count, f"{mass:g} kg, {n} segments")
    blocks = _opening()
    if some_tables:
        blocks += _table([found[single, mass, n] for mass in SINGLE.values() for n in SEGMENTS])
    if some_figures:
        blocks.append(Heading(2, "Figures"))
    if any(it in SIX for it in some_figures):
        blocks += _overshoots([found[six, SIX[it], SEGMENTS[0]] for it in some_figures if it in SIX])
    for number in (it for it in some_figures if it not in FLIGHT):
        fly, mass = (single, SINGLE[number]) if number in SINGLE else (six, SIX[number])
        blocks += _figure(number, found[fly, mass, SEGMENTS[0]], out)
    if flight:
        blocks += _flight([it for it in some_figures if it in FLIGHT], out)
        if progress is not None:
            progress(count, count, "take-off and circle")
    return page.write([*blocks, *_slips()], out, NAME)


def _opening() -> list[Block]:
    return [
        Heading(1, "The multilift report's cables, run again"),
        Text(
            "The cable tests of a report on software-in-the-loop multilift (Gao, National University of "
            "Singapore, 2025, section 4.1), which ran them on Isaac Sim's PhysX, next to skyrig's "
            f"elastic cables at steps of {1e3 * STEP:g} ms. Every cable has {STIFFNESS:g} N/m and "
            f"{DAMPING:g} N s/m as a whole; a weight is let go at rest on unstretched cables. "
            "This page is written by a command, numbers and pictures alike:"
        ),
        Code("skyrig reproduce multilift"),
    ]


def _table(drops: Sequence[Drop]) -> list[Block]:
    rows = []
    for it in drops:
        stiffness, error = PRINTED[it.mass]
        off = 100 * abs(it.stiffness / STIFFNESS - 1)
        ours = [f"{it.stiffness:.7g}", f"{off:.5f}", f"{100 * it.error:.3f}"]
        rows.append([f"{it.mass:g}", str(it.segments), stiffness, error, *ours])
    head = ["weight (kg)", "segments", "printed (N/m)", "printed error (%)"]
    head += ["skyrig (N/m)", "error (%)", "fall against theory, RMS (%)"]
    return [
        Heading(2, "Table 1"),
        Text(
            "Stiffness by the weight over its fall in the end, which the cable's own weight is taken out of."
        ),
        PageTable(head, rows),
    ]


def _overshoots(drops: Sequence[Drop]) -> list[Block]:
    rows = [
        [
            f"{it.mass:g}",
            f"{100 * it.ideal_overshoot:.2f}",
            f"{100 * it.overshoot:.2f}",
            f"{100 * it.error:.3f}",
        ]
        for it in drops
    ]
    head = ["weight (kg)", "overshoot by theory (%)", "skyrig (%)", "fall against theory, RMS (%)"]
    return [Text("Six cables, 30 degrees from the vertical."), PageTable(head, rows)]


def _figure(number: int, drop: Drop, out: Path) -> list[Block]:
    stream = io.BytesIO()
    np.savez_compressed(stream, time=drop.times, fall=drop.fall, theory=drop.theory)
    write_whole(out / NAME / f"figure-{number:02d}.npz", stream.getvalue())
    cables = "Six cables" if number in SIX else "A single cable"
    caption = f"Figure {number}. {cables} with {drop.mass:g} kg: fall, and the ideal second-order response."
    return [
        Heading(3, f"Figure {number}"),
        Picture(f"{NAME}/figure-{number:02d}.png", _drawn(drop), caption),
    ]


def _flight(numbers: Sequence[int], out: Path) -> list[Block]:
    """Section 4.2."""
    told = scenario()
    write_whole(out / NAME / f"{told.name}.yaml", told.to_yaml().encode())
    flight = flown(told)
    found = followed(flight)
    rows = [
        ["mean distance of the vehicles from their paths (cm)", "below 3", f"{100 * found.mean:.2f}"],
        ["largest distance (cm)", "-", f"{100 * found.most:.2f}"],
        ["largest deviation of yaw (degrees)", "1", f"{np.degrees(found.yaw):.2f}"],
    ]
    blocks: list[Block] = [
        Heading(2, "The flight"),
        Text(
            f"Section 4.2, flown as the scenario {NAME}/{told.name}.yaml: six vehicles stand around a load, "
            "take off with slack cables, draw them taut, lift the load, hover, and fly round a circle of 5 m "
            "at 0.2 rad/s, nose ahead. Each follows a path of its own, in formation, by skyrig's controller "
            f"for single vehicles, which learns the load. Up to {found.slack:.0%} of the cables are slack at "
            f"once at take-off; the load leaves the floor after {found.lifted:.1f} s. "
            "The table is of the circle."
        ),
        PageTable(["", "printed", "skyrig"], rows),
    ]
    for number in numbers:
        if number == PATH:
            words, image = "The path of vehicle 0, seen from above.", path(flight)
        else:
            said, time = MOMENTS[number]
            words, image = f"{said}, {time:g} s after the start.", moment(flight, time)
        blocks.append(Heading(3, f"Figure {number}"))
        name = f"{NAME}/figure-{number:02d}.png"
        blocks.append(Picture(name, image, f"Figure {number}. {words}"))
    return blocks


def _drawn(drop: Drop) -> bytes:
    import matplotlib
    from matplotlib.figure import Figure

    from skyrig.flight.plots import COLOURS, STYLE

    with matplotlib.rc_context(STYLE | {"figure.constrained_layout.use": True}):
        figure = Figure(figsize=(6.4, 2.8))
        axis = figure.subplots()
        axis.plot(drop.times, 1e3 * drop.theory, color="#BBBBBB", linewidth=4.0, label="theory")
        axis.plot(drop.times, 1e3 * drop.fall, color=COLOURS[0], linewidth=1.3, label="skyrig")
        axis.set_xlabel("time (s)")
        axis.set_ylabel("fall (mm)")
        axis.legend(loc="lower right")
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=120)
    return stream.getvalue()


def _slips() -> list[Block]:
    entries = [
        "Table 1's relative errors are ten times what its own stiffness column gives: 9.978e4 is 0.22 % off, "
        "not 2.2 %.",
        "The text sees a mild overshoot of the 6 kg weight on six cables; its damping ratio is 1.37, and an "
        "overdamped spring cannot overshoot.",
        "Section 4.2 calls 5 m at 0.2 rad/s 2 m/s; it is 1 m/s. It prints no masses, lengths or gains, and "
        "does not say whether the vehicles' circles have one centre; ours fly in formation.",
        "The cables' lengths, masses and segments are not printed; ours have 1 m, 0.2 g, and 10 or 20.",
    ]
    return [Heading(2, "What the report prints wrongly, or not at all"), Items(entries)]


def _known(noun: str, asked: Sequence[int], known: list[int]) -> list[int]:
    for number in asked:
        if number not in known:
            listed = ", ".join(str(each) for each in known)
            raise InputError(f"--{noun} must be one of {listed}, not {number}.")
    return sorted(set(asked))
