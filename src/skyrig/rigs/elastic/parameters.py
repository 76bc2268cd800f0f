"""An elastic rig as numbers: bodies, cables as chains of springs and dampers, and where everything is."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from skyrig.rigs.bodies import Bodies
from skyrig.rigs.layout import Drive, Group, Layout, SignalKind, Switch
from skyrig.rigs.on_cables import CableState, CableTeam, Reeled


class Nodes(eqx.Module):
    """Point masses along the cables, from the hook to the payload; N - 1 of them for N segments."""

    position: Float[Array, "3 nodes n *batch"]
    """World (m)."""
    velocity: Float[Array, "3 nodes n *batch"]
    """World (m/s)."""


class ElasticMotion(eqx.Module):
    """What moves in an elastic rig."""

    payload: Bodies
    """(3, *batch)."""
    vehicles: Bodies
    """(3, n, *batch)."""
    nodes: Nodes
    reeled: Reeled | None
    """None without winches."""


class ElasticMode(eqx.Module):
    """What only scissors and the winches' drives change in an elastic rig."""

    whole: Float[Array, "segments n *batch"]
    """1 where a segment holds, 0 where it was cut."""
    length: Float[Array, "n *batch"] | None
    """Unstretched length (m); None with winches, whose lengths move."""
    drive: Float[Array, "n *batch"] | None
    """Reel-out acceleration held over the step (m/s^2); None without winches."""


class ElasticState(CableState):
    """Where an elastic rig is."""

    motion: ElasticMotion
    mode: ElasticMode

    @property
    def nodes(self) -> Nodes:
        """Of all cables."""
        return self.motion.nodes


class Segments(eqx.Module):
    """The segments of each cable at an instant; all N of a cable are alike."""

    rest: Float[Array, "n *batch"]
    """Unstretched length of one (m)."""
    rest_rate: Any
    """Its time derivative (m/s); 0 without winches."""
    stiffness: Float[Array, "n *batch"]
    """Of one (N/m): N times the cable's."""
    damping: Float[Array, "n *batch"]
    """Of one (N s/m): N times the cable's."""
    node_mass: Float[Array, "n *batch"]
    """Of one node (kg)."""
    drag: Float[Array, "n *batch"] | None
    """Of one node: force over squared speed (N s^2/m^2); None for none."""
    bending: Float[Array, "nodes n *batch"] | None
    """E I / l^3 where both segments hold (N/m); None for cables that bend freely."""


class ElasticParameters(CableTeam):
    """n vehicles and one payload joined by n elastic cables, as arrays.

    Stiffness and damping are kept as those of a metre: a cable of length L has k = axial / L (N/m) and
    c = viscous / L (N s/m), so that reeling changes them as it should.
    """

    mechanism: ClassVar[str] = "elastic"
    integrator: ClassVar[str] = "own"

    axial: Float[Array, "n *batch"]
    """Stiffness times length, E A (N)."""
    viscous: Float[Array, "n *batch"]
    """Damping times length (N s)."""
    mass_per_metre: Float[Array, "n *batch"]
    """Of the cables (kg/m); a single segment has no node and weighs nothing."""
    drag_per_metre: Float[Array, "n *batch"] | None
    """Of the cables across and along alike: force over squared speed and length (N s^2/m^3)."""
    bending: Float[Array, "n *batch"] | None
    """E I of the cables (N m^2); None for cables that bend freely."""
    segments: int = eqx.field(static=True, default=1)
    """N, of every cable."""
    turns: int = eqx.field(static=True, default=1)
    """Newton turns a stage of a smooth step takes: one for bodies, two for the nodes' last digits."""

    @property
    def layout(self) -> Layout:
        """One payload, n vehicles, n cables with their nodes."""
        return _layout(self.count, self.segments, self.winch is not None)

    @property
    def solid_inertia(self) -> Float[Array, "3 3 *batch"]:
        """The payload's inertia; for a point mass, which nothing turns, any will do."""
        point = self.payload_inertia[0, 0] == 0
        one = jnp.eye(3, dtype=self.payload_inertia.dtype).reshape((3, 3) + (1,) * point.ndim)
        return self.payload_inertia + jnp.where(point, one, 0.0)

    @property
    def down(self) -> Float[Array, "3 *batch"]:
        """Gravity's acceleration (m/s^2)."""
        none = jnp.zeros_like(self.gravity)
        return jnp.stack([none, none, -self.gravity])

    def segment(self, state: ElasticState, later: Any = 0.0) -> Segments:
        """The segments as they will be `later` (s), the winches' drives held."""
        count = self.segments
        length = state.length + later * (state.reel + later * state.drive / 2)
        rest = length / count
        mass = self.mass_per_metre * length / max(count - 1, 1)
        drag, whole = self.drag_per_metre, state.mode.whole
        return Segments(
            rest=rest,
            rest_rate=(state.reel + later * state.drive) / count,
            stiffness=self.axial / rest,
            damping=self.viscous / rest,
            node_mass=mass,
            drag=None if drag is None else drag * length / max(count - 1, 1),
            bending=None if self.bending is None else self.bending / rest**3 * whole[1:] * whole[:-1],
        )


MOST_SHOWN = 12
"""Nodes, and segments, of a cable that signals tell of; of more, so many are picked along it."""


@cache
def shown(count: int) -> tuple[int, ...]:
    """Which of `count` nodes or segments signals tell of, evenly from the first to the last."""
    picked = np.linspace(0, count - 1, min(count, MOST_SHOWN)) if count else np.zeros(0)
    return tuple(int(it) for it in np.round(picked))


@cache
def _layout(n: int, segments: int, reels: bool) -> Layout:
    return Layout(
        groups=(Group("payload", 1), Group("vehicles", n)),
        signals=(
            SignalKind("cable.tension", "N", n, "pull of each cable on the payload"),
            SignalKind("cable.hook_tension", "N", n, "pull of each cable on its vehicle"),
            SignalKind("cable.length", "m", n, "unstretched length of each cable"),
            SignalKind("cable.stretch", "m", n, "length along each cable beyond its unstretched one"),
            SignalKind("cable.taut", "", n, "whether all of each cable pulls"),
            SignalKind("cable.along", "N", n * len(shown(segments)), "pull along each cable, from its hook"),
            SignalKind("cable.nodes", "m", 3 * n * len(shown(segments - 1)), "places along each cable"),
        ),
        drives=(Drive("winch", "m/s", n),) if reels else (),
        switches=(Switch("cut", "cable", n, segments),),
    )
