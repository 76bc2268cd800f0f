"""The slung rig: built from parts, handed states as people write them, and flown by `sim`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from skyrig import checks
from skyrig.algebra import as_jax, traced
from skyrig.constants import GRAVITY
from skyrig.errors import InputError
from skyrig.rigs.bodies import Bodies, bodies_from_arrays
from skyrig.rigs.cables import Cable, checked
from skyrig.rigs.equilibrium import Trim
from skyrig.rigs.on_cables import Reeled, cable_ends, team_arrays
from skyrig.rigs.protocol import Loads
from skyrig.rigs.slung.events import SlungEvents
from skyrig.rigs.slung.motion import cable_matrix, motion, spans
from skyrig.rigs.slung.parameters import SlungMode, SlungMotion, SlungState
from skyrig.rigs.slung.trim import LEVEL, trim

START = 1e-9
"""A cable this close to its length at the start is at its length; one longer by more is an error (m)."""


class Slung(SlungEvents):
    """Vehicles that carry a payload on cables; build one with `Slung.build`."""

    @staticmethod
    def build(
        vehicles: Sequence[Any],
        payload: Any,
        cables: Sequence[Cable],
        restitution: float = 0.0,
        gravity: float = GRAVITY,
    ) -> Slung:
        """A slung rig from its parts.

        Args:
            vehicles: Anything with `mass` (kg) and `inertia` (kg m^2), such as `skyrig.airframe(name)`.
            payload: Anything with `mass` (kg) and `inertia` (kg m^2, or None for a point mass).
            cables: One for each vehicle, in the same order.
            restitution: Share of an arriving cable's rate that comes back, 0 (inelastic) up to below 1.
            gravity: m/s^2, downwards.
        """
        team = team_arrays(vehicles, payload, cables, gravity)
        if not 0 <= float(restitution) < 1:
            raise InputError(f"restitution must be at least 0 and below 1, not {restitution}.")
        return Slung(**team, restitution=as_jax(restitution, dtype=team["length"].dtype))

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
        cable_length: npt.ArrayLike | None = None,
        cut: npt.ArrayLike | None = None,
    ) -> SlungState:
        """A state from arrays with xyz last; what is left out is zero (or level, for attitudes).

        A cable at its length with no rate starts taut. One at its length with a growing span starts with an
        impact. A span longer than its cable is an error.

        Args:
            payload_position: (3,) m, world.
            vehicle_position: (n, 3) m, world.
            payload_velocity: (3,) m/s, world.
            payload_attitude: (4,) wxyz, body to world.
            payload_rate: (3,) rad/s, body frame.
            vehicle_velocity: (n, 3) m/s, world.
            vehicle_attitude: (n, 4) wxyz, body to world.
            vehicle_rate: (n, 3) rad/s, body frame.
            cable_length: (n,) m; the rig's own where left out.
            cut: (n,) True where a cable is cut already.
        """
        payload = bodies_from_arrays(
            "payload", (), payload_position, payload_velocity, payload_attitude, payload_rate
        )
        vehicles = bodies_from_arrays(
            "vehicle", (self.count,), vehicle_position, vehicle_velocity, vehicle_attitude, vehicle_rate
        )
        n = self.count
        length = (
            self.length
            if cable_length is None
            else checked(checks.positive, "cable_length", cable_length, (n,))
        )
        gone = np.zeros(n, bool) if cut is None else np.asarray(cut, dtype=bool)
        distance, rate = _distances(self, payload, vehicles)
        unknown = traced(distance, length)
        if not unknown:  # in NumPy, which compiles nothing
            distance, rate, length = (np.asarray(each) for each in (distance, rate, length))
        for k in () if unknown else np.flatnonzero((distance - length > START) & ~gone):
            raise InputError(
                f"vehicle_position[{k}] is {float(distance[k]):.9g} m from its attachment, "
                f"more than its cable's length of {float(length[k]):.9g} m."
            )
        taut = ~gone & (abs(distance - length) < START) & (abs(rate) < START)
        zeros = jnp.zeros_like(length) if unknown else as_jax(np.zeros_like(length))
        return slung_state(
            payload, vehicles, as_jax(length), zeros, as_jax(taut), as_jax(gone), self.winch is not None
        )

    def cable_matrix(self, state: SlungState) -> Float[Array, "n n *batch"]:
        """How a pull in cable k speeds up the shortening of cable j (1/kg)."""
        return cable_matrix(self, spans(self, state))

    def tension(self, state: SlungState, loads: Loads) -> Float[Array, "n *batch"]:
        """Tension of every cable (N) with the state's taut set."""
        return motion(self, state, loads)[1]

    def signals(self, t: ArrayLike, state: SlungState, loads: Loads) -> dict[str, Array]:
        """Tension, free length and tautness of every cable."""
        return {
            "cable.tension": self.tension(state, loads),
            "cable.length": state.length,
            "cable.taut": state.taut,
        }

    def standing(self, state: SlungState) -> dict[str, Bool[Array, "n *batch"]]:
        """Cables that are taut."""
        return {"taut": state.taut}

    def shifted(self, state: SlungState, bodies: dict[str, Bodies]) -> SlungState:
        """`state` with payload and vehicles elsewhere; its cables stay taut or slack."""
        new = (bodies["payload"].only(), bodies["vehicles"])
        return eqx.tree_at(lambda s: (s.motion.payload, s.motion.vehicles), state, new)

    def trim(self, position: Any, attitude: Any = LEVEL, lean: float | None = None) -> Trim:
        """The hover on cables that lean outwards by `lean` (rad); see `skyrig.trim`."""
        return trim(self, position, attitude, lean)


def slung_state(
    payload: Bodies,
    vehicles: Bodies,
    length: Float[Array, "n *batch"],
    reel: Float[Array, "n *batch"],
    taut: Bool[Array, "n *batch"],
    cut: Bool[Array, "n *batch"],
    reels: bool,
) -> SlungState:
    """A slung rig's state from its parts; `reels` says whether there are winches."""
    reeled = Reeled(length, reel) if reels else None
    mode = SlungMode(taut, cut, None if reels else length, reel if reels else None)
    return SlungState(SlungMotion(payload, vehicles, reeled), mode)


def _distances(rig: Slung, payload: Bodies, vehicles: Bodies) -> tuple[Any, Any]:
    """Lengths of the spans (m) and their rates (m/s); in NumPy, without compiling, where values are known."""
    leaves = jax.tree.leaves((rig, payload, vehicles))
    if traced(*leaves):
        n = rig.count
        no = jnp.zeros(n, bool)
        span = spans(rig, slung_state(payload, vehicles, rig.length, rig.length, no, no, False))
        return span.distance, span.rate

    hooks, ends, drifts, speeds = cable_ends(rig, payload, vehicles)
    apart = ends - hooks
    distance = np.linalg.norm(apart, axis=1)
    along = np.einsum("ki,ki->k", apart, speeds - drifts) / np.maximum(distance, 1e-300)
    return distance, along
