"""The controllers a scenario may name, known here by name so that files are checked without JAX."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

OPEN_LOOP = "open-loop"
GEOMETRIC = "geometric"
FLAVOURS = ("full", "published")


class Known(NamedTuple):
    """A controller by name: what a scenario is checked against, and what makes it."""

    about: str
    """What the name stands for."""
    build: str | Callable[..., Any] | None
    """`build(rig, airframes, gains, flavour, clock)`, or 'module:name' of it, imported when it is needed."""
    gains: Mapping[str, tuple[str, ...]]
    """Names of its gains by flavour."""
    follows: str | None = "payload"
    """Whose reference it follows: 'payload', 'vehicles', or nobody's."""
    mechanisms: tuple[str, ...] | None = None
    """What it can fly; None for any rig."""
    geometric: bool = False
    """Whether it is what 'geometric' stands for on these mechanisms."""

    def flies(self, mechanism: str) -> bool:
        """Whether it can fly rigs of that mechanism."""
        return self.mechanisms is None or mechanism in self.mechanisms

    @property
    def maker(self) -> Callable[..., Any]:
        """What builds it."""
        if not isinstance(self.build, str):
            assert self.build is not None
            return self.build
        module, _, name = self.build.partition(":")
        return getattr(importlib.import_module(module), name)


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
_CABLES = (
    *_COURSE,
    "observe",
    "drag",
    "cable",
    "vehicle",
    "follow",
    "most_turning",
    "least_pull",
    "slack",
    "cut",
    "lean",
)
_PUBLISHED_CABLES = (
    "position",
    "velocity",
    "payload_attitude",
    "payload_rate",
    "cable",
    "cable_rate",
    "attitude",
    "rate",
)
_ATTITUDE = ("attitude", "damping", "carry")
_POINT_ROBOT = ("position", "attitude", "integral", "damping", "carry", "swing", "keep", "reach")
_MESSAGES = ("sweeps", "delay", "parallel", "deaf_from", "deaf_until")
_MPC = (
    *(f"{whose}{what}" for whose in ("", "load_") for what in ("position", "velocity", "attitude", "rate")),
    *("thrust", "moment", "tension", "final", "approach", "brake"),
    *("softness", "apart", "shy", "learn", "least_pull"),
    *("lean", "obstacles", "step", "horizon", "turns"),
    *_MESSAGES,
)
_HERE = "skyrig.control.builders"
_ON_CABLES = ("cables", "elastic")

CONTROLLERS: dict[str, Known] = {
    GEOMETRIC: Known("the payload follows its reference, on cables or links, after RotorTM", None, {}),
    "cables": Known(
        "the same, on cables",
        f"{_HERE}:cables",
        {"full": _CABLES, "published": _PUBLISHED_CABLES},
        mechanisms=_ON_CABLES,
        geometric=True,
    ),
    "links": Known(
        "the same, on rigid links",
        f"{_HERE}:links",
        {"full": (*_COURSE, "drag"), "published": _PUBLISHED_VEHICLE[:4]},
        mechanisms=("links",),
        geometric=True,
    ),
    "vehicle": Known(
        "each vehicle follows a reference of its own",
        f"{_HERE}:vehicle",
        {"full": (*_COURSE, "carry", "drag"), "published": _PUBLISHED_VEHICLE},
        "vehicles",
        _ON_CABLES,
    ),
    "yaw-decoupled": Known(
        "the same, yaw decoupled, after the multilift paper",
        f"{_HERE}:yaw_decoupled",
        dict.fromkeys(FLAVOURS, _PUBLISHED_VEHICLE),
        "vehicles",
        _ON_CABLES,
    ),
    "point-robot": Known(
        "the same, by forces of point robots, after Michael, Fink and Kumar; damps swing",
        "skyrig.control.point_robot:point_robot",
        dict.fromkeys(FLAVOURS, _POINT_ROBOT),
        "vehicles",
        ("cables",),
    ),
    "gripper": Known(
        "the vehicle of a soft gripper follows its reference, after Fishman and Carlone",
        "skyrig.control.soft_drone:soft_drone",
        {"full": _COURSE, "published": _PUBLISHED_VEHICLE[:4]},
        "vehicles",
        ("gripper",),
        geometric=True,
    ),
    "attitude": Known(
        "each vehicle holds its reference's attitude",
        f"{_HERE}:attitude",
        dict.fromkeys(FLAVOURS, _ATTITUDE),
        "vehicles",
        _ON_CABLES,
    ),
    "mpc-distributed": Known(
        "the payload follows its reference: vehicles and payload plan ahead and tell each other",
        "skyrig.control.mpc.building:distributed",
        {"full": _MPC},
        mechanisms=_ON_CABLES,
    ),
    "mpc-central": Known(
        "the same, one planner for all: slower, to compare with",
        "skyrig.control.mpc.building:central",
        {"full": tuple(name for name in _MPC if name not in _MESSAGES)},
        mechanisms=_ON_CABLES,
    ),
    OPEN_LOOP: Known("nobody: thrusts and moments are held as a table says", None, {}, None),
}
"""By name; a new controller is one file, one builder and one entry here."""


def chosen(name: str, mechanism: str) -> Known:
    """The controller of that name; 'geometric' is the one that says so of itself on that mechanism."""
    known = CONTROLLERS[name]
    if name != GEOMETRIC:
        return known
    able = (it for it in CONTROLLERS.values() if it.geometric and it.flies(mechanism))
    return next(able, known._replace(mechanisms=()))


def able_to_fly(mechanism: str, follows: str | None = None) -> list[str]:
    """Names of the controllers that fly a mechanism, and follow what they shall."""
    return [
        name
        for name in CONTROLLERS
        if (it := chosen(name, mechanism)).flies(mechanism) and follows in (None, it.follows)
    ]
