"""A slung rig as numbers: what its parts weigh, where its cables hold, and where everything is."""

from __future__ import annotations

import equinox as eqx
import jax
from jaxtyping import Array, Bool, Float

from skyrig.rigs.bodies import Bodies
from skyrig.rigs.cables import Cable, WinchLimits


class SlungState(eqx.Module):
    """Where a slung rig is: payload, vehicles, cables and which of them are taut."""

    payload: Bodies
    vehicles: Bodies
    length: Float[Array, "n *batch"]
    """Free length of each cable (m); it changes only with a winch."""
    reel: Float[Array, "n *batch"]
    """Reel-out rate of each cable (m/s)."""
    drive: Float[Array, "n *batch"]
    """Reel-out acceleration held over the step (m/s^2)."""
    taut: Bool[Array, "n *batch"]
    cut: Bool[Array, "n *batch"]
    side: Float[Array, "*batch"]
    """Which side of z = 0 the payload is on (+1, -1); 0 just after passing it."""


class SlungRate(eqx.Module):
    """Time derivative of what moves in a `SlungState`; None where nothing can (no winch)."""

    payload: Bodies
    vehicles: Bodies
    length: Float[Array, "n *batch"] | None
    reel: Float[Array, "n *batch"] | None

    def advance(self, state: SlungState, dt: Array) -> SlungState:
        """`state` moved along this rate for `dt` (s); modes stay."""

        def move(old, new):
            return jax.tree.map(lambda x, k: x + dt * k, old, new)

        return SlungState(
            move(state.payload, self.payload),
            move(state.vehicles, self.vehicles),
            state.length if self.length is None else state.length + dt * self.length,
            state.reel if self.reel is None else state.reel + dt * self.reel,
            state.drive,
            state.taut,
            state.cut,
            state.side,
        )


class SlungParameters(eqx.Module):
    """n vehicles and one payload joined by n cables, as arrays."""

    mass: Float[Array, "n *batch"]
    inertia: Float[Array, "3 3 n *batch"]
    inverse_inertia: Float[Array, "3 3 n *batch"]
    payload_mass: Float[Array, "*batch"]
    payload_inertia: Float[Array, "3 3 *batch"]
    payload_inverse_inertia: Float[Array, "3 3 *batch"]
    attachment: Float[Array, "3 n *batch"]
    hook: Float[Array, "3 n *batch"] | None
    length: Float[Array, "n *batch"]
    winch: WinchLimits | None
    restitution: Float[Array, "*batch"]
    gravity: Float[Array, "*batch"]

    @property
    def count(self) -> int:
        """Number of vehicles."""
        return self.mass.shape[0]

    @property
    def cables(self) -> tuple[Cable, ...]:
        """The cables as objects, as they were given."""
        return tuple(
            Cable(
                self.length[k],
                self.attachment[:, k],
                None if self.hook is None else self.hook[:, k],
            )
            for k in range(self.count)
        )
