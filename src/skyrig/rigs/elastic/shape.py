"""How a cable hangs between two points at rest: straight where it must, else a catenary. In NumPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]


def hanging(start: Reals, end: Reals, length: float, count: int) -> Reals:
    """(count + 1, 3) points from `start` to `end` (m), `count` equal pieces of a cable of `length` (m).

    A cable shorter than the way is straight, stretched alike everywhere.
    """
    shares = np.linspace(0.0, 1.0, count + 1)
    straight = start + shares[:, None] * (end - start)
    if np.linalg.norm(end - start) >= length * (1 - 1e-9):
        return straight
    flat, drop = (end - start)[:2], float(end[2] - start[2])
    wide = float(np.linalg.norm(flat))
    way = flat / wide if wide > 1e-9 else np.array([1.0, 0.0])
    # hanging straight down and up again is the limit of a narrow catenary
    narrow = max(wide, 0.02 * np.sqrt(length**2 - drop**2))
    across, heights = _catenary(narrow, drop, length, shares)
    points = start + np.zeros((count + 1, 3))
    points[:, :2] += (across * wide / narrow)[:, None] * way
    points[:, 2] += heights
    return points


def _catenary(wide: float, drop: float, length: float, shares: Reals) -> tuple[Reals, Reals]:
    """Ways across and heights (m) of points at `shares` of a catenary's arc, which ends at (wide, drop)."""
    wanted = np.sqrt(length**2 - drop**2) / wide
    low, high = 1e-9, 50.0
    b = high
    for _ in range(100):  # sinh(b) / b = wanted
        b = (low + high) / 2
        low, high = (b, high) if np.sinh(b) / b < wanted else (low, b)
    a = wide / (2 * b)
    middle = wide / 2 - a * np.arctanh(drop / length)
    along = shares * length + a * np.sinh(-middle / a)
    across = middle + a * np.arcsinh(along / a)
    return across, a * (np.cosh((across - middle) / a) - np.cosh(middle / a))
