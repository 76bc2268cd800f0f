"""The hover of an elastic rig: cables stretched by what they carry, and bent by their own weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyrig.rigs.elastic.parameters import shown
from skyrig.rigs.equilibrium import Trim
from skyrig.rigs.slung.trim import LEVEL, hang
from skyrig.turns import cross, tilted, turn


def trim(rig: Any, position: Any, attitude: Any, lean: float | None) -> Trim:
    """The hover on cables that leave the payload leaning outwards by `lean` (rad); see `skyrig.trim`.

    From the payload upwards every segment pulls as hard as what hangs below it, so the shape follows in
    one go.
    """
    held = hang(rig, position, attitude, lean)
    n, gravity = rig.count, float(rig.gravity)
    length, axial = np.asarray(rig.length), np.asarray(rig.axial)
    rest, stiffness = length / rig.segments, axial * rig.segments / length
    node = np.asarray(rig.mass_per_metre) * length / max(rig.segments - 1, 1) * gravity
    pull = held.tension[:, None] * held.up
    lowest = pull
    point = held.place + held.points
    nodes, along = np.zeros((rig.segments - 1, n, 3)), np.zeros((rig.segments, n))
    for i in range(rig.segments - 1, -1, -1):
        along[i] = size = np.linalg.norm(pull, axis=1)
        # a cable that carries nothing stands straight: it is the limit of one that carries little
        way = np.where(size[:, None] > 1e-12, pull / np.maximum(size, 1e-300)[:, None], held.up)
        point = point + (rest + size / stiffness)[:, None] * way
        if i > 0:
            nodes[i - 1] = point
            pull = pull + node[:, None] * [0.0, 0.0, 1.0]
    thrusts = np.asarray(rig.mass)[:, None] * gravity * [0.0, 0.0, 1.0] + pull
    attitudes = tilted(LEVEL, thrusts)
    hooks = np.zeros((n, 3)) if rig.hook is None else np.asarray(rig.hook).T
    vehicles = point - turn(attitudes, hooks)
    pulls = turn(attitudes * [1.0, -1.0, -1.0, -1.0], -pull)
    state = rig.state(
        held.place, vehicles, payload_attitude=held.attitude, vehicle_attitude=attitudes, nodes=nodes
    )
    signals = {
        "cable.tension": np.linalg.norm(lowest, axis=1),
        "cable.hook_tension": np.linalg.norm(pull, axis=1),
        "cable.along": along[list(shown(rig.segments))].T.reshape(-1),
        "cable.nodes": nodes[list(shown(rig.segments - 1))].transpose(1, 0, 2).reshape(-1),
    }
    thrust = np.linalg.norm(thrusts, axis=1)
    return Trim(state, thrust, -cross(hooks, pulls), held.exact, held.note, signals)
