"""Files of people's own: run when somebody asks for them by name, never because a scenario mentions them."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from skyrig.checks import nearest
from skyrig.errors import InputError

MOST_WORDS = 300
"""Longest quote of an error; JAX's run over pages."""


class Used(NamedTuple):
    """A file that something came from."""

    file: str
    sha256: str


LOADED: dict[Path, tuple[Used, ModuleType]] = {}
"""What was brought in already, by its whole path."""
ORIGINS: dict[tuple[str, str], Used] = {}
"""Where what is registered came from, by kind and name; what is not here is skyrig's own, or was typed in."""
_loading: list[Used] = []


def load(path: Path, option: str = "--with") -> tuple[Used, ModuleType]:
    """Run a Python file, once, so that what it registers is known; `option` begins the errors' sentences.

    Raises:
        InputError: If it is no Python file or fails; one sentence says where and why.
    """
    if path.suffix != ".py" or not path.is_file():
        beside = [it.name for it in path.parent.glob("*.py")] if path.parent.is_dir() else []
        near = nearest(path.name, beside)
        raise InputError(f"{option} must name a Python file, but {str(path)!r} is none{near}.")
    used = Used(str(path), hash_of(path))
    whole = path.resolve()
    known = LOADED.get(whole)
    if known is not None and known[0].sha256 == used.sha256:
        return known
    name = f"_own_{path.stem}"  # of its own, so that a mine.py named like a package hides nothing
    spec = importlib.util.spec_from_file_location(name, whole)
    if spec is None or spec.loader is None:
        raise InputError(f"{option} {str(path)!r} cannot be loaded as Python.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(whole.parent))
    try:
        with _from(used):
            spec.loader.exec_module(module)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{option} {str(path)!r} cannot be loaded: {fault(error, path)}.") from error
    LOADED[whole] = used, module
    return LOADED[whole]


@contextmanager
def _from(used: Used) -> Iterator[None]:
    _loading.append(used)
    try:
        yield
    finally:
        _loading.pop()


def note(kind: str, name: str) -> None:
    """Remember that a name came from the file that is being run, if one is."""
    if _loading:
        ORIGINS[kind, name] = _loading[-1]


def hash_of(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fault(error: BaseException, path: Path) -> str:
    """What went wrong in somebody's own file, and in which line of it."""
    if isinstance(error, SyntaxError):
        return f"{path}, line {error.lineno}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    whole = path.resolve()
    lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == whole]
    words = " ".join(str(error).split()).rstrip(".")
    words = words if len(words) <= MOST_WORDS else f"{words[:MOST_WORDS]}..."
    place = f"{path}, line {lines[-1]}: " if lines else ""
    return f"{place}{type(error).__name__}: {words}" if words else f"{place}{type(error).__name__}"
