"""A motion recorded elsewhere: samples in a CSV file, joined or smoothed by a spline of degree seven."""

from __future__ import annotations

import csv
import io
import math
import os
import reprlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from skyrig import checks, files
from skyrig.arrays import Array
from skyrig.checks import nearest
from skyrig.errors import InputError
from skyrig.planning.pieces import Pieces
from skyrig.planning.pytree import static
from skyrig.planning.reference import Reference
from skyrig.planning.smoothing import DEGREE, fitted
from skyrig.planning.taylor import ORDER, Series

FEWEST_TO_TELL = 4
"""Samples from which one can tell whether they begin at rest."""
ALIKE = 0.5
"""Most difference of the first two steps, over the larger of them, if samples begin moving."""
SLOW = 0.05
"""Most size of the first step, over the largest of all, if samples begin at rest."""
MOST_BYTES = 100_000_000
"""No table is larger."""
PLACES, ANGLES = ("x", "y", "z"), ("roll", "pitch", "yaw")


@dataclass(frozen=True, eq=False)
class Table(Reference):
    """The spline through or near all samples; position (m) and Euler angles (rad) in six columns.

    Attributes:
        pieces: The spline.
        rest: Whether it begins and ends at rest.
        speeds: How fast the samples move at the first and at the last of them (m/s), see `end_speeds`.
        misfit: Root mean square distance of the samples from it (m); 0 unless it is smoothed.
    """

    pieces: Pieces
    rest: bool = static(default=False)
    speeds: tuple[float, float] = static(default=(0.0, 0.0))
    misfit: float = static(default=0.0)

    @property
    def duration(self) -> Array:
        """From the first sample to the last (s)."""
        return self.pieces.breaks[-1]

    @property
    def knots(self) -> Array:
        """Where pieces of the spline meet (s)."""
        return self.pieces.breaks

    @property
    def inner_continuity(self) -> int:
        """6, for degree seven."""
        return ORDER

    @property
    def rest_orders(self) -> tuple[int, int]:
        """Three derivatives vanish at ends at rest; otherwise the samples say, and it may be moving."""
        return (3, 3) if self.rest else (0, 0)

    def series(self, times: Array) -> tuple[Series, Series]:
        """Position and angles from their pieces."""
        both = self.pieces.series(times)
        return both[..., :3], both[..., 3:]


def table(
    *,
    file: str | os.PathLike[str],
    ends: str = "free",
    smooth: float | None = None,
    directory: str | None = None,
) -> Table:
    """Fly what a CSV file says.

    Its first line names the columns, in any order: t (s), x, y, z (m) and, if wanted, roll, pitch,
    yaw (rad); the time of the first sample is taken as 0. The spline goes through every sample, and its
    sixth derivative magnifies noise by the sampling rate to the sixth power: noisy samples need `smooth`.

    Args:
        file: The CSV file, at least eight samples (two, if the ends are at rest).
        ends: "free" lets the samples decide how it begins and ends, "rest" makes it begin and end
            with velocity, acceleration and jerk zero.
        smooth: What changes faster than this (s) is taken for noise: the spline goes as near to the
            samples as pieces of this length allow. Through every sample if left out.
        directory: Where the file lies, if its name is relative.
    """
    if ends not in ("free", "rest"):
        raise InputError(f"ends must be free or rest{nearest(ends, ('free', 'rest'))}, not {ends!r}.")
    piece = None if smooth is None else float(checks.positive("smooth", smooth))
    path = Path(directory or "", file)
    times, values = read(path)
    return from_samples(times, values, ends=ends, smooth=piece, field=f"file {path}")


