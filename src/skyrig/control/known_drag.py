"""Drag that a controller reckons with: what still air does to bodies that move as they shall.

The laws are the elements of the world themselves, built for the rig as the controller believes it to be. They
are asked with wanted velocities, which have no noise and feed nothing back, where bodies are as they stand.
Wind is not known; where there is some, observers and integrals see to the rest.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.algebra import apply_transposed, rotation_matrix
from skyrig.control.interface import axes
from skyrig.elements.around import Around
from skyrig.elements.element import Element
from skyrig.rigs.bodies import Bodies
from skyrig.rigs.protocol import added


def going(body: Bodies, velocity: Any, rate: Any = 0.0) -> Bodies:
    """A body, or several, where they are, moving as they shall (m/s; rad/s)."""
    return Bodies(
        body.position,
        jnp.broadcast_to(velocity, body.velocity.shape),
        body.attitude,
        jnp.broadcast_to(jnp.asarray(rate, body.rate.dtype), body.rate.shape),
    )


class Felt(eqx.Module):
    """What air does, as far as it is known."""

    load: Float[Array, "3 ..."]
    """To the payload (N, world frame)."""
    craft: Float[Array, "3 n ..."]
    """To the vehicles (N, world frame)."""
    moment: Float[Array, "3 n ..."]
    """To the vehicles (N m, body frames)."""


class KnownDrag(eqx.Module):
    """Laws of drag, and how much of it is fed forward."""

    share: Float[Array, " ..."] = axes(0)
    """1 for all of it."""
    laws: tuple[Element, ...] = ()
    ranks: tuple[int, ...] = eqx.field(static=True, default=())
    """How many axes each of their arrays has before the batch."""

    def knowing(self, laws: Sequence[Element]) -> KnownDrag:
        """With the laws of a world, for one flight."""
        kept = tuple(laws)
        return dataclasses.replace(self, laws=kept, ranks=tuple(jnp.ndim(it) for it in jax.tree.leaves(kept)))

    def felt(self, load: Bodies, craft: Bodies, thrust: Float[Array, "n ..."]) -> Felt | None:
        """What still air does to a payload and vehicles; None where nothing is known.

        Args:
            load: Where the payload is and how it shall move, (3, *batch).
            craft: The same of the vehicles, (3, n, *batch).
            thrust: About what each of them gives (N).
        """
        if not self.laws:
            return None
        batch = craft.position.ndim - 2
        leaves, structure = jax.tree.flatten(self.laws)
        wide = [
            it.reshape(it.shape + (1,) * (rank + batch - it.ndim))
            for it, rank in zip(leaves, self.ranks, strict=True)
        ]
        bodies = {"payload": jax.tree.map(lambda leaf: leaf[:, None], load), "vehicles": craft}
        wrenches: dict[str, Any] = {}
        for law in jax.tree.unflatten(structure, wide):
            wrenches = added(wrenches, law.loads(0.0, bodies, None, Around(0.0, thrust, None)))
        none = jnp.zeros_like(craft.position)
        own, carried = wrenches.get("vehicles"), wrenches.get("payload")
        turning = none if own is None or own.torque is None else own.torque
        return Felt(
            jnp.zeros_like(load.position) if carried is None else self.share * carried.force[:, 0],
            none if own is None else self.share * own.force,
            self.share * apply_transposed(rotation_matrix(craft.attitude), turning),
        )
