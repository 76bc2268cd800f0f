"""The experiments of Michael, Fink and Kumar as flights: sections of the page."""

from __future__ import annotations

from pathlib import Path

from skyrig.papers import cooperative_flights as flights
from skyrig.papers.cooperative_drawing import curves
from skyrig.papers.cooperative_team import LEVEL, PRINTED, bounds, team
from skyrig.papers.page import Block, Heading, PageTable, Text
from skyrig.statics import Configuration, Limits, Pose, coordinates, inverse, stability, three

WORDS = {"as published": flights.PLAIN, "active damping": flights.DAMPED}
"""Controllers that are compared: the paper's, and with our damping of the swing."""
HOLD = 8.0
"""How long to rest at each pose to see the swing die (s)."""


def figure_6(out: Path) -> list[Block]:
    """A robot loses thrust for a moment."""
    found = three(team(), LEVEL, PRINTED["9(b)"])
    tracks = {name: flights.held(found, gains, flights.LOSS) for name, gains in WORDS.items()}
    rows = [["the paper, read off its Fig. 6", "not printed", "1 to 1.5", "1 to 1.5", "", ""]]
    rows += [
        [
            name,
            f"{it.peak(1.0, 12.0):.3f}",
            f"{it.robots_constant:.2f}",
            f"{it.time_constant(1.4):.2f}",
            str(it.slack),
            it.word,
        ]
        for name, it in tracks.items()
    ]
    head = (
        "controller",
        "largest error (m)",
        "robots: time constant (s)",
        "payload: time constant (s)",
        "slack cables",
        "verdict",
    )
    text = (
        "One robot has half its thrust for 0.4 s, falls by 0.46 m and comes back. The paper reads one time "
        "constant of 1 to 1.5 s off the errors of payload and robots together. Ours are those of the "
        "envelopes: a line through the logarithms of the peaks. The robots come back as the paper's do. The "
        "payload swings on after them, for nothing damps it here, neither drag nor the cables' own; with "
        "active damping it comes to rest with the robots."
    )
    shown = curves("figure-06", tracks, "Figure 6. Payload's distance from its pose after a loss of thrust.")
    return [
        Heading(2, "Figure 6: a robot loses thrust for a moment"),
        Text(text),
        PageTable(head, rows),
        shown,
    ]


def figure_7(out: Path) -> list[Block]:
    """A sequence of poses."""
    tracks, rows, dies = {}, [], {}
    for name, gains in WORDS.items():
        it, rests = flights.sequence(gains, HOLD)
        tracks[name] = it
        dies[name] = [it.time_constant(*rest) for rest in rests]
        off, turned = it.rmse
        swing = ", ".join(f"{each:.2f}" for each in dies[name])
        numbers = [f"{100 * off:.2f}", f"{turned:.3f}", f"{100 * it.off.max():.1f}", swing]
        rows.append([name, *numbers, str(it.slack), it.word])
    head = (
        "controller",
        "position RMSE (cm)",
        "orientation RMSE (deg)",
        "largest (cm)",
        "time constant of the swing after each move (s)",
        "slack cables",
        "verdict",
    )
    pairs = zip(*dies.values(), strict=True)
    text = (
        "The scenario `three-hummingbirds-poses` with rests of 8 s: four poses one after another and back, "
        "planned within the valid set and flown by the robots' positions alone. The paper's poses are not "
        "printed; its errors (Fig. 8) come from robots that are 0.05 to 0.15 m off their places. Statics "
        "knows no lag: a payload that is to speed up or turn hangs behind where statics has it, with either "
        "controller. The swing after a move dies "
        f"{min(plain / damped for plain, damped in pairs):.0f} times faster with active damping, at least."
    )
    shown = curves("figure-08", tracks, "Figures 7 and 8. Payload's distance from where statics has it.")
    return [Heading(2, "Figures 7 and 8: from pose to pose"), Text(text), PageTable(head, rows), shown]


def figure_10(out: Path) -> list[Block]:
    """Pokes of several configurations."""
    group = team()
    sets: dict[str, Configuration] = {
        f"printed, {panel}": three(group, LEVEL, normalised) for panel, normalised in PRINTED.items()
    }
    sets["stiffest"] = inverse(group, LEVEL, "stiffness", bounds(group))
    tilted = Pose.turned(0.3, 0.1, 0.2, (0.0, 0.0, 1.0))
    sets["upright cables, tilted payload"] = inverse(group, tilted, "effort", Limits(separation=0.9))
    tracks, rows = {}, []
    for name, found in sets.items():
        pair = [flights.held(found, gains, flights.POKE) for gains in WORDS.values()]
        plain, damped = (it.time_constant(1.5) for it in pair)
        least = f"{stability(found).frequencies.min():.3f}"
        place = ", ".join(f"{each:.3f}" for each in coordinates(found))
        rows.append([name, place, least, f"{plain:.2f}", f"{damped:.2f}", f"{plain / damped:.1f}"])
        if name in ("printed, 9(b)", "stiffest"):
            tracks |= {f"{name}, {word}": it for word, it in zip(WORDS, pair, strict=True)}
    head = (
        "configuration",
        "{x1, y1, y2}",
        "least frequency (Hz)",
        "as published: time constant (s)",
        "active damping (s)",
        "times faster",
    )
    text = (
        "A poke of 0.08 N s. In the paper the stiffest configuration (largest least natural frequency; here "
        "with tensions below m g / 2 and robots 1 m apart) calms down faster than one like 9(b); so it does "
        "here. Nothing but the robots' yielding damps these swings: there is no drag. Active damping is "
        "ours; it is the same law with the same gains everywhere."
    )
    shown = curves("figure-10", tracks, "Figure 10. Payload's distance from its pose after a poke.")
    return [
        Heading(2, "Figure 10: which configuration calms down faster"),
        Text(text),
        PageTable(head, rows),
        shown,
        *_harsh(sets),
    ]


def _harsh(sets: dict[str, Configuration]) -> list[Block]:
    """The same pokes where measurements are noisy and rotors lag."""
    rows = []
    for name, found in sets.items():
        pair = [flights.held(found, gains, flights.POKE, flights.HARSH) for gains in WORDS.values()]
        # later on there is nothing but noise
        constants = [f"{it.time_constant(1.5, 6.0):.2f}" for it in pair]
        left = [f"{1000 * it.left(8.0):.1f}" for it in pair]
        rows.append([name, *constants, *left, pair[1].word])
    head = (
        "configuration",
        "as published: time constant (s)",
        "active damping (s)",
        "as published: left after 7 s, RMS (mm)",
        "active damping (mm)",
        "verdict",
    )
    text = (
        "The same pokes with noise of 10 mm, 0.05 m/s, 1 degree and 0.05 rad/s on every measurement, rotors "
        "that lag by 20 ms and commands that are one control period late. Time constants are of the first "
        "seconds, before noise is all that is left. Robots that react late yield more to the payload, which "
        "damps it even as published; active damping knows of the delay and is slower than above."
    )
    return [Text(text), PageTable(head, rows)]
