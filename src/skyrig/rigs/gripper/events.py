"""What happens in a grasp, from a flight's signals: touch, grasped, lifted, released, dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

STEADY = 0.1
"""What holds for so long counts (s); contacts come and go for a moment."""


@dataclass(frozen=True)
class GraspEvent:
    """Something that happened to the object or a finger."""

    time: float
    """s."""
    kind: str
    group: str
    """'finger' or 'payload'."""
    index: int
    value: float
    """Press on the object (N)."""
    unit: str = "N"


def grasp_events(times: npt.NDArray[np.float64], told: Mapping[str, Any]) -> list[GraspEvent]:
    """The events of a flight, in order.

    touch: a finger presses on the object for the first time. grasped: two or more press. lifted: held off
    the ground. released: no finger presses any more, and the object stands. dropped: the same in the air.

    Args:
        times: (T,) s.
        told: Signals by name, (T, count).
    """
    press, ground = np.asarray(told["finger.force"]), np.asarray(told["ground.force"])[:, 0]
    total, touching = press.sum(1), (press > 0).sum(1)
    found = [
        GraspEvent(float(times[row]), "touch", "finger", k, float(press[row, k]))
        for k in range(press.shape[1])
        for row in np.flatnonzero(press[:, k] > 0)[:1]
    ]

    def since(flags: npt.NDArray[np.bool_], start: int) -> int | None:
        """The first row from `start` on at which flags begin to hold for `STEADY`."""
        row = start
        while row < len(times):
            if not flags[row]:
                row += 1
                continue
            end = row + int(np.argmin(flags[row:])) if not flags[row:].all() else len(times)
            if times[min(end, len(times) - 1)] - times[row] >= STEADY:
                return row
            row = end
        return None

    row: int | None = 0
    while row is not None:
        row = since(touching >= 2, row)
        if row is None:
            break
        found.append(GraspEvent(float(times[row]), "grasped", "payload", 0, float(total[row])))
        gone = since(touching == 0, row)
        end = len(times) if gone is None else gone
        lifted = since((np.arange(len(times)) < end) & (touching >= 2) & (ground <= 0), row)
        if lifted is not None:
            found.append(GraspEvent(float(times[lifted]), "lifted", "payload", 0, float(total[lifted])))
        if gone is not None:
            kind = "released" if ground[gone] > 0 else "dropped"
            found.append(GraspEvent(float(times[gone]), kind, "payload", 0, 0.0))
        row = gone
    return sorted(found, key=lambda it: it.time)
