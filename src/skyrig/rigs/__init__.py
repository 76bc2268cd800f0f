"""Rigs: one mechanism a file (or folder), each with its state, derivative, guards and resets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skyrig.lazy import lazily
from skyrig.rigs.layout import Drive, End, EventKind, Group, Layout, SignalKind, Switch, Tether

if TYPE_CHECKING:
    from skyrig.rigs.bodies import Bodies
    from skyrig.rigs.cables import Cable, Winch
    from skyrig.rigs.elastic import Elastic, ElasticState, Material, restitution
    from skyrig.rigs.equilibrium import Trim, trim
    from skyrig.rigs.free import FreeBodies
    from skyrig.rigs.linked import Linked, LinkedState
    from skyrig.rigs.protocol import Happened, Hybrid, Loads, Reset, Rig, Solid, State, Watch, Wrench
    from skyrig.rigs.slung import Slung, SlungState

_HOMES = {
    "Bodies": "bodies",
    "Cable": "cables",
    "Winch": "cables",
    **dict.fromkeys(("Elastic", "ElasticState", "Material", "restitution"), "elastic"),
    "FreeBodies": "free",
    "Linked": "linked",
    "LinkedState": "linked",
    **dict.fromkeys(
        ("Happened", "Hybrid", "Loads", "Reset", "Rig", "Solid", "State", "Watch", "Wrench"), "protocol"
    ),
    "Slung": "slung",
    "SlungState": "slung",
    "Trim": "equilibrium",
    "trim": "equilibrium",
}

__all__ = [
    "Bodies",
    "Cable",
    "Drive",
    "Elastic",
    "ElasticState",
    "End",
    "EventKind",
    "FreeBodies",
    "Group",
    "Happened",
    "Hybrid",
    "Layout",
    "Linked",
    "LinkedState",
    "Loads",
    "Material",
    "Reset",
    "Rig",
    "SignalKind",
    "Slung",
    "SlungState",
    "Solid",
    "State",
    "Switch",
    "Tether",
    "Trim",
    "Watch",
    "Winch",
    "Wrench",
    "restitution",
    "trim",
]

__getattr__ = lazily(__name__, {name: f"skyrig.rigs.{home}" for name, home in _HOMES.items()})
