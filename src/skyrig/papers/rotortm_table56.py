"""RotorTM's Tables V and VI: transport and turning, simulation next to what the paper flew for real."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from skyrig.papers.page import Block, Heading, Items, PageTable, Text
from skyrig.papers.rotortm_flights import (
    FULL,
    PUBLISHED,
    STILL,
    Ask,
    KeptFlight,
    printed,
    rig_label,
    task_label,
)

TRANSPORT = {"cables-1m": "circle-6", "bar": "slalom-13"}
"""Which task each rig of Table V flies; the bar's is a stand-in."""
TURNS = ("roll", "pitch", "yaw")

Results = Mapping[Ask, KeptFlight]


def asks_5() -> Iterator[Ask]:
    """The flights of Table V."""
    for rig, task in TRANSPORT.items():
        yield from (Ask(rig, task, flavour) for flavour in (PUBLISHED, FULL))


def asks_6() -> Iterator[Ask]:
    """The flights of Table VI."""
    for task in TURNS:
        yield from (Ask("cables-1m", task, flavour) for flavour in (PUBLISHED, FULL, STILL))


def blocks_5(found: Results) -> list[Block]:
    """Table V and what is to be said about it."""
    rows = []
    for rig, task in TRANSPORT.items():
        theirs, ours = printed()["table-5"][rig], found[Ask(rig, task, PUBLISHED)].errors
        full = found[Ask(rig, task, FULL)].errors["whole"].axes
        for k, axis in enumerate("xyz"):
            cruise = f"{ours['cruise'].axes[k]:.3g}" if "cruise" in ours else ""
            label = f"{rig_label(rig)}: {task_label(task)}" if k == 0 else ""
            numbers = [f"{theirs[column][k]:g}" for column in ("simulation", "real")]
            rows.append([label, axis, *numbers, f"{ours['whole'].axes[k]:.3g}", cruise, f"{full[k]:.2g}"])
    norm = float(np.linalg.norm(printed()["table-5"]["cables-1m"]["simulation"]))
    three = printed()["table-3"]["clean"]["cables"]["circle-6"][0]
    bar = found[Ask("bar", "slalom-13", PUBLISHED)].errors["whole"]
    high = printed()["table-5"]["cables-1m"]["simulation"][2]
    own = found[Ask("cables-1m", "circle-6", PUBLISHED)].errors["whole"].axes[2]
    head = ("flight", "axis", "paper, simulated", "paper, real", "as published", "its cruise only", "full")
    return [
        Heading(2, "Table V: transport, axis by axis"),
        Text(
            "Root mean square of the payload's position error along each axis (m). Real flights are quoted."
        ),
        PageTable(head, rows),
        Items(
            [
                f"The paper's simulated circle has the norm {norm:.3f} m here and {three:g} m in its Table "
                "III, for the same words: its windows or its cables differ from table to table.",
                "**The bar flies a stand-in.** The waypoints of the paper's flight are not printed, so the "
                "slalom of 13 s is flown in their place; the row shows what two rigidly linked vehicles do, "
                "and its numbers are not to be compared with the paper's one by one. Theirs stray by "
                f"{np.linalg.norm(printed()['table-5']['bar']['simulation']):.3f} m, ours by "
                f"{bar.position:.3f} m, with {bar.attitude:.2f}° of tilt where the acceleration alone "
                f"demands {bar.floor:.2f}°.",
                f"On the circle the paper's height errs by {high:g} m, ours as published by {own:.2g} m: "
                "that path is level, and the equations couple it with height only in second order.",
            ]
        ),
    ]


def blocks_6(found: Results) -> list[Block]:
    """Table VI and what is to be said about it."""
    rows = []
    for k, task in enumerate(TURNS):
        theirs = printed()["table-6"][task]
        ours = [
            found[Ask("cables-1m", task, flavour)].errors["whole"].angles[k]
            for flavour in (PUBLISHED, STILL, FULL)
        ]
        numbers = [f"{theirs[column]:g}" for column in ("simulation", "real")]
        rows.append([task_label(task), *numbers, *(f"{value:.3g}" for value in ours)])
    head = (
        "turn",
        "paper, simulated",
        "paper, real",
        "as published",
        "as published, wanted rates left out",
        "full",
    )
    return [
        Heading(2, "Table VI: turning the payload in place"),
        Text(
            "Root mean square of the error of the angle that is turned (degrees), three Dragonflies on 1 m "
            "cables. Real flights are quoted. Amplitudes and periods are ours: the paper prints neither."
        ),
        PageTable(head, rows),
        Items(
            [
                "As published, the controller is told the wanted angle and the rate that belongs to it (eq. "
                "69), and lags little. Told the angle alone, with a wanted rate of zero, the same "
                "controller with the same gains lags by about K_Ω/K_R times the rate, which gives errors of "
                "the paper's size. So the paper's turns look like flights without the wanted rate."
            ]
        ),
    ]


def still_ratios(found: Results) -> list[float]:
    """Errors without the wanted rates over the paper's."""
    return [
        found[Ask("cables-1m", task, STILL)].errors["whole"].angles[k]
        / printed()["table-6"][task]["simulation"]
        for k, task in enumerate(TURNS)
    ]
