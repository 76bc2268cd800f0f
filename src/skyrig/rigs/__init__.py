"""Rigs: one mechanism a file (or folder), each with its state, derivative, guards and resets."""

from skyrig.rigs.bodies import Bodies, Inputs
from skyrig.rigs.cables import Cable, Winch
from skyrig.rigs.linked import Linked, LinkedState
from skyrig.rigs.slung import Slung, SlungState
from skyrig.rigs.trim import Trim, trim

__all__ = [
    "Bodies",
    "Cable",
    "Inputs",
    "Linked",
    "LinkedState",
    "Slung",
    "SlungState",
    "Trim",
    "Winch",
    "trim",
]
