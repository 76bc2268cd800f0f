"""The controllers a scenario may name, known here by name so that files are checked without JAX.

A test holds this table against `skyrig.control`.
"""

from __future__ import annotations

from typing import NamedTuple

OPEN_LOOP = "open-loop"


class Known(NamedTuple):
    """What a scenario is checked against."""

    about: str
    """What the name stands for."""
    follows: str | None = "payload"
    """Whose reference it follows: 'payload', 'vehicles', or nobody's."""
    mechanisms: tuple[str, ...] = ("cables", "links")
    """What it can fly."""


CONTROLLERS = {
    "geometric": Known("the payload follows its reference, on cables or links, after RotorTM"),
    "cables": Known("the same, on cables", mechanisms=("cables",)),
    "links": Known("the same, on rigid links", mechanisms=("links",)),
    "vehicle": Known("each vehicle follows a reference of its own", "vehicles", ("cables",)),
    "yaw-decoupled": Known("the same, yaw decoupled, after the multilift paper", "vehicles", ("cables",)),
    "attitude": Known("each vehicle holds its reference's attitude", "vehicles", ("cables",)),
    OPEN_LOOP: Known("nobody: thrusts and moments are held as a table says", None),
}
"""By name."""

_COURSE = (
    "position",
    "attitude",
    "integral",
    "damping",
    "reach",
    "most_side",
    "most_up",
    "learn",
    "most_push",
    "most_turn",
)
_PUBLISHED_VEHICLE = ("position", "velocity", "attitude", "rate", "carry")
_GAINS: dict[tuple[str, str], tuple[str, ...]] = {
    ("cables", "full"): (
        *_COURSE,
        "cable",
        "vehicle",
        "follow",
        "most_turning",
        "least_pull",
        "slack",
        "cut",
        "lean",
    ),
    ("cables", "published"): (
        "position",
        "velocity",
        "payload_attitude",
        "payload_rate",
        "cable",
        "cable_rate",
        "attitude",
        "rate",
    ),
    ("links", "full"): _COURSE,
    ("links", "published"): ("position", "velocity", "attitude", "rate"),
    ("vehicle", "full"): (*_COURSE, "carry"),
    ("vehicle", "published"): _PUBLISHED_VEHICLE,
    ("yaw-decoupled", "full"): _PUBLISHED_VEHICLE,
    ("yaw-decoupled", "published"): _PUBLISHED_VEHICLE,
    ("attitude", "full"): ("attitude", "damping", "carry"),
    ("attitude", "published"): ("attitude", "damping", "carry"),
}


def gain_names(controller: str, flavour: str, mechanism: str) -> tuple[str, ...]:
    """The gains that a controller has on a rig of that mechanism."""
    return _GAINS[mechanism if controller == "geometric" else controller, flavour]
