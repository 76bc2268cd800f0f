"""How the rotors that are left share the work of those that have stopped."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig.algebra import as_jax
from skyrig.control.interface import axes
from skyrig.vehicles import Airframe
from skyrig.vehicles.rotor_loss import RotorLoss, allocation


class Spare(eqx.Module):
    """How the rotors that are left share their work, stage by stage of what the mixer has noticed."""

    inverse: Float[Array, "stages r 4 n ..."] = axes(4)
    """From thrust (N) and moments (N m) to rotor thrusts (N)."""
    coupling: Float[Array, "stages 3 n ..."] = axes(3)
    """Yaw moment (N m) that comes along with thrust (N), roll and pitch moment (N m)."""
    left: Float[Array, "stages r n ..."] = axes(3)
    """One for a rotor that turns, else zero."""

    @staticmethod
    def of(airframes: Sequence[Airframe], losses: Sequence[RotorLoss]) -> Spare | None:
        """That of a team whose mixers learn of `losses` one after the other; None if of none."""
        known = sorted((it for it in losses if np.isfinite(it.noticed)), key=lambda it: it.noticed)
        if not known:
            return None
        by_vehicle = [[it.rotor for it in known if it.vehicle == k] for k in range(len(airframes))]
        stages, r = max(map(len, by_vehicle)), max(it.rotor_count for it in airframes)
        inverse = np.zeros((stages, r, 4, len(airframes)))
        coupling, left = np.zeros((stages, 3, len(airframes))), np.ones((stages, r, len(airframes)))
        for k, frame in enumerate(airframes):
            for stage in range(stages):
                lost = by_vehicle[k][: stage + 1]
                inverse[stage, : frame.rotor_count, :, k], coupling[stage, :, k] = allocation(frame, lost)
                left[stage, lost, k] = 0.0
        return Spare(as_jax(inverse), as_jax(coupling), as_jax(left))

    def chosen(self, noticed: Float[Array, "n *batch"], inverse: Array) -> tuple[Array, Array, Array]:
        """Inverse, coupling and what is left, each vehicle's mixer having noticed so many losses."""
        coupling = jnp.zeros((3, *noticed.shape), inverse.dtype)
        left = jnp.ones((inverse.shape[0], *noticed.shape), inverse.dtype)
        for stage in range(self.inverse.shape[0]):
            now = noticed > stage
            inverse = jnp.where(now, self.inverse[stage], inverse)
            coupling = jnp.where(now, self.coupling[stage], coupling)
            left = jnp.where(now, self.left[stage], left)
        return inverse, coupling, left
