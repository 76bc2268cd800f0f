"""Reading YAML: files people write, and those that come with skyrig.

Only plain values are read; a file cannot run code. Free of JAX, like `skyrig.checks`.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from skyrig import checks
from skyrig.errors import InputError

_DATA = files("skyrig") / "data"
_MOST_VALUES = 1_000_000


def read_yaml(text: str, where: str) -> Mapping[str, object]:
    """The mapping that `text` holds as YAML 1.2, or an `InputError` that begins with `where`."""
    try:
        value = YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise InputError(f"{where}{line}: {_one_line(error.problem or error.context)}.") from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{where} is not YAML: {_one_line(error)}.") from None
    if not isinstance(value, Mapping):
        raise InputError(f"{where} must hold a mapping of names to values.")
    if _count(value, {}) > _MOST_VALUES:
        raise InputError(f"{where} holds more than {_MOST_VALUES} values, or an alias that contains itself.")
    return value


def read_yaml_file(path: str | Path) -> Mapping[str, object]:
    """The mapping in the YAML file at `path`, or an `InputError` that names the file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"{path} cannot be read: {_one_line(reason)}.") from None
    return read_yaml(text, str(path))


@cache
def bundled_names(folder: str) -> tuple[str, ...]:
    """The names of the files that come with skyrig in `folder`, without their ending, in order."""
    entries = (entry.name for entry in (_DATA / folder).iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in entries if name.endswith(".yaml")))


def read_bundled(folder: str, name: str) -> Mapping[str, object]:
    """The mapping in the file `name`.yaml that comes with skyrig in `folder`."""
    checks.choice(f"the name of a {folder.removesuffix('s')}", name, bundled_names(folder))
    return copy.deepcopy(_bundled(folder, name))


@cache
def _bundled(folder: str, name: str) -> Mapping[str, object]:
    """Read once: these files come with skyrig and do not change while it runs."""
    return read_yaml((_DATA / folder / f"{name}.yaml").read_text(encoding="utf-8"), f"{folder}/{name}.yaml")


def _count(value: object, counted: dict[int, float]) -> float:
    """How many values `value` holds once its aliases are written out; infinite if it contains itself.

    A few lines of nested aliases can stand for billions of values, which only show once an array is made.
    """
    if not isinstance(value, Mapping | list):
        return 1
    if id(value) not in counted:
        counted[id(value)] = float("inf")
        inside = value.values() if isinstance(value, Mapping) else value
        counted[id(value)] = 1 + sum(_count(item, counted) for item in inside)
    return counted[id(value)]


def _one_line(reason: object) -> str:
    """An error's text on one line, without a full stop."""
    return " ".join(str(reason).split()).rstrip(".")
