"""The jets below vehicles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np

from skyrig.fields import unit
from skyrig.scenario.world import ElementSpec

if TYPE_CHECKING:
    from skyrig.elements import Element
    from skyrig.scenario.mechanisms import RigParts
    from skyrig.vehicles import Airframe, Payload

PIECES = 4
"""A payload's upper face is divided into so many squared."""


class DownwashSpec(ElementSpec, frozen=True, kw_only=True):
    """The jets below vehicles, which press what hangs or flies in them."""

    payload: Annotated[float, unit("1", "Share of the pressure that the payload feels", ge=0, le=10)] = 1.0
    vehicles: Annotated[
        float, unit("1", "Share of the pressure that vehicles' rotor discs feel", ge=0, le=10)
    ] = 1.0

    def build(self, parts: RigParts) -> Element:
        """Jets and the plates they press on."""
        from skyrig.algebra import as_jax
        from skyrig.elements.downwash import Downwash, Plate

        def plate(them: list[tuple[np.ndarray, float]], share: float) -> Plate:
            most = max(len(places) for places, _ in them)
            middle, area = np.zeros((3, most, len(them))), np.zeros((most, len(them)))
            for k, (places, each) in enumerate(them):
                middle[:, : len(places), k], area[: len(places), k] = places.T, share * each
            up = np.tile([[0.0], [0.0], [1.0]], (1, len(them)))
            return Plate(as_jax(middle), as_jax(up), as_jax(area))

        plates = {
            group: plate([upper_face(it) for it in them], self.payload) for group, them in parts.loads.items()
        }
        plates["vehicles"] = plate([_discs(it) for it in parts.airframes], self.vehicles)
        span = np.array([2 * it.arm for it in parts.airframes])
        return Downwash(plates, as_jax(span), as_jax(2 * np.array([disc_area(it) for it in parts.airframes])))


def upper_face(load: Payload) -> tuple[np.ndarray, float]:
    """Middles (p, 3) of the pieces of a payload's upper face, in its frame (m), and the area of one (m^2)."""
    from skyrig.scenario.elements.payload_drag import areas_of

    areas = areas_of(load)
    if load.is_point:
        return np.zeros((PIECES**2, 3)), float(areas[3]) / PIECES**2
    corners = np.asarray(load.shape.corners)
    low, wide, top = corners.min(axis=0), np.ptp(corners, axis=0), corners[:, 2].max()
    outline = getattr(load.shape, "outline", None)
    count = PIECES
    while True:
        shares = (np.arange(count) + 0.5) / count
        x, y = (it.ravel() for it in np.meshgrid(low[0] + shares * wide[0], low[1] + shares * wide[1]))
        inside = np.full(x.size, True) if outline is None else _within(np.asarray(outline), x, y)
        if inside.sum() >= PIECES**2 or count > 4 * PIECES:
            break
        count += 1
    places = np.stack([x[inside], y[inside], np.full(inside.sum(), top)], axis=1)
    return places, float(areas[2]) / max(len(places), 1)


def _within(outline: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Which points lie within an outline: those from which a ray crosses it an odd number of times."""
    odd = np.full(x.size, False)
    for (x0, y0), (x1, y1) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        crosses = (y0 > y) != (y1 > y)
        rise = np.where(crosses, y1 - y0, 1.0)
        odd ^= crosses & (x < x0 + (y - y0) * (x1 - x0) / rise)
    return odd


def _discs(frame: Airframe) -> tuple[np.ndarray, float]:
    return np.zeros((1, 3)), disc_area(frame)


def disc_area(frame: Airframe) -> float:
    """Of all rotor discs of a vehicle (m^2)."""
    return float(np.pi * (frame.rotor_radius or 0.4 * frame.arm) ** 2 * frame.rotor_count)
