"""Stepping rigs through time: integration, events, roll-outs."""

from skyrig.sim.events import Event
from skyrig.sim.openloop import Rollout, Track, rollout
from skyrig.sim.plan import Cut, Poke
from skyrig.sim.stepping import Log, step

__all__ = ["Cut", "Event", "Log", "Poke", "Rollout", "Track", "rollout", "step"]
