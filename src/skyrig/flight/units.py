"""Numbers as people read them: three significant digits, in mm, deg and ms where they fit."""

from __future__ import annotations

import math
from collections.abc import Sequence

_LADDERS: dict[str, tuple[tuple[float, str], ...]] = {
    "m": ((1.0, "m"), (1e-3, "mm"), (1e-6, "µm")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")),
    "N s": ((1.0, "N s"), (1e-3, "mN s"), (1e-6, "µN s")),
    "rad": ((math.pi / 180, "deg"),),
    "1": ((0.01, "%"),),
}
"""What people say instead of a unit, largest first, and how much of the unit each is."""
NOTHING = 1e-12
"""Smaller numbers are rounding errors and written as zero, in the unit they come in."""

Value = float | int | str | None


def number(value: float) -> str:
    """Three significant digits, without powers of ten unless one would have to count zeros."""
    if not math.isfinite(value):
        return "-" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if abs(value) < NOTHING:
        return "0"
    rounded = float(f"{value:.3g}")
    if value == round(value) and abs(value) < 1e6:
        return f"{value:.0f}"
    if not 1e-4 <= abs(rounded) < 1e6:
        return f"{value:.2e}"
    digits = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:.{digits}f}"


def shown(unit: str, values: Sequence[Value]) -> tuple[list[str], str]:
    """Values in `unit` (SI) as people read them, all in the one unit that fits the largest, and that unit.

    Counts, words and None ('-') stay as they are.
    """
    sizes = [abs(value) for value in values if isinstance(value, float) and math.isfinite(value)]
    size = max(sizes, default=0.0)
    scale, name = fitting(unit, size)
    return [_text(value, scale) for value in values], name


def fitting(unit: str, size: float) -> tuple[float, str]:
    """How much of `unit` people's unit for numbers of this size is, and its name."""
    ladder = _LADDERS.get(unit, ((1.0, unit),))
    if size < NOTHING:
        return ladder[0]
    return next((step for step in ladder if size >= step[0] * (1 - 1e-9)), ladder[-1])


def _text(value: Value, scale: float) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return "0" if abs(value) < NOTHING else number(value / scale)
    return str(value)
