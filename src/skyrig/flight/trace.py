"""Who flew, where it was somebody's own controller: a trace in the scenario that a flight carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from skyrig.errors import InputError
from skyrig.fields import SpecPart, unit
from skyrig.files import read_yaml


class Own(SpecPart, frozen=True, kw_only=True):
    """A controller of somebody's own that flew in place of the named one: a trace, which runs nothing."""

    name: Annotated[str, unit("", "What it is called, in its file")]
    file: Annotated[str | None, unit("", "Python file it came from, if from one")] = None
    sha256: Annotated[str | None, unit("", "Hash of that file as it was")] = None


def trace_in(scenario: str) -> Own | None:
    """Whose own controller flew, by a flight's scenario as YAML; None if nobody's."""
    try:
        controller = read_yaml(scenario, "scenario").get("controller")
        own = controller.get("own") if isinstance(controller, Mapping) else None
        return None if own is None else msgspec.convert(own, Own)
    except (InputError, msgspec.ValidationError):
        return None
