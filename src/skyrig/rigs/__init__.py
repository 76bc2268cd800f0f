"""Rigs: one mechanism a file (or folder), each with its state, derivative, guards and resets."""

from skyrig.rigs.bodies import Bodies
from skyrig.rigs.cables import Cable, Winch
from skyrig.rigs.layout import Drive, EventKind, Group, Layout, Signal, Switch
from skyrig.rigs.linked import Linked, LinkedState
from skyrig.rigs.protocol import Happened, Hybrid, Loads, Reset, Rig, State, Watch, Wrench
from skyrig.rigs.slung import Slung, SlungState
from skyrig.rigs.trim import Trim, trim

__all__ = [
    "Bodies",
    "Cable",
    "Drive",
    "EventKind",
    "Group",
    "Happened",
    "Hybrid",
    "Layout",
    "Linked",
    "LinkedState",
    "Loads",
    "Reset",
    "Rig",
    "Signal",
    "Slung",
    "SlungState",
    "State",
    "Switch",
    "Trim",
    "Watch",
    "Winch",
    "Wrench",
    "trim",
]
