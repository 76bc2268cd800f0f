"""Formations that know their downwash: how far cables lean so that jets miss the load. Without JAX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from skyrig.checks import Numbers
from skyrig.constants import GRAVITY
from skyrig.jets import jet_pressure

LEANS = np.arange(0.0, 0.9001, 0.02)
"""Outward leans that are tried (rad)."""
USED = 0.9
"""Share of its thrust that a vehicle may need in hover."""
HARDLY = 0.02
"""Share by which the busiest vehicle may work more than at the best lean, for a smaller one (1)."""
APART = 0.05
"""Gap that vehicles keep (m)."""


class Formation(NamedTuple):
    """A hover on cables that all lean outwards."""

    lean: float
    """Angle of an equal share's cable from the vertical (rad)."""
    download: float
    """What the jets press the payload down with (N); infinite if thrust could never catch up with it."""
    used: float
    """Share of its thrust that the busiest vehicle needs (1)."""
    gap: float
    """Least gap between vehicles (m)."""


def formation(parts: Any, lean: float, share: float = 1.0) -> Formation:
    """The hover with that lean, of a rig on cables in a wash of which the load feels a `share`.

    Jets go with thrust and thrust with what they press, so the download D solves D = k . T(D), k being what
    a newton of each vehicle's thrust presses.
    """
    from skyrig.scenario.demands import load_shares

    carried = load_shares(parts) / parts.payload.mass
    out = np.tan(lean) / parts.count * _outward(parts)
    pull = np.concatenate([out, carried[:, None]], axis=1)  # of each cable, a newton of load
    up = pull / np.linalg.norm(pull, axis=1, keepdims=True)
    places = parts.points + np.asarray(parts.lengths)[:, None] * up
    own = np.array([frame.mass for frame in parts.airframes])[:, None] * [0.0, 0.0, GRAVITY]
    weight = parts.payload.mass * GRAVITY
    most = np.array([frame.total_thrust_max for frame in parts.airframes])
    download = 0.0
    for _ in range(50):
        thrust = own + (weight + download) * pull
        size = np.linalg.norm(thrust, axis=1)
        new = share * float(_pressed(parts, places, thrust / size[:, None]) @ size)
        if abs(new - download) < 1e-6 * weight or new > 100 * weight:
            download = new
            break
        download = new
    used = float((np.linalg.norm(own + (weight + download) * pull, axis=1) / most).max())
    return Formation(lean, download, used, _gap(parts, places))


def best_lean(parts: Any, share: float = 1.0) -> Formation:
    """The least lean at which vehicles are apart and the busiest works hardly more than it must."""
    tried = [formation(parts, float(lean), share) for lean in (LEANS if parts.count > 1 else LEANS[:1])]
    apart = [it for it in tried if it.gap > APART] or [max(tried, key=lambda it: it.gap)]
    least = min(it.used for it in apart)
    return next(it for it in apart if it.used <= (1 + HARDLY) * least)


def washed(parts: Any, lean: float, share: float) -> Iterator[str]:
    """A sentence on a formation that cannot lift through its own wash."""
    it = formation(parts, lean, share)
    if it.used <= 1.0:
        return
    best = best_lean(parts, share)
    weight = parts.payload.mass * GRAVITY
    cure = (
        f"lean them by {best.lean:.2g} rad (controller.gains.lean and start.lean; leave out both to choose)"
        if best.used <= USED
        else "make the load heavier for its size, the cables longer or the team stronger"
    )
    pressed = "more than" if it.download > 10 * weight else f"{it.download / weight:.2g} of"
    yield (
        f"With cables that lean by {lean:.2g} rad the team cannot lift through its own wash, which presses "
        f"the load with {pressed} its weight: {cure}."
    )


def _pressed(parts: Any, places: Numbers, axis: Numbers) -> Numbers:
    """(n,) downward force on the level load (N) for every newton of each vehicle's thrust along `axis`."""
    from skyrig.scenario.elements.downwash import disc_area, upper_face

    pieces, area = upper_face(parts.payload)
    apart = pieces[:, None] - places
    s = -(apart * axis).sum(-1)
    square = np.maximum((apart**2).sum(-1) - s**2, 0.0)
    span = np.array([2 * frame.arm for frame in parts.airframes])
    over = 1 / (2 * np.array([disc_area(frame) for frame in parts.airframes]))
    return (jet_pressure(s, square, span, over) * area).sum(axis=0) * axis[:, 2] ** 2


def _outward(parts: Any) -> Numbers:
    """(n, 2) unit vectors from the middle of the attachments."""
    if parts.count == 1:
        return np.zeros((1, 2))
    flat = parts.points[:, :2] - parts.points[:, :2].mean(axis=0)
    size = np.linalg.norm(flat, axis=1, keepdims=True)
    around = 2 * np.pi * np.arange(parts.count) / parts.count
    return np.where(
        size > 1e-9, flat / np.maximum(size, 1e-9), np.stack([np.cos(around), np.sin(around)], axis=1)
    )


def _gap(parts: Any, places: Numbers) -> float:
    radii = [frame.radius for frame in parts.airframes]
    pairs = ((j, k) for j in range(parts.count) for k in range(j))
    return min(
        (float(np.linalg.norm(places[j] - places[k])) - radii[j] - radii[k] for j, k in pairs), default=np.inf
    )
