"""What the panel's fields say about a scenario, and the scenario that changed fields ask for."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from ruamel.yaml import YAML

from skyrig import files
from skyrig.errors import InputError
from skyrig.scenario import Scenario
from skyrig.scenario.floor import has_floor, with_floor
from skyrig.scenario.overrides import parse_setting
from skyrig.scenario.registry import MECHANISMS
from skyrig.vehicles import payload, payload_names
from skyrig.vehicles.shapes import Ball, Box, Shape

MIXED = "mixed"


@dataclass(frozen=True)
class Form:
    """The fields of the panel, as a scenario fills them in."""

    kind: str
    """Type of all vehicles, or 'mixed'."""
    count: int
    team: str
    """Names in order, separated by commas, of a mixed team."""
    payload: str
    mass: float
    """Of the payload (kg)."""
    mechanism: str
    lengths: str
    """Of the cables: one number, or one a cable, separated by commas (m)."""
    reference: str
    """As YAML on one line."""
    controller: str
    flavour: str
    gains: str
    """As YAML on one line."""
    noise_position: float
    noise_velocity: float
    noise_attitude: float
    noise_rate: float
    floor: bool
    """Whether bodies stand on a floor."""


def form_of(scenario: Scenario) -> Form:
    """The fields that describe `scenario`."""
    parts, spec, controller = scenario.parts, scenario.spec, scenario.controller
    names = [frame.name for frame in parts.airframes]
    lengths, load = parts.lengths, parts.payload
    same = len(set(lengths)) == 1
    return Form(
        kind=names[0] if len(set(names)) == 1 else MIXED,
        count=parts.count,
        team=", ".join(names),
        payload="" if load is None else load.name,
        mass=0.0 if load is None else load.mass,
        mechanism=parts.mechanism,
        lengths=", ".join(f"{length:g}" for length in (lengths[:1] if same else lengths)),
        reference=_line(scenario.values.get("reference")),
        controller=controller.name,
        flavour=controller.flavour,
        gains=_line(controller.gains or {}),
        noise_position=spec.noise.position,
        noise_velocity=spec.noise.velocity,
        noise_attitude=spec.noise.attitude,
        noise_rate=spec.noise.rate,
        floor=has_floor(scenario),
    )


def edited(scenario: Scenario, form: Form, others: str = "") -> Scenario:
    """`scenario` with what `form` says differently, and the settings in `others`.

    Args:
        scenario: What the form was filled in from.
        form: The fields now.
        others: Settings as `skyrig fly --set` takes them, one a line.

    Raises:
        InputError: If that cannot be flown; the sentence is the command line's own.
    """
    was = form_of(scenario)
    changes = _rig(scenario, was, form)
    if form.reference.strip() != was.reference:
        changes["reference"] = _value("reference", form.reference)
    if (form.controller, form.flavour, form.gains.strip()) != (was.controller, was.flavour, was.gains):
        changes["controller.name"] = form.controller
        changes["controller.flavour"] = form.flavour
        changes["controller.gains"] = _value("controller.gains", form.gains or "{}")
    for name in ("position", "velocity", "attitude", "rate"):
        value = getattr(form, f"noise_{name}")
        if value != getattr(was, f"noise_{name}"):
            changes[f"noise.{name}"] = value
    for line in others.splitlines():
        if line.strip():
            path, value = parse_setting(line.strip().removeprefix("--set "))
            changes[path] = value
    changed = scenario.with_overrides(changes)
    if form.floor == has_floor(changed):
        return changed
    return with_floor(changed) if form.floor else changed.with_overrides({"world.ground": None})


def _rig(scenario: Scenario, was: Form, form: Form) -> dict[str, object]:
    """Changes to the rig."""
    changes: dict[str, object] = {}
    if form.mechanism != was.mechanism:
        rig = MECHANISMS[form.mechanism].sketch({"vehicles": _team(form), "payload": form.payload})
        if rig is None:
            raise InputError(f"Joined by must be left as it is: {form.mechanism} need a file of their own.")
        changes["rig"] = rig
        if form.lengths.strip() and "cables" in rig:
            changes["rig.cables.length"] = _lengths(form.lengths)
        changes |= _attachments(form)
        if scenario.spec.start.lean is not None:
            changes["start.lean"] = None
        if scenario.controller.gains and form.gains.strip() == was.gains:
            changes["controller.gains"] = {}  # they are the other mechanism's
    else:
        if (form.kind, form.count, form.team) != (was.kind, was.count, was.team):
            changes["rig.vehicles"] = _team(form)
        if form.payload != was.payload:
            changes["rig.payload"] = form.payload
        if changes:
            changes |= _attachments(form)
        if form.lengths.strip() != was.lengths and scenario.parts.lengths:
            changes |= _cables(scenario, _lengths(form.lengths))
    if form.mass != was.mass:
        changes["rig.payload.mass"] = form.mass
    return changes


def spread(shape: Shape, count: int) -> list[list[float]]:
    """Points (m) spread evenly round the upper rim of a payload that has no set for a team of `count`."""
    if isinstance(shape, Ball):
        return [[0.0, 0.0, 0.0]] * count
    if isinstance(shape, Box):
        x, y, z = shape.size / 2
        rim, top = np.array([[x, -y], [x, y], [-x, y], [-x, -y]]), float(z)
    else:
        rim, top = shape.outline, float(shape.corners[:, 2].max())
    ends = np.roll(rim, -1, axis=0)
    far = np.concatenate([[0.0], np.cumsum(np.linalg.norm(ends - rim, axis=1))])
    closed = np.concatenate([rim, rim[:1]])
    at = far[-1] * np.arange(count) / count
    return [[float(np.interp(s, far, closed[:, k])) for k in range(2)] + [top] for s in at]


def _attachments(form: Form) -> dict[str, object]:
    """Where a team holds a bundled payload that has no set of points for so many."""
    count = form.count if form.kind != MIXED else len([name for name in form.team.split(",") if name.strip()])
    if form.payload not in payload_names():
        return {}
    load = payload(form.payload)
    holds = MECHANISMS[form.mechanism].holds
    if holds is None:
        return {}
    field, joint = holds
    known = load.is_point or f"{joint}-{count}" in load.attachments
    return {f"rig.{field}": None if known else spread(load.shape, count)}


def _cables(scenario: Scenario, lengths: float | list[float]) -> dict[str, object]:
    listed = scenario.values["rig"].get("cables")
    if not isinstance(listed, list):
        return {"rig.cables.length": lengths}
    each = lengths if isinstance(lengths, list) else [lengths] * len(listed)
    if len(each) != len(listed):
        raise InputError(f"Cable lengths must be one number or {len(listed)}, not {len(each)}.")
    return {f"rig.cables[{k}].length": length for k, length in enumerate(each)}


def _team(form: Form) -> object:
    if form.kind != MIXED:
        return {"type": form.kind, "count": form.count}
    return [name.strip() for name in form.team.split(",") if name.strip()]


def _lengths(text: str) -> float | list[float]:
    try:
        numbers = [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise InputError(f"Cable lengths must be numbers separated by commas (m), not {text!r}.") from None
    if not numbers:
        raise InputError("Cable lengths must be given (m).")
    return numbers[0] if len(numbers) == 1 else numbers


def _value(name: str, text: str) -> Any:
    try:
        return files.read_yaml(f"value: {text.strip()}", name)["value"]
    except InputError:
        raise InputError(f"{name} must be YAML on one line, not {text!r}.") from None


def _line(value: Any) -> str:
    """A value as YAML on one line."""
    writer: Any = YAML(typ="safe", pure=True)  # its types leave out half of its settings
    writer.default_flow_style = True
    writer.width = 100_000
    writer.sort_base_mapping_type_on_output = False
    stream = io.StringIO()
    writer.dump(value, stream)
    return stream.getvalue().removesuffix("...\n").strip()
