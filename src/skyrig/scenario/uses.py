"""Which files of people's own a scenario needs, by the names it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skyrig.extensions import ORIGINS
from skyrig.scenario.spec import Spec


def uses_of(spec: Spec) -> list[dict[str, str]]:
    """The files that brought in what `spec` names, as its field `uses` says them."""
    named = [
        ("mechanism", str(type(spec.rig).__struct_config__.tag)),
        ("controller", spec.flier.name),
        ("integrator", spec.loop.integrator or ""),
        *(("element", name) for name in spec.elements),
        *(("sensor", name) for name in spec.instruments),
        *(("reference", kind) for kind in _kinds(spec.reference)),
    ]
    found = dict.fromkeys(ORIGINS[each] for each in named if each in ORIGINS)
    return [{"file": used.file, "sha256": used.sha256} for used in found]


def _kinds(description: Any) -> Iterator[str]:
    """The types of a reference and of those inside it."""
    if isinstance(description, str):
        yield description
    elif isinstance(description, Mapping):
        kind = description.get("type")
        if isinstance(kind, str):
            yield kind
        for inner in description.values():
            if not isinstance(inner, str):
                yield from _kinds(inner)
    elif isinstance(description, list):
        for inner in description:
            if not isinstance(inner, int | float):
                yield from _kinds(inner)


def hint(values: Mapping[str, Any]) -> str:
    """What to bring in for a scenario that is not understood, if it says so."""
    uses = values.get("uses")
    files = (
        [it["file"] for it in uses if isinstance(it, Mapping) and isinstance(it.get("file"), str)]
        if (isinstance(uses, list))
        else []
    )
    return "".join(f" --with {file}" for file in files)
