"""The elastic rig: built from parts, handed states as people write them, and flown by `sim`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jaxtyping import Array

from skyrig import checks
from skyrig.algebra import as_jax
from skyrig.catenary import hanging
from skyrig.constants import GRAVITY
from skyrig.errors import InputError
from skyrig.rigs.bodies import Bodies, bodies_from_arrays
from skyrig.rigs.cables import Cable
from skyrig.rigs.elastic.chain import course_now
from skyrig.rigs.elastic.dynamics import ElasticDynamics
from skyrig.rigs.elastic.material import LINE, Material, material_arrays
from skyrig.rigs.elastic.parameters import (
    ElasticMode,
    ElasticMotion,
    ElasticState,
    Nodes,
)
from skyrig.rigs.elastic.trim import LEVEL, trim
from skyrig.rigs.equilibrium import Trim
from skyrig.rigs.on_cables import Reeled, cable_ends, team_arrays


class Elastic(ElasticDynamics):
    """Vehicles that carry a payload on cables that stretch, fold and snap; build one with `Elastic.build`."""

    @staticmethod
    def build(
        vehicles: Sequence[Any],
        payload: Any,
        cables: Sequence[Cable],
        material: Material | Sequence[Material] = LINE,
        segments: int = 5,
        gravity: float = GRAVITY,
        turns: int = 1,
    ) -> Elastic:
        """An elastic rig from its parts.

        Args:
            vehicles: Anything with `mass` (kg) and `inertia` (kg m^2), such as `skyrig.airframe(name)`.
            payload: Anything with `mass` (kg) and `inertia` (kg m^2, or None for a point mass).
            cables: One for each vehicle, in the same order; lengths are unstretched ones.
            material: What they are made of, all of them or one by one.
            segments: Springs in a row in each cable; 1 for a massless one.
            gravity: m/s^2, downwards.
            turns: Newton turns in each stage of a step; 2 where the nodes' last digits count.
        """
        if not 1 <= segments <= 200:
            raise InputError(f"segments must be from 1 to 200, not {segments}.")
        team = team_arrays(vehicles, payload, cables, gravity)
        stuff = material_arrays(material, team["length"], team["payload_mass"], segments)
        return Elastic(**team, **stuff, segments=segments, turns=turns)

    def state(
        self,
        payload_position: npt.ArrayLike,
        vehicle_position: npt.ArrayLike,
        *,
        payload_velocity: npt.ArrayLike | None = None,
        payload_attitude: npt.ArrayLike | None = None,
        payload_rate: npt.ArrayLike | None = None,
        vehicle_velocity: npt.ArrayLike | None = None,
        vehicle_attitude: npt.ArrayLike | None = None,
        vehicle_rate: npt.ArrayLike | None = None,
        nodes: npt.ArrayLike | None = None,
        node_velocity: npt.ArrayLike | None = None,
    ) -> ElasticState:
        """A state from arrays with xyz last; what is left out is zero (or level, for attitudes).

        Args:
            payload_position: (3,) m, world.
            vehicle_position: (n, 3) m, world.
            payload_velocity: (3,) m/s, world.
            payload_attitude: (4,) wxyz, body to world.
            payload_rate: (3,) rad/s, body frame.
            vehicle_velocity: (n, 3) m/s, world.
            vehicle_attitude: (n, 4) wxyz, body to world.
            vehicle_rate: (n, 3) rad/s, body frame.
            nodes: (segments - 1, n, 3) m, world, from the hook down; hanging between the ends if left out.
            node_velocity: (segments - 1, n, 3) m/s, world; between those of the ends if left out.
        """
        n, count = self.count, self.segments - 1
        payload = bodies_from_arrays(
            "payload", (), payload_position, payload_velocity, payload_attitude, payload_rate
        )
        vehicles = bodies_from_arrays(
            "vehicle", (n,), vehicle_position, vehicle_velocity, vehicle_attitude, vehicle_rate
        )
        ends = cable_ends(self, payload, vehicles)
        if nodes is None:
            lengths = np.asarray(self.length)
            lines = [hanging(ends[0][k], ends[1][k], float(lengths[k]), self.segments + 1) for k in range(n)]
            nodes = np.stack(lines, axis=1)[1:-1]
        if node_velocity is None:
            share = np.arange(1, self.segments)[:, None, None] / self.segments
            node_velocity = (1 - share) * ends[2] + share * ends[3]
        shape = (count, n, 3)
        place = np.moveaxis(checks.numbers("nodes", nodes, shape), -1, 0)
        drift = np.moveaxis(checks.numbers("node_velocity", node_velocity, shape), -1, 0)
        reels = self.winch is not None
        none = as_jax(np.zeros(n))
        mode = ElasticMode(
            as_jax(np.ones((self.segments, n))), None if reels else self.length, none if reels else None
        )
        reeled = Reeled(self.length, none) if reels else None
        return ElasticState(
            ElasticMotion(payload, vehicles, Nodes(as_jax(place), as_jax(drift)), reeled), mode
        )

    def shifted(self, state: ElasticState, bodies: dict[str, Bodies]) -> ElasticState:
        """`state` with payload and vehicles elsewhere, the nodes drawn along with the cables' ends."""
        new = (bodies["payload"].only(), bodies["vehicles"])
        moved = eqx.tree_at(lambda it: (it.motion.payload, it.motion.vehicles), state, new)
        old, line = course_now(self, state), course_now(self, moved)
        share = jnp.arange(1, self.segments) / self.segments
        share = share.reshape((-1,) + (1,) * (line.place.ndim - 2))

        def drawn(before: Array, after: Array) -> Array:
            change = after - before
            return before[:, 1:-1] + (1 - share) * change[:, :1] + share * change[:, -1:]

        nodes = Nodes(drawn(old.place, line.place), drawn(old.velocity, line.velocity))
        return eqx.tree_at(lambda it: it.motion.nodes, moved, nodes)

    def trim(self, position: Any, attitude: Any = LEVEL, lean: float | None = None) -> Trim:
        """The hover on cables that lean outwards by `lean` (rad); see `skyrig.trim`."""
        return trim(self, position, attitude, lean)
