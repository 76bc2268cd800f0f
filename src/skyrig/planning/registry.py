"""References by name: from a description as it stands in YAML to the object.

The names are given in `skyrig.planning`; this file only knows how to look them up.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping

from skyrig.checks import nearest
from skyrig.errors import InputError
from skyrig.planning.reference import Reference

REFERENCES: dict[str, Callable[..., Reference]] = {}
"""Builder of each reference: keyword parameters in SI units and radians."""


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
        raise InputError(f"{field} must name its type, one of {', '.join(REFERENCES)}; not {description!r}.")
    kind = description["type"]
    builder = REFERENCES.get(kind) if isinstance(kind, str) else None
    if builder is None:
        raise InputError(f"{field}.type {_not_among(str(kind), list(REFERENCES))}.")
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
