"""A scenario flown by what sensors and filters tell: `controller.sees: estimate`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from skyrig.flight.flight import Flight
from skyrig.runs.asked import AskedController
from skyrig.runs.session import Session
from skyrig.scenario import Scenario
from skyrig.tracks import Track


def fly_estimated(known: Scenario, progress: Callable[[float], None] | None = None) -> Flight:
    """The flight; what the controller was told (`measured`) are the estimates.

    The controller is compiled and asked tick by tick, as sensors and filters are not in the loop.
    """
    session, told = Session(known), progress or (lambda time: None)
    asked, believed = AskedController(session), []
    ticks = session.built.control_times[:-1]
    for _ in ticks:
        thrust, moment = asked()
        believed.append(asked.seen)
        session.step((thrust, moment))
        told(session.time)
    flight = session.flight
    rows = np.clip(np.searchsorted(ticks, flight.inputs.times + 1e-9, side="right") - 1, 0, None)
    return replace(flight, measured={group: _track(believed, group, rows) for group in flight.measured})


def _track(believed: list[dict[str, Track]], group: str, rows: Any) -> Track:
    leaves = zip(*(vars(it[group]).values() for it in believed), strict=True)
    return Track(*(np.stack(list(leaf))[rows] for leaf in leaves))
