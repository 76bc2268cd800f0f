"""References by name: from a description as it stands in YAML to the object.

The names are given in `skyrig.planning`; this file only knows how to look them up.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from skyrig.checks import nearest
from skyrig.errors import InputError
from skyrig.planning.reference import Reference

REFERENCES: dict[str, Callable[..., Reference]] = {}
"""Builder of each reference: keyword parameters in SI units and radians."""


TEAM_REFERENCES: dict[str, Callable[..., TeamMotion]] = {}
"""Builder of each reference that needs to know the team: `build(parts, **parameters)`."""


class TeamMotion(NamedTuple):
    """What a whole team shall do, and where it begins."""

    vehicles: tuple[Reference, ...] | None
    """One for each vehicle; None where the payload's is to be followed."""
    payload: Reference
    """What the payload does meanwhile; nobody is told to follow it if vehicles have their own."""
    begin: dict[str, tuple[np.ndarray, np.ndarray]]
    """Position (k, 3) and attitude (k, 4) of the bodies of each group at the start."""
    drives: Callable[[], dict[str, tuple[np.ndarray, np.ndarray]]] | None = None
    """What the rig's own drives shall do, asked for when it is flown: by drive, times (T,) (s) and goals
    (T, k), each held until the next."""
    plan: Any = None
    """What the controller must know besides, such as when to hand weight over: see `Controller.planned`."""


def build_team(
    description: Mapping[str, object], parts: object, field: str = "reference", **context: object
) -> TeamMotion:
    """What a description whose type is one of `TEAM_REFERENCES` asks of the team made of `parts`.

    `context` fills in what the description leaves open, as in `build`.
    """
    kind = str(description["type"])
    builder = TEAM_REFERENCES[kind]
    known = list(inspect.signature(builder).parameters)[1:]
    given = {str(name): value for name, value in description.items() if name != "type"}
    for name in given:
        if name not in known:
            raise InputError(f"{field}.{name} is not a parameter of {kind}: it {_not_among(name, known)}.")
    given = {name: value for name, value in context.items() if name in known and value is not None} | given
    for name in known:
        if (
            inspect.signature(builder).parameters[name].default is inspect.Parameter.empty
            and name not in given
        ):
            raise InputError(f"{field}.{name} must be given for {kind}.")
    try:
        return builder(parts, **given)
    except InputError as error:
        raise InputError(f"{field}.{error}") from None


def build(description: object, field: str = "reference", **context: object) -> Reference:
    """The reference that `description` asks for.

    Args:
        description: A mapping with a `type` and that type's parameters, a type's name alone, or a
            reference, which is returned as it is.
        field: Where the description stands, for error messages.
        context: Parameters that fill in what the description leaves open and its type knows, such as
            `directory` for files, or `start` in a sequence; None counts as not given.
    """
    if isinstance(description, Reference):
        return description
    if isinstance(description, str):
        description = {"type": description}
    if not isinstance(description, Mapping) or "type" not in description:
        listed = ", ".join([*REFERENCES, *TEAM_REFERENCES])
        raise InputError(f"{field} must name its type, one of {listed}; not {description!r}.")
    kind = description["type"]
    builder = REFERENCES.get(kind) if isinstance(kind, str) else None
    if builder is None:
        raise InputError(f"{field}.type {_not_among(str(kind), [*REFERENCES, *TEAM_REFERENCES])}.")
    known = inspect.signature(builder).parameters
    given = {str(name): value for name, value in description.items() if name != "type"}
    for name in given:
        if name not in known:
            raise InputError(
                f"{field}.{name} is not a parameter of {kind}: it {_not_among(name, list(known))}."
            )
    for name, value in context.items():
        settled = name in given or (name == "start" and "center" in given)
        if value is not None and name in known and not settled:
            given[name] = value
    for name, parameter in known.items():
        if parameter.default is inspect.Parameter.empty and name not in given:
            raise InputError(f"{field}.{name} must be given for a {kind}.")
    try:
        return builder(**given)
    except InputError as error:
        raise InputError(f"{field}.{error}") from None


def _not_among(name: str, names: list[str]) -> str:
    return f"must be one of {', '.join(names)}{nearest(name, names)}, not {name!r}"
