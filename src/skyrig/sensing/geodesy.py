"""From metres around the world's origin to latitude, longitude and altitude, and back.

On an ellipsoid (WGS 84) by its two radii of curvature at the origin: flat, good for the few hundred metres
that a flight takes, and exactly its own inverse.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
ORIGIN = (47.397742, 8.545594, 488.0)
"""Latitude, longitude (degrees) and altitude (m) of the world's origin unless said otherwise: PX4's home."""
_EQUATOR, _SQUARED = 6378137.0, 6.69437999014e-3


def _radii(origin: tuple[float, float, float]) -> tuple[float, float]:
    """Metres for a radian of latitude, and of longitude, at the origin's altitude."""
    latitude = np.radians(origin[0])
    bend = 1 - _SQUARED * np.sin(latitude) ** 2
    meridian = _EQUATOR * (1 - _SQUARED) / bend**1.5
    across = _EQUATOR / np.sqrt(bend)
    return meridian + origin[2], (across + origin[2]) * np.cos(latitude)


def geodetic(place: Numbers, origin: tuple[float, float, float] = ORIGIN) -> Numbers:
    """Latitude, longitude (degrees) and altitude (m) of places east, north and up of the origin (m)."""
    north, east = _radii(origin)
    x, y, z = np.moveaxis(np.asarray(place, dtype=np.float64), -1, 0)
    latitude, longitude = origin[0] + np.degrees(y / north), origin[1] + np.degrees(x / east)
    return np.stack([latitude, longitude, origin[2] + z], axis=-1)


def local(place: Numbers, origin: tuple[float, float, float] = ORIGIN) -> Numbers:
    """Metres east, north and up of the origin of latitudes, longitudes (degrees) and altitudes (m)."""
    north, east = _radii(origin)
    latitude, longitude, altitude = np.moveaxis(np.asarray(place, dtype=np.float64), -1, 0)
    x, y = np.radians(longitude - origin[1]) * east, np.radians(latitude - origin[0]) * north
    return np.stack([x, y, altitude - origin[2]], axis=-1)
