"""Reading files people write, and YAML, also that which comes with skyrig.

Only plain values are read; a file cannot run code. Free of JAX, like `skyrig.checks`.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from skyrig import checks
from skyrig.errors import InputError

_DATA = files("skyrig") / "data"
_MOST_VALUES = 1_000_000
_MOST_BYTES = 1_000_000
_folders: ContextVar[tuple[Path, ...] | None] = ContextVar("folders", default=None)


@contextlib.contextmanager
def only_under(folders: Sequence[Path]) -> Iterator[None]:
    """Within this context, in this thread, `open_regular` opens nothing outside of `folders`."""
    before = _folders.set(tuple(folder.resolve() for folder in folders))
    try:
        yield
    finally:
        _folders.reset(before)


def open_regular(path: str | Path, most: int | None = None, name: str | None = None) -> BinaryIO:
    """Open a file to read its bytes; nobody ever waits for a pipe or a device.

    Args:
        path: A regular file. Within `only_under` it must lie, links followed, under one of the folders.
        most: How many bytes it may hold; None is as many as it likes.
        name: What messages call it, if not by its path.

    Raises:
        InputError: If there is no such file, or it may not be read.
    """
    said = name or str(path)
    flags = ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY")  # not every system has them all
    try:
        handle = os.open(_allowed(Path(path)), os.O_RDONLY | sum(getattr(os, flag, 0) for flag in flags))
    except InputError:
        raise
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "no file has such a name"
        raise InputError(f"{said} cannot be read: {reason}.") from None
    about = os.fstat(handle)
    if stat.S_ISREG(about.st_mode) and (most is None or about.st_size <= most):
        return os.fdopen(handle, "rb")
    os.close(handle)
    if not stat.S_ISREG(about.st_mode):
        raise InputError(f"{said} cannot be read: it is not a regular file.")
    raise InputError(f"{said} holds {about.st_size} bytes, but may hold {most} at most.")


def _allowed(path: Path) -> Path:
    """`path` if it may be read; which files there are elsewhere is nobody's business."""
    folders = _folders.get()
    if folders is None:
        return path
    place = path.resolve()
    if not any(place.is_relative_to(folder) for folder in folders):
        raise InputError(
            "Only files in the folders that the studio was started with can be opened: that of flights, "
            "the scenario's, and those that --open adds."
        )
    return place


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
    with open_regular(path, _MOST_BYTES) as stream:
        content = stream.read()
    try:
        return read_yaml(content.decode("utf-8"), str(path))
    except UnicodeDecodeError:
        raise InputError(f"{path} cannot be read: it is not UTF-8 text.") from None


@cache
def bundled_names(folder: str) -> tuple[str, ...]:
    """The names of the files that come with skyrig in `folder`, without their ending, in order."""
    entries = (entry.name for entry in (_DATA / folder).iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in entries if name.endswith(".yaml")))


def read_bundled(folder: str, name: str) -> Mapping[str, object]:
    """The mapping in the file `name`.yaml that comes with skyrig in `folder`."""
    checks.choice(f"the name of a {folder.removesuffix('s')}", name, bundled_names(folder))
    return copied(_bundled(folder, name))


def copied(value: Any) -> Any:
    """A copy of plain values, all dictionaries and lists in it new; several times quicker than `deepcopy`."""
    if isinstance(value, dict):
        return {key: copied(held) for key, held in value.items()}
    return [copied(held) for held in value] if isinstance(value, list) else value


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
