"""Changing single values of a scenario by their path: rig.payload.mass, rig.cables[1].length, seed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from skyrig import files
from skyrig.errors import InputError
from skyrig.scenario.parse import plain
from skyrig.scenario.sentences import shown

_PATH = re.compile(r"[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*|\.\d+|\[\d+\])*")
_STEP = re.compile(r"([A-Za-z_][\w-]*)|(\d+)")

_NAMED = {("rig", "payload"), ("rig", "vehicles"), ("reference",), ("reference", "payload")}
"""Where a bare name stands for a mapping with that `type`; a controller's stands for its `name`."""


def parse_setting(text: str) -> tuple[str, Any]:
    """`path=value` from the command line, the value read as YAML would read it."""
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise InputError(f"--set {shown(text)} must be path=value, such as rig.payload.mass=0.3.")
    try:
        return path.strip(), files.read_yaml(f"value: {value.strip()}", f"--set {path.strip()}")["value"]
    except InputError:
        raise InputError(f"--set {path.strip()} must be given a YAML value, not {shown(value)}.") from None


def steps_of(path: str) -> list[str | int]:
    """The keys and indices of a path."""
    if not isinstance(path, str) or not _PATH.fullmatch(path):
        raise InputError(f"{shown(path)} is not the path of a field, such as rig.cables[1].length.")
    return [name or int(index) for name, index in _STEP.findall(path)]


def overridden(
    values: Mapping[str, Any], changes: Mapping[str, object], count: int, where: str
) -> dict[str, Any]:
    """A copy of a scenario's `values` with some of them changed.

    Args:
        values: Of a scenario that is well formed.
        changes: New values by path.
        count: How many vehicles there are; a common value that is changed for one of them is written out.
        where: The scenario's file, for what is refused.
    """
    changed = files.copied(dict(values))
    for path, value in changes.items():
        tolist = getattr(value, "tolist", None)
        new = plain({path: tolist() if callable(tolist) else value}, where)[path]
        _put(changed, steps_of(path), new, path, count)
    return changed


def cut_short(values: Mapping[str, Any], duration: float) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A copy of `values` that ends at `duration` (s), without what happens later, and what was left out."""
    kept: list[Any] = []
    notes: list[str] = []
    listed: Any = values.get("happenings")
    for i, happening in enumerate(listed if isinstance(listed, list) else ()):
        time, until = _time(happening, "time", 0.0), _time(happening, "until", None)
        if time is None:
            kept.append(happening)  # not well formed, which checks will tell
            continue
        what = f"happenings[{i}] ({happening.get('type')} at {time:g} s)"
        if time >= duration:
            notes.append(f"{what} is left out: the flight ends at {duration:g} s.")
            continue
        if until is not None and until > duration:
            notes.append(
                f"{what} lasts until the end: the flight ends at {duration:g} s, before {until:g} s."
            )
            happening = {**happening, "until": None}
        kept.append(happening)
    changed = {**values, "duration": duration}
    return (changed | {"happenings": kept} if notes else changed), tuple(notes)


def _time(happening: Any, field: str, otherwise: float | None) -> float | None:
    """A time of a happening (s) as it is written, `otherwise` if it is not; None for what is no time."""
    value = happening.get(field, otherwise) if isinstance(happening, dict) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _put(values: dict[str, Any], steps: list[str | int], new: object, path: str, count: int) -> None:
    holder: Any = values
    for depth, step in enumerate(steps[:-1]):
        _spread(holder, steps[: depth + 1], steps[depth + 1], count)
        holder = _entered(holder, step, path, {} if isinstance(steps[depth + 1], str) else None)
    last = steps[-1]
    if isinstance(holder, list):
        _entered(holder, last, path, None)
        row: Any = last  # a number, or what was just entered would have said so
        holder[row] = new
    elif isinstance(holder, dict) and isinstance(last, str):
        holder[last] = new
    else:
        raise InputError(f"{path} cannot be set: {shown(holder)} has no part {shown(last)}.")


def _entered(holder: Any, step: str | int, path: str, otherwise: Any) -> Any:
    if isinstance(holder, list):
        if not isinstance(step, int) or step >= len(holder):
            raise InputError(
                f"{path} cannot be set: the list there goes from 0 to {len(holder) - 1}, not {step}."
            )
        return holder[step]
    if not isinstance(holder, dict) or not isinstance(step, str):
        raise InputError(f"{path} cannot be set: {shown(holder)} has no part {shown(step)}.")
    if holder.get(step) is None:
        if otherwise is None:
            raise InputError(f"{path} cannot be set: there is no list {shown(step)}.")
        holder[step] = otherwise
    return holder[step]


def _spread(holder: Any, steps: list[str | int], following: str | int, count: int) -> None:
    """Write out a shorthand in the way: a bare name, or a value in common where one of several is meant."""
    here = steps[-1]
    if not isinstance(holder, dict) or here not in holder:
        return
    value = holder[here]
    if isinstance(following, str) and isinstance(value, str):
        if tuple(steps) in _NAMED:
            holder[here] = {"type": value}
        elif steps == ["controller"]:
            holder[here] = {"name": value}
    elif isinstance(following, int) and steps == ["rig", "vehicles"] and not isinstance(value, list):
        one = {"type": value} if isinstance(value, str) else {k: v for k, v in value.items() if k != "count"}
        holder[here] = [dict(one) for _ in range(count)]
    elif isinstance(following, int) and steps == ["rig", "cables"] and isinstance(value, dict):
        holder[here] = _each_cable(value, count)
    elif isinstance(following, int) and isinstance(value, int | float) and here in ("length", "yaw"):
        holder[here] = [value] * count
    if isinstance(following, str) and isinstance(holder[here], list) and steps == ["rig", "vehicles"]:
        raise InputError(
            f"rig.vehicles.{following} cannot be set: say of which one, such as rig.vehicles[0]."
        )


def _each_cable(common: dict[str, Any], count: int) -> list[dict[str, Any]]:
    lengths, points = common.get("length"), common.get("attachments")
    if isinstance(points, str):
        raise InputError(
            f"rig.cables cannot be told apart while rig.cables.attachments names the set {shown(points)}: "
            "list points instead."
        )
    cables = []
    for k in range(count):
        cable = {name: files.copied(common[name]) for name in ("hook", "winch") if name in common}
        cable["length"] = lengths[k] if isinstance(lengths, list) and k < len(lengths) else lengths
        if isinstance(points, list) and k < len(points):
            cable["attachment"] = points[k]
        cables.append(cable)
    return cables
