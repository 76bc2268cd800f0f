"""Stepping rigs through time: integration, events, roll-outs, closed loops."""

from skyrig.sim.events import Event
from skyrig.sim.loop import ClosedLoop, closed_loop
from skyrig.sim.openloop import Rollout, Track, rollout
from skyrig.sim.pilot import Noise
from skyrig.sim.plan import Cut, Poke
from skyrig.sim.preparation import Outside
from skyrig.sim.stepping import Log, step

__all__ = [
    "ClosedLoop",
    "Cut",
    "Event",
    "Log",
    "Noise",
    "Outside",
    "Poke",
    "Rollout",
    "Track",
    "closed_loop",
    "rollout",
    "step",
]
