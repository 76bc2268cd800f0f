"""What sensors read in a flight: the truth at every tick, shown to them in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from skyrig.flight.records import Signal
from skyrig.sensing.sensor import Numbers, Truth
from skyrig.tracks import Track

if TYPE_CHECKING:
    from skyrig.scenario.build import Built

TENSION = "cable.tension"


def first_truth(built: Built) -> Truth:
    """What is so at a flight's start; cables pull as in the hover it starts from, if it does."""
    bodies = {group: _track(it) for group, it in built.rig.bodies(built.state).items()}
    n, hover = built.rig.count, built.hover
    cables = built.rig.layout.signal(TENSION)
    tension = np.zeros(0 if cables is None else cables.count)
    if hover is None:
        return Truth(0.0, bodies, np.zeros(n), np.zeros((n, 3)), tension)
    pull = np.asarray(hover.signals.get(TENSION, tension), dtype=np.float64)
    return Truth(0.0, bodies, np.asarray(hover.thrust), np.asarray(hover.moment), pull)


def latest_truth(record: Any, time: float) -> Truth:
    """What is so at the end of the step that this row of a record tells of."""
    bodies = {group: _track(it) for group, it in record.bodies.items()}
    tension = np.asarray(record.signals.get(TENSION, np.zeros(0)))
    return Truth(time, bodies, np.asarray(record.thrust), np.asarray(record.moment).T, tension)


def sensed(built: Built, flown: Any, since: Numbers) -> dict[str, Signal]:
    """Signals of a scenario's sensors, a row for each of `since` (s), from a flight's every step.

    Args:
        built: What was flown.
        flown: A `skyrig.sim.ClosedLoop`.
        since: (K,) the times of the flight's inputs, ticks among them (s).
    """
    sensors = built.sensors()
    if not sensors:
        return {}
    ticks = built.control_times[:-1]
    ticks = ticks[ticks <= flown.times[-1] + 1e-9]
    rows = np.searchsorted(flown.times, ticks - 1e-9)
    columns: dict[str, list[Numbers]] = {it.name: [] for it in sensors.quantities}
    for tick, row in zip(ticks.tolist(), rows.tolist(), strict=True):
        readings = sensors.show(first_truth(built) if tick == 0 else _truth(flown, tick, row))
        for reading in readings.values():
            for name, values in reading.values.items():
                columns[name].append(values.reshape(-1))
    held = np.clip(np.searchsorted(ticks, since + 1e-9, side="right") - 1, 0, None)
    return {
        it.name: Signal(
            np.asarray(columns[it.name])[held], it.unit, it.says, it.name.split(".")[0], held=True
        )
        for it in sensors.quantities
    }


def _truth(flown: Any, tick: float, row: int) -> Truth:
    bodies = {
        group: Track(*(np.asarray(leaf)[row] for leaf in vars(it).values()))
        for group, it in flown.bodies.items()
    }
    tension = np.asarray(flown.signals[TENSION][row]) if TENSION in flown.signals else np.zeros(0)
    return Truth(tick, bodies, flown.made[0][row], flown.made[1][row], tension)


def _track(bodies: Any) -> Track:
    """Bodies (3, k) as a track without times, (k, 3)."""
    leaves = (bodies.position, bodies.velocity, bodies.attitude, bodies.rate)
    return Track(*(np.asarray(leaf, dtype=np.float64).T for leaf in leaves))
