"""How a cable hangs between two points."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]


def hanging(start: Reals, end: Reals, length: float, points: int = 17) -> Reals:
    """A cable of `length` (m) between two points, (points, 3): straight if taut, else its catenary."""
    way = end - start
    share = np.linspace(0.0, 1.0, points)
    if length <= np.linalg.norm(way) * (1 + 1e-6):
        return start + share[:, None] * way
    across, rise = float(np.hypot(way[0], way[1])), float(way[2])
    along = share * length
    if across < 1e-3 * length:  # it hangs in a fold
        down = (length - rise) / 2
        height = np.where(along < down, -along, along - 2 * down)
        return start + np.c_[share[:, None] * way[:2], height]
    # a catenary z = a cosh((x - low)/a): sinh(u)/u = sqrt(length^2 - rise^2)/across, u = across/2a
    stretch = np.sqrt(length**2 - rise**2) / across
    u = np.sqrt(6 * (stretch - 1)) if stretch < 3 else np.log(2 * stretch) + np.log(np.log(2 * stretch))
    for _ in range(12):
        u -= (np.sinh(u) / u - stretch) / ((np.cosh(u) - np.sinh(u) / u) / u)
    a = across / (2 * u)
    low = across / 2 - a * np.arctanh(rise / length)
    x = low + a * np.arcsinh(along / a - np.sinh(low / a))
    height = a * (np.cosh((x - low) / a) - np.cosh(low / a))
    return start + np.c_[(x / across)[:, None] * way[:2], height]
