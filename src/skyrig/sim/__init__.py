"""Stepping rigs through time: integration, events, roll-outs, closed loops."""

from skyrig.sim.events import Event
from skyrig.sim.log import Log
from skyrig.sim.loop import ClosedLoop, closed_loop
from skyrig.sim.openloop import Rollout, rollout
from skyrig.sim.pilot import Noise
from skyrig.sim.plan import Cut, Poke
from skyrig.sim.plant import Effort, Plant, PlantState
from skyrig.sim.preparation import Outside
from skyrig.sim.recorded import Recorded, Track
from skyrig.sim.stepping import step

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
