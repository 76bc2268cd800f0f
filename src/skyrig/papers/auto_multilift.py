"""Auto-Multilift's figure-8, run again: `skyrig reproduce auto-multilift`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from skyrig.errors import InputError
from skyrig.papers import page
from skyrig.papers.auto_multilift_figures import NAME, errors, tensions, training, training_losses
from skyrig.papers.auto_multilift_flight import DURATION, SWEEPS, SampledFlight, flown, stored_flight
from skyrig.papers.auto_multilift_plans import planned
from skyrig.papers.page import Block, Code, Heading, Items, PageTable, Text
from skyrig.runs import fly
from skyrig.scenario import load
from skyrig.turns import turn

SCENARIO = "six-multilift-figure-8"
FIGURES = 3
VARIANTS = {"cl": "closed-loop gradients", "ol": "open-loop gradients", "clnc": "no coupling"}
Progress = Callable[[int, int, str], None]


def choose(tables: Sequence[int], figures: Sequence[int]) -> tuple[list[int], list[int]]:
    """The one table and the three figures there are, or an `InputError` for another."""
    for noun, asked, most in (("table", tables, 1), ("figure", figures, FIGURES)):
        if any(not 1 <= number <= most for number in asked):
            there = "1, the only one" if most == 1 else f"1 to {most}, those"
            raise InputError(f"--{noun} must be {there} of {NAME}.")
    return [1], list(range(1, FIGURES + 1))


def reproduce(
    out: Path, tables: Sequence[int] = (), figures: Sequence[int] = (), progress: Progress | None = None
) -> tuple[Path, Path]:
    """Fly the figure-8 again and write the page, its figures and its data.

    Args:
        out: Folder to write to.
        tables: 1, or nothing.
        figures: 1 to 3, or nothing.
        progress: Told of every flight that is done.
    """
    choose(tables, figures)
    told = progress or (lambda done, total, label: None)
    rows = [(f"stored, {words}", stored_flight(variant)) for variant, words in VARIANTS.items()]
    told(0, 3, "their plant, nets and sweeps")
    rows.append(("their plant and nets (closed-loop gradients), skyrig's solver", flown("cl")))
    told(1, 3, "their plant, skyrig's plans")
    rows.append(("their plant, skyrig's plans", planned(load(SCENARIO))))
    told(2, 3, SCENARIO)
    rows.append((f"skyrig: `skyrig fly {SCENARIO}`", ours()))
    told(3, 3, "done")
    losses = training_losses()
    blocks = [
        *_opening(),
        PageTable(*_table(rows)),
        Heading(2, "Errors over time"),
        errors(rows, out),
        Heading(2, "Tensions over time"),
        tensions(rows, out),
        Heading(2, "How its nets learned"),
        Text(_learned(losses)),
        training(losses, VARIANTS),
        *_notes(rows),
    ]
    return page.write(blocks, out, NAME)


def ours() -> SampledFlight:
    """The bundled scenario's flight, at the same instants."""
    scenario = load(SCENARIO)
    flight = fly(scenario)
    times = np.arange(round(DURATION / 0.02)) * 0.02
    index = np.clip(np.searchsorted(flight.times, times - 1e-9), 0, len(flight.times) - 1)
    path = scenario.motions.payload
    assert path is not None
    wanted = path.sample(times)
    tension = np.asarray(flight.cables.tension)[index]
    planned = np.full(tension.shape, np.nan)
    place, turned = (np.asarray(it)[index] for it in (flight.payload.position, flight.payload.attitude))
    return SampledFlight(times, np.asarray(wanted.position)[:, 0], place, turned, tension, planned)


def euler(attitude: np.ndarray) -> np.ndarray:
    """Roll, pitch, yaw (degrees) as the public code takes them: R = Rx Rz Ry."""
    x, y, z = (turn(attitude, np.broadcast_to(axis, (len(attitude), 3))) for axis in np.eye(3))
    angles = [np.arctan(y[:, 2] / y[:, 1]), np.arctan(z[:, 0] / x[:, 0]), np.arcsin(-y[:, 0])]
    return np.rad2deg(np.stack(angles, axis=1))


