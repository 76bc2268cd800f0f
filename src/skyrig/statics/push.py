"""Room for a push: which configurations hold the payload still when something pushes it, from any side.

A force F on the payload, of at most a given size and any direction, is met by the pulls of least effort that
balance it, df_i = G_i F, on top of those that hold the pose: vehicles push back where they are before the
payload has moved. A configuration holds the push if every cable still pulls along its direction and every
vehicle has the thrust, whatever the direction:

    u_i.(f_i + G_i F) >= tension - |F| |G_i^T u_i|,   |m_i g e3 + f_i + G_i F| <= thrust + |F| |G_i|

The first is exact; the second is too where G_i is a multiple of the unit matrix, as for a payload with its
centre of mass in the middle of its attachments, and on the safe side elsewhere.
"""

from __future__ import annotations

import numpy as np

from skyrig.checks import Numbers
from skyrig.errors import InputError
from skyrig.statics.configuration import Configuration
from skyrig.statics.stability import across
from skyrig.statics.team import Team
from skyrig.turns import turn

UNDER = " under the push"
"""How rooms that are about the push are called."""


def push_shares(team: Team) -> Numbers:
    """(n, 3, 3) G_i: pull of each cable for a unit force on the centre of mass, payload frame (1).

    Raises:
        InputError: If some force cannot be balanced without turning the payload.
    """
    n, f = team.count, team.freedoms
    grasp = np.concatenate([np.tile(np.eye(3), (1, n)), np.hstack(list(across(team.attachment)))])[:f]
    if np.linalg.matrix_rank(grasp, tol=1e-9) < f:
        raise InputError("a push needs attachments that do not lie on one line: the payload would turn.")
    return np.asarray(-np.linalg.pinv(grasp), float)[:, :3].reshape(n, 3, 3)


def push_room(
    found: Configuration, size: float, least: float, most: float | None, thrust_max: Numbers
) -> dict[str, Numbers]:
    """(..., n) how far a configuration is within its limits under every push of a size (N), over the weight.

    Args:
        found: The configuration, or many.
        size: Of the push (N).
        least: Least tension (N).
        most: Most tension (N), if any.
        thrust_max: (n,) most thrust of the vehicles (N).
    """
    team = found.team
    shares = push_shares(team)
    back = found.pose.attitude * [1.0, -1.0, -1.0, -1.0]
    along = turn(back[..., None, :], found.direction)
    loses = size * np.linalg.norm(np.einsum("nab,...na->...nb", shares, along), axis=-1)
    gains = size * np.linalg.norm(shares, ord=2, axis=(1, 2))
    spare = thrust_max - np.linalg.norm(found.thrust, axis=-1) - gains
    room = {
        f"tension above its least{UNDER}": (found.tension - loses - least) / team.weight,
        f"thrust{UNDER}": spare / team.weight,
    }
    if most is not None and np.isfinite(most):
        room[f"tension below its most{UNDER}"] = (most - found.tension - gains) / team.weight
    return room
