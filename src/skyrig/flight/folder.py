"""The folder of a flight: its contents appear all at once, and never beside those of another run."""

from __future__ import annotations

import contextlib
import ctypes
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from skyrig.errors import InputError
from skyrig.flight.drawing import NAMES

SCENARIO, METRICS, REPORT = "scenario.yaml", "metrics.json", "report.html"
_OURS = {SCENARIO, METRICS, REPORT, "foxglove-layout.json", *(f"{name}.png" for name in NAMES)}


def ours(file: Path) -> bool:
    """Whether a file is one that flying, drawing or exporting a flight leaves in its folder."""
    return not file.is_dir() and (file.name in _OURS or file.name.startswith(("flight.", "flight-")))


def place_for(wanted: Path) -> tuple[Path, list[str]]:
    """Where to write a flight, and which foreign files keep it from going to `wanted`, if any do.

    A folder with nothing but a flight's files is replaced; one with anything else stays as it is, and the
    flight goes to the same name with a number.
    """
    foreign: list[str] = []
    for number in count(1):
        place = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        if place.exists() and not place.is_dir():
            raise InputError(f"{place} is in the way: a folder is needed to write the flight to.")
        try:
            found = sorted(it.name for it in place.iterdir() if not ours(it)) if place.is_dir() else []
        except OSError as error:
            raise InputError(f"{place} cannot be read: {error.strerror}.") from None
        if not found:
            return place, foreign
        foreign = foreign or found
    raise AssertionError


def need_writable(place: Path) -> None:
    """Refuse a place that cannot be written to, before a flight is flown for it; nothing is left behind."""
    draft = _draft_of(place.resolve())
    missing = [it for it in draft.parents if not it.exists()]
    try:
        draft.mkdir(parents=True)
    except OSError as error:
        raise InputError(f"{place} cannot be written: {error.strerror}.") from None
    finally:
        for folder in (draft, *missing):
            with contextlib.suppress(OSError):
                folder.rmdir()


def _draft_of(target: Path) -> Path:
    return target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")


@contextmanager
def whole_folder(place: Path) -> Iterator[Path]:
    """A new folder to write to, which takes the place of `place` when all is written, and not before."""
    target = place.resolve()
    draft = _draft_of(target)
    try:
        draft.mkdir(parents=True)
        yield draft
        _swap(draft, target)
    except OSError as error:
        raise InputError(f"{place} cannot be written: {error.strerror}.") from None
    finally:
        _remove(draft)


def _swap(draft: Path, target: Path) -> None:
    """Put `draft` at `target`; what was there is then at `draft`."""
    if not target.exists():
        draft.rename(target)
    elif not _exchanged(draft, target):
        aside = draft.with_suffix(".old")
        target.rename(aside)
        draft.rename(target)
        aside.rename(draft)


def _exchanged(first: Path, second: Path) -> bool:
    """Whether two paths could be exchanged in one instant, which Linux can."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return rename(here, os.fsencode(first), here, os.fsencode(second), exchange) == 0


def _remove(folder: Path) -> None:
    """Remove a flight's files and their folder; anything else in it stays."""
    if not folder.is_dir():
        return
    for file in folder.iterdir():
        if ours(file):
            with contextlib.suppress(OSError):
                file.unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()
