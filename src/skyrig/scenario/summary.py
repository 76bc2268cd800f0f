"""A scenario in a few lines, for the terminal and for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skyrig.scenario.scenario import Scenario


def rows(known: Scenario) -> list[tuple[str, str]]:
    """What a scenario is, a line each: a word and what it stands for here."""
    spec, parts = known.spec, known.parts
    found: list[tuple[str, str]] = []
    found.append(("shows", known.description))
    found.append(("rig", team(known)))
    load = "" if parts.payload is None else f", of it {parts.payload.mass:.4g} kg payload"
    found.append(("mass", f"{parts.mass:.4g} kg{load}"))
    found += parts.lines()
    found.append(("reference", _reference(spec.reference)))
    controller = known.controller
    flavour = "" if controller.name == "open-loop" else f", {controller.flavour}"
    found.append(("controller", f"{controller.name}{flavour}, {spec.loop.control_rate:g} Hz"))
    noisy = [f"{name} {value:g}" for name, value in _items(spec.noise) if value]
    found.append(("noise", ", ".join(noisy) or "none"))
    for happening in sorted(spec.happenings, key=lambda it: it.time):
        found.append(("happens", f"{_tag(happening)} at {happening.time:g} s"))
    found.append(("duration", f"{known.duration:g} s"))
    return found


def team(known: Scenario) -> str:
    """Who carries what, and how."""
    kinds: dict[str, int] = {}
    for frame in known.parts.airframes:
        kinds[frame.name] = kinds.get(frame.name, 0) + 1
    vehicles = ", ".join(f"{count} {name}" for name, count in kinds.items())
    names = [load.name for group in known.parts.loads.values() for load in group]
    return f"{vehicles} with {', '.join(names)} {known.spec.rig.words}" if names else vehicles


def _reference(wanted: Any) -> str:
    if wanted is None:
        return "none"
    if isinstance(wanted, str):
        return wanted
    if "type" not in wanted:
        inner = wanted.get("payload") or wanted.get("vehicles")
        return ", ".join(_reference(one) for one in inner) if isinstance(inner, list) else _reference(inner)
    if wanted["type"] == "sequence":
        return " then ".join(_reference(part) for part in wanted["parts"])
    return str(wanted["type"])


def _items(struct: Any) -> list[tuple[str, Any]]:
    return [(name, getattr(struct, name)) for name in struct.__struct_fields__]


def _tag(struct: Any) -> str:
    return str(struct.__struct_config__.tag)