def _rms(values: np.ndarray) -> np.ndarray:
    return np.sqrt(np.mean(values**2, axis=0))


def _table(rows: Sequence[tuple[str, SampledFlight]]) -> tuple[list[str], list[list[str]]]:
    head = ["flight", "x, y, z (m)", "norm (m)", "largest (m)", "roll, pitch, yaw (degrees)", "tension (N)"]
    found = []
    for label, it in rows:
        distance = np.linalg.norm(it.error, axis=1)
        late = it.times > 1.0
        found.append(
            [
                label,
                ", ".join(f"{value:.3f}" for value in _rms(it.error)),
                f"{_rms(distance):.3f}",
                f"{distance.max():.3f}",
                ", ".join(f"{value:.2f}" for value in _rms(euler(it.attitude))),
                f"{it.tension[late].min():.1f} to {it.tension[late].max():.1f}",
            ]
        )
    return head, found


def _opening() -> list[Block]:
    return [
        Heading(1, "Auto-Multilift's figure-8, run again"),
        Text(
            "Auto-Multilift (Wang et al., arXiv 2406.04858) plans with one model predictive controller for "
            "each of six quadrotors and one for the load of 7 kg, whose weights come from small nets that "
            "were trained through the closed loop. Its public code (MIT licence) stores flights of a "
            "figure-8 at up to 3.9 m/s. This page is written by a command, numbers and pictures alike:"
        ),
        Code("skyrig reproduce auto-multilift"),
        Text(
            "Root mean squares over the whole flight at 50 Hz; tensions are actual ones after the first "
            "second. The fourth row is the public code's problem (its plant, lag, thrust correction, nets, "
            f"{SWEEPS} sweeps from the reference at every instant) with skyrig's solver in place of acados. "
            "The fifth has the same plant and lag, from the same start, and plans as skyrig's scenario has "
            "them: hand-tuned weights, no nets, references that follow from the load's motion, three sweeps "
            "that begin from the last plans, no thrust correction. The last row is that scenario as it is, "
            "on elastic cables of the same stiffness: rotors follow at once, from hover."
        ),
    ]


def _learned(losses: dict[str, list[np.ndarray]]) -> str:
    ends = {kind: [run[-1] / 1e6 for run in runs if run[-1] < 1e6] for kind, runs in losses.items()}
    said = "; ".join(
        f"{VARIANTS[kind]}: {len(it)} of {len(losses[kind])} runs end below a million, at {min(it):.2f} to "
        f"{max(it):.2f} million"
        for kind, it in ends.items()
    )
    return (
        f"From five start nets each, on a circle with a load of 10 kg. {said[0].upper() + said[1:]}. "
        "How skyrig's own nets learn, by the same three gradients, is told in [Plans](mpc.md)."
    )


def _notes(rows: Sequence[tuple[str, SampledFlight]]) -> list[Block]:
    theirs, again = rows[0][1], rows[3][1]
    apart = np.linalg.norm(theirs.position - again.position, axis=1).max()
    return [
        Heading(2, "How near the two codes are"),
        Text(
            f"Their stored flight and the same problem solved by skyrig are {1e3 * apart:.1f} mm apart at "
            "most over the whole flight."
        ),
        Heading(2, "What the public code does that its paper does not say"),
        Items(
            [
                "Its solver multiplies the costs of stages by 0.02, and leaves that of the end as it is.",
                "Five sweeps do not converge: plans still change by tenths of a newton.",
                "Every control instant begins from the reference, moved on by one step.",
                "The load's velocity in its own frame is compared with a reference in the world's.",
                "A correction of the thrust grows with the four steps of a control period.",
            ]
        ),
    ]
