"""Who has which colour, the same in plots, reports and the studio: Okabe and Ito's colours."""

from __future__ import annotations

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
"""For lines that stand for anything, in turn."""
PAYLOAD = "#222222"
"""Of the payload's own lines; no vehicle has it."""
REFERENCE = "#A9BAD3"
"""Of where something shall be: a broad pale line below the thin dark one of where it is."""
GREY = "#666666"
SLACK = "#9696A0"
"""Of a cable that does not pull."""

_TEAM = COLOURS[:6]


def of_vehicle(index: int) -> str:
    """The colour that stands for a vehicle and its cable, as #rrggbb."""
    return _TEAM[index % len(_TEAM)]


def rgb(colour: str) -> tuple[int, int, int]:
    """#rrggbb as three numbers from 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