def from_samples(
    times: Float[np.ndarray, " samples"],
    values: Float[np.ndarray, "samples 6"],
    *,
    ends: str = "free",
    smooth: float | None = None,
    field: str = "samples",
) -> Table:
    """The spline through samples of position (m) and roll, pitch, yaw (rad) at `times` (s); see `table`."""
    from scipy.interpolate import make_interp_spline  # takes a while to import; checks do without

    rest = ends == "rest"
    least = 2 if rest else DEGREE + 1
    if len(times) < least:
        raise InputError(f"{field} must hold at least {least} samples with ends {ends}, not {len(times)}.")
    times = times - times[0]
    if smooth is None:
        zero = [(order, np.zeros(values.shape[1])) for order in (1, 2, 3)]
        spline = make_interp_spline(times, values, k=DEGREE, bc_type=(zero, zero) if rest else None)
        speeds, misfit = end_speeds(times, values[:, :3]), 0.0
    else:
        spline = fitted(times, values, smooth, rest, field)
        looks = np.linspace(0.0, times[-1], max(int(4 * times[-1] / smooth), 8))
        seen = fitted(times, values[:, :3], smooth, rest=False, field=field)(looks) if rest else spline(looks)
        speeds = end_speeds(looks, seen[:, :3])
        misfit = float(np.sqrt(((spline(times) - values)[:, :3] ** 2).sum(axis=1).mean()))
    breaks = np.unique(spline.t)  # they repeat at both ends
    origin, scale = breaks[:-1], np.diff(breaks)
    derivatives = [spline(origin, nu=n) / math.factorial(n) for n in range(DEGREE + 1)]
    coefficients = np.stack(derivatives, axis=1) * (scale[:, None] ** np.arange(DEGREE + 1))[..., None]
    return Table(Pieces(breaks, origin, scale, coefficients), rest, speeds, misfit)


def end_speeds(
    times: Float[np.ndarray, " samples"], places: Float[np.ndarray, "samples 3"]
) -> tuple[float, float]:
    """How fast samples move at the first and at the last of them (m/s); 0 where they come from rest.

    A motion that speeds up evenly from rest covers a third in its first step of what it covers in its second;
    one that is moving does about the same in both, and noise goes anywhere.
    """
    if len(times) < FEWEST_TO_TELL:
        return 0.0, 0.0
    steps = np.diff(places, axis=0) / np.diff(times)[:, None]
    sizes = np.linalg.norm(steps, axis=1)

    def speed(end: int, next_to_it: int) -> float:
        apart = np.linalg.norm(steps[end] - steps[next_to_it])
        alike = apart <= ALIKE * max(sizes[end], sizes[next_to_it])
        return float(sizes[end]) if alike and sizes[end] > SLOW * sizes.max() else 0.0

    return speed(0, 1), speed(-1, -2)


def read(path: Path) -> tuple[Float[np.ndarray, " samples"], Float[np.ndarray, "samples 6"]]:
    """Times (s) and positions with angles (m, rad) from a CSV file, checked line by line."""
    with files.open_regular(path, MOST_BYTES, f"file {path}") as stream:
        content = stream.read()
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error):
        raise InputError(
            f"file {path} cannot be read: it is no UTF-8 text of comma-separated values."
        ) from None
    names = [name.strip() for name in rows[0]] if rows else []
    _check_header(path, names)
    wanted = ("t", *PLACES, *(ANGLES if ANGLES[0] in names else ()))
    filled = [
        (number, row) for number, row in enumerate(rows[1:], start=2) if any(cell.strip() for cell in row)
    ]
    values = np.zeros((len(filled), 7))
    for i, (number, row) in enumerate(filled):
        if len(row) != len(names):
            raise InputError(f"file {path}, line {number} must have {len(names)} columns, not {len(row)}.")
        for j, name in enumerate(wanted):
            values[i, j] = _number(path, number, name, row[names.index(name)])
        if i and values[i, 0] <= values[i - 1, 0]:
            raise InputError(
                f"file {path}, line {number}, column t must grow: "
                f"{values[i, 0]:g} s follows {values[i - 1, 0]:g} s."
            )
    return values[:, 0], values[:, 1:]


def _check_header(path: Path, names: list[str]) -> None:
    known = ("t", *PLACES, *ANGLES)
    for name in names:
        if name not in known:
            listed = f"{', '.join(known)}{nearest(name, known)}"
            raise InputError(f"file {path}, line 1, column {reprlib.repr(name)} must be one of {listed}.")
        if names.count(name) > 1:
            raise InputError(f"file {path}, line 1 must name column {name} only once.")
    needed = known if any(name in names for name in ANGLES) else known[:4]
    missing = [name for name in needed if name not in names]
    if missing:
        raise InputError(
            f"file {path}, line 1 must name the columns {', '.join(needed)}; {missing[0]} is missing."
        )


def _number(path: Path, line: int, column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise InputError(
            f"file {path}, line {line}, column {column} must be a finite number, not {reprlib.repr(text)}."
        )
    return value
