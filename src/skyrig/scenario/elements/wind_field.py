"""Wind from a grid file."""

from __future__ import annotations

import io
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from skyrig import files
from skyrig.errors import InputError
from skyrig.fields import unit
from skyrig.scenario.sentences import refuse
from skyrig.scenario.world import ElementSpec

if TYPE_CHECKING:
    from skyrig.elements import Element
    from skyrig.scenario.mechanisms import RigParts

COLUMNS = ("x", "y", "z", "u", "v", "w")
MOST_BYTES = 50_000_000


class WindFieldSpec(ElementSpec, frozen=True, kw_only=True):
    """A steady wind that differs from place to place, by a table on a regular grid."""

    pushes = True

    file: Annotated[str, unit("", "CSV with columns x, y, z (m) and u, v, w (m/s), every grid point once")]
    scale: Annotated[float, unit("1", "Factor on all of its winds", ge=-100, le=100)] = 1.0

    def check(self, parts: RigParts, where: str, path: str) -> None:
        """The file holds a grid."""
        try:
            read(self.file)
        except InputError as error:
            raise refuse(
                where, f"{path}.file", f"must hold a grid of winds: {str(error).rstrip('.')}"
            ) from None

    def build(self, parts: RigParts) -> Element:
        """The table."""
        from skyrig.algebra import as_jax
        from skyrig.elements import WindField

        origin, spacing, table = read(self.file)
        return WindField(as_jax(origin[:, None]), as_jax(spacing[:, None]), as_jax(self.scale * table))


def read(path: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Origin (3,), spacing (3,) and winds (X, Y, Z, 3) of a grid file."""
    with files.open_regular(path, MOST_BYTES, Path(path).name) as file:
        return _parsed(file.read(), Path(path).name)


@lru_cache(maxsize=8)
def _parsed(content: bytes, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name} is not text.") from None
    head, _, body = text.partition("\n")
    names = [it.strip() for it in head.split(",")]
    if sorted(names) != sorted(COLUMNS):
        raise InputError(f"the first line of {name} must name the columns {', '.join(COLUMNS)}.")
    try:
        rows = np.loadtxt(io.StringIO(body), delimiter=",", ndmin=2)[:, [names.index(it) for it in COLUMNS]]
    except (ValueError, IndexError):
        raise InputError(f"{name} must hold six numbers a line.") from None
    if not np.isfinite(rows).all():
        raise InputError(f"{name} must hold finite numbers only.")
    axes = [np.unique(rows[:, k]) for k in range(3)]
    shape = tuple(len(axis) for axis in axes)
    steps = [np.diff(axis) for axis in axes]
    if len(rows) != np.prod(shape) or len(np.unique(rows[:, :3], axis=0)) != len(rows):
        raise InputError(f"{name} must hold every point of its grid of {shape} once, not {len(rows)} points.")
    if any(len(step) and np.ptp(step) > 1e-6 * step.max() for step in steps):
        raise InputError(f"{name} must have its grid points at even distances along each axis.")
    order = np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))
    spacing = np.array([step.mean() if len(step) else 1.0 for step in steps])
    return np.array([axis[0] for axis in axes]), spacing, rows[order, 3:].reshape(*shape, 3)
