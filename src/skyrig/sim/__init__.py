"""Stepping rigs through time: integration, events, roll-outs, closed loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skyrig.lazy import lazily

if TYPE_CHECKING:
    from skyrig.sim.events import Event
    from skyrig.sim.log import Log
    from skyrig.sim.loop import ClosedLoop, closed_loop
    from skyrig.sim.openloop import Rollout, rollout
    from skyrig.sim.pilot import Noise
    from skyrig.sim.plant import Effort, Plant, PlantState
    from skyrig.sim.preparation import Outside
    from skyrig.sim.recorded import Recorded, Track
    from skyrig.sim.schedule import Cut, Poke
    from skyrig.sim.stepping import step

_HOMES = {
    "ClosedLoop": "skyrig.sim.loop",
    "Cut": "skyrig.sim.schedule",
    "Effort": "skyrig.sim.plant",
    "Event": "skyrig.sim.events",
    "Log": "skyrig.sim.log",
    "Noise": "skyrig.sim.pilot",
    "Outside": "skyrig.sim.preparation",
    "Plant": "skyrig.sim.plant",
    "PlantState": "skyrig.sim.plant",
    "Poke": "skyrig.sim.schedule",
    "Recorded": "skyrig.sim.recorded",
    "Rollout": "skyrig.sim.openloop",
    "Track": "skyrig.sim.recorded",
    "closed_loop": "skyrig.sim.loop",
    "rollout": "skyrig.sim.openloop",
    "step": "skyrig.sim.stepping",
}

__all__ = [
    "ClosedLoop",
    "Cut",
    "Effort",
    "Event",
    "Log",
    "Noise",
    "Outside",
    "Plant",
    "PlantState",
    "Poke",
    "Recorded",
    "Rollout",
    "Track",
    "closed_loop",
    "rollout",
    "step",
]

__getattr__ = lazily(__name__, _HOMES)
