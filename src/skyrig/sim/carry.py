"""What goes from one call of a compiled flight to the next, and what all of them have in common, as rows."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import numpy as np

from skyrig.control.stepped import Sight
from skyrig.programs import Shapes
from skyrig.sim.driver import first_row
from skyrig.sim.log import Log
from skyrig.sim.packing import Packed, Packing
from skyrig.sim.pilot import Autopilot, Pilot, measure
from skyrig.sim.plant import Plant, PlantState
from skyrig.sim.schedule import Acts

REAL = np.float64
Constants = tuple[Plant, Autopilot, Acts]
"""What does not change during a flight."""


class Carry(eqx.Module):
    """What goes from call to call."""

    events: Any
    """In the last call."""
    trouble: Any
    """In the last call; see `skyrig.sim.log`."""
    seen: Any
    """What is measured now, a `Measurement`; None where that is not looked at every time."""
    state: Any
    """A `PlantState`."""
    memory: Any
    """The pilot's."""


def layout_of(constants: Constants, state: PlantState, pilot: Pilot, room: int) -> tuple[Any, Log, Carry]:
    """What a step's row of the record holds, an empty log with that much room, and what is carried."""
    plant = constants[0]
    log = Log.empty(plant, state, room, sides=True)
    carry = Carry(log.count, log.trouble, measure(plant.rig, state.rig), state, pilot.begin(plant, state))
    return first_row(plant, state, pilot, states=False), log, carry


shapes_of = Shapes(layout_of)


def sight_of(carry: Carry) -> Sight:
    """Where in a row of what is carried the measurement lies, from the shapes of it."""
    first, layout = 2, Packing.of(carry.seen, REAL)  # two numbers come before it
    return Sight(layout.unpack(np.arange(first, first + layout.width)))


def begun(layout: Packing, before: int, state: PlantState) -> Packed:
    """What goes into a flight's first call: all blank but the state, which `before` numbers precede."""
    row, known = np.zeros(layout.width), packed(state).rows
    row[before : before + len(known)] = known
    return Packed(row, layout)


def packed(tree: Any) -> Packed:
    """A tree as a row of float64, in NumPy."""
    layout = Packing.of(tree, REAL)
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(tree) if hasattr(leaf, "dtype")]
    row = [leaf.astype(REAL, copy=False).reshape(-1) for leaf in leaves]
    return Packed(np.concatenate(row) if row else np.zeros(0), layout)
