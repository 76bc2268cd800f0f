"""From a file to a `Spec`: plain values only, of reasonable size, every field known and of its type."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from skyrig import files
from skyrig.checks import nearest
from skyrig.errors import InputError
from skyrig.scenario.registry import spec_type
from skyrig.scenario.sentences import dotted, explain, refuse, shown
from skyrig.scenario.spec import VERSION, Spec

MOST_BYTES = 256_000
MOST_VALUES = 50_000
MOST_DEPTH = 24
LARGEST = 1e6
"""No quantity in a scenario is larger, whatever its unit..."""
LARGER = ("seed", "modulus")
"""...but for these, which have limits of their own."""


def read_text(path: Path) -> str:
    """The text of a scenario file, or an `InputError` that says why there is none."""
    try:
        if not path.exists():
            raise InputError(f"{path} cannot be read: there is no such file{_neighbour(path)}.")
        if path.is_dir():
            inside = path / "scenario.yaml"  # as every flight's folder has
            near = f" (did you mean {str(inside)!r}?)" if inside.is_file() else ""
            raise InputError(f"{path} cannot be read: it is a folder{near}.")
        if not path.is_file():
            raise InputError(f"{path} cannot be read: it is not a regular file.")
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise InputError(f"{path} holds {size} bytes, but a scenario has at most {MOST_BYTES}.")
        return path.read_text(encoding="utf-8-sig")
    except InputError:
        raise
    except UnicodeDecodeError:
        raise InputError(f"{path} cannot be read: it is not UTF-8 text.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{shown(str(path))} cannot be read: {reason.rstrip('.')}.") from None


def _neighbour(path: Path) -> str:
    """` (did you mean 'x'?)` when another scenario beside it has nearly that name."""
    if not path.parent.is_dir():
        return ""
    return nearest(path.name, sorted(file.name for file in path.parent.glob("*.y*ml"))[:1000])


def read_values(text: str, where: str) -> dict[str, Any]:
    """The plain values that YAML `text` holds."""
    if len(text) > MOST_BYTES:
        raise InputError(f"{where} holds {len(text)} characters, but a scenario has at most {MOST_BYTES}.")
    try:
        values = files.read_yaml(text, where)
        return plain(values, where)
    except RecursionError:
        raise InputError(f"{where} is nested too deeply to be a scenario.") from None


def plain(values: Mapping[Any, object], where: str) -> dict[str, Any]:
    """A copy made of dictionaries, lists, text, numbers, truth values and None, everything else refused."""
    budget = [MOST_VALUES]
    return {key: _plain(value, where, [key], budget) for key, value in _items(values, where, [])}


def with_whole_paths(said: Any, directory: Path) -> Any:
    """What `reference:` or `world:` says with the files it names made independent of where it stands."""
    if isinstance(said, Mapping):
        whole = {key: with_whole_paths(value, directory) for key, value in said.items()}
        if isinstance(whole.get("file"), str):
            whole["file"] = str((directory / whole["file"]).absolute())
        return whole
    return [with_whole_paths(each, directory) for each in said] if isinstance(said, list) else said


def parse(values: Mapping[str, object], where: str) -> Spec:
    """The `Spec` that plain `values` describe."""
    version = values.get("skyrig")
    if version is None:
        raise refuse(where, "skyrig", f"is missing: a scenario begins with 'skyrig: {VERSION}'")
    if type(version) is not int or version != VERSION:
        raise refuse(where, "skyrig", f"must be {VERSION}, the version of the schema, not {shown(version)}")
    kind = spec_type()
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        sentence = str(explain(where, values, error, kind))
        files = _brought_in(values)
        more = f" It was flown with files of somebody's own: give{files}." if files else ""
        raise InputError(sentence + more) from None


def _brought_in(values: Mapping[str, Any]) -> str:
    """What to bring in for a scenario that is not understood, if it says so."""
    uses = values.get("uses")
    each = [it.get("file") for it in uses if isinstance(it, Mapping)] if isinstance(uses, list) else []
    return "".join(f" --with {file}" for file in each if isinstance(file, str))


def _plain(value: object, where: str, steps: list[str | int], budget: list[int]) -> Any:
    budget[0] -= 1
    if budget[0] < 0:
        raise InputError(f"{where} holds more than {MOST_VALUES} values, too many for a scenario.")
    if len(steps) > MOST_DEPTH:
        raise refuse(where, dotted(steps[:4]), f"is nested more than {MOST_DEPTH} deep, too much")
    if isinstance(value, Mapping):
        return {key: _plain(item, where, [*steps, key], budget) for key, item in _items(value, where, steps)}
    if isinstance(value, list | tuple):
        return [_plain(item, where, [*steps, k], budget) for k, item in enumerate(value)]
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        _check_size(value, where, steps)
        return value
    kind = type(value).__name__
    raise refuse(
        where, dotted(steps), f"must be text, a number, a list or a mapping, not a {kind} ({shown(value)})"
    )


def _items(values: Mapping[Any, object], where: str, steps: list[str | int]) -> list[tuple[str, object]]:
    for key in values:
        if not isinstance(key, str):
            raise refuse(where, dotted(steps), f"has a key {shown(key)} that is not text")
    return list(values.items())


def _check_size(value: int | float, where: str, steps: list[str | int]) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise refuse(where, dotted(steps), f"must be a finite number, not {value}")
    if abs(value) > LARGEST and steps[-1] not in LARGER:
        raise refuse(where, dotted(steps), f"must be at most {LARGEST:g} in size, not {shown(value)}")
