"""What must agree between a rig on cables and the rest of its scenario."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyrig.planning.reference import quaternion
from skyrig.scenario.crosschecks import check_index
from skyrig.scenario.mechanisms.cables import CableParts
from skyrig.scenario.sentences import refuse
from skyrig.scenario.spec import BodySpec, CutSpec, Reel, Start

SLACK = 1e-9
"""How much farther than its cable a vehicle may start (m): rounding."""


def spans(parts: CableParts, start: Start) -> list[float]:
    """How far each hook starts from its attachment (m)."""
    assert start.vehicles is not None and start.payload is not None
    found = []
    for k, body in enumerate(start.vehicles):
        hook = parts.cables[k].hook or (0.0, 0.0, 0.0)
        found.append(float(np.linalg.norm(_point(body, hook) - _point(start.payload, parts.points[k]))))
    return found


def check_places(parts: CableParts, start: Start, where: str) -> None:
    """No vehicle starts beyond its cable."""
    for k, apart in enumerate(spans(parts, start)):
        if apart > parts.cables[k].length + SLACK:
            raise refuse(
                where,
                f"start.vehicles[{k}].position",
                f"must be within its cable's {parts.cables[k].length:g} m of the attachment, not {apart:.6g}",
            )


def check_hover(parts: CableParts, start: Start, where: str) -> None:
    """Hovering is at rest, and cables that share an attachment lean or differ in length."""
    body = start.payload
    if body is not None and (any(body.velocity) or any(body.rate)):
        raise refuse(
            where, "start.payload.velocity", "must be zero without start.vehicles: hovering is at rest"
        )
    points, lengths = parts.points, [cable.length for cable in parts.cables]
    crowded = parts.count > 1 and np.abs(points - points[0]).max() < 1e-9
    if crowded if start.lean is None else start.lean > 0:
        return
    for j in range(parts.count):
        for k in range(j):
            if np.linalg.norm(points[j] - points[k]) < 1e-6 and abs(lengths[j] - lengths[k]) < 1e-6:
                raise refuse(
                    where,
                    f"rig.cables[{j}].attachment",
                    f"must differ from that of cable {k}, or start.lean be above 0: vehicles would collide",
                )


def check_cable_happening(parts: CableParts, happening: CutSpec | Reel, where: str, path: str) -> None:
    """What is cut is there, and what is reeled has a winch."""
    if isinstance(happening, CutSpec):
        check_index(happening.cable, parts.count, "cable", where, f"{path}.cable")
    else:
        check_reel(happening, parts, where, path)


def check_reel(reel: Reel, parts: CableParts, where: str, path: str) -> None:
    """The cables have winches that can reel so far."""
    if reel.cable is not None:
        check_index(reel.cable, parts.count, "cable", where, f"{path}.cable")
    for k in range(parts.count) if reel.cable is None else [reel.cable]:
        winch = parts.cables[k].winch
        if winch is None:
            raise refuse(where, f"{path}.cable", f"must be one with a winch, which cable {k} does not have")
        if not winch.shortest <= reel.length <= winch.longest:
            raise refuse(
                where,
                f"{path}.length",
                f"must be within the winch's {winch.shortest:g} to {winch.longest:g} m, not {reel.length:g}",
            )


def _point(body: BodySpec, arm: Any) -> np.ndarray:
    """Where a point of a body is in the world (m)."""
    angles = np.asarray(body.attitude if isinstance(body.attitude, tuple) else (0.0, 0.0, body.attitude))
    w, axis = np.split(quaternion(angles), [1])
    twice = 2 * np.cross(axis, arm)
    return np.asarray(body.position) + arm + w * twice + np.cross(axis, twice)
