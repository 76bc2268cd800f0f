"""An elastic rig as numbers: bodies, cables as chains of springs and dampers, and where everything is."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.rigs.bodies import Bodies
from skyrig.rigs.cables import WinchLimits
from skyrig.rigs.layout import Drive, Group, Layout, SignalKind, Switch
from skyrig.rigs.protocol import Rig, State


class Nodes(eqx.Module):
    """Point masses along the cables, from the hook to the payload; N - 1 of them for N segments."""

    position: Float[Array, "3 nodes n *batch"]
    """World (m)."""
    velocity: Float[Array, "3 nodes n *batch"]
    """World (m/s)."""


class Reeled(eqx.Module):
    """Cables on winches."""

    length: Float[Array, "n *batch"]
    """Unstretched length that is out (m)."""
    rate: Float[Array, "n *batch"]
    """Reel-out rate (m/s)."""


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


class ElasticState(State):
    """Where an elastic rig is."""

    motion: ElasticMotion
    mode: ElasticMode

    @property
    def payload(self) -> Bodies:
        """(3, *batch)."""
        return self.motion.payload

    @property
    def vehicles(self) -> Bodies:
        """(3, n, *batch)."""
        return self.motion.vehicles

    @property
    def nodes(self) -> Nodes:
        """Of all cables."""
        return self.motion.nodes

    @property
    def length(self) -> Float[Array, "n *batch"]:
        """Unstretched length of each cable (m)."""
        fixed = self.mode.length
        if fixed is not None:
            return fixed
        assert self.motion.reeled is not None
        return self.motion.reeled.length

    @property
    def reel(self) -> Any:
        """Reel-out rate of each cable (m/s)."""
        return 0.0 if self.motion.reeled is None else self.motion.reeled.rate

    @property
    def drive(self) -> Any:
        """Reel-out acceleration of each cable (m/s^2)."""
        return 0.0 if self.mode.drive is None else self.mode.drive


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


class ElasticParameters(Rig):
    """n vehicles and one payload joined by n elastic cables, as arrays.

    Stiffness and damping are kept as those of a metre: a cable of length L has k = axial / L (N/m) and
    c = viscous / L (N s/m), so that reeling changes them as it should.
    """

    mechanism: ClassVar[str] = "elastic"
    integrator: ClassVar[str] = "own"

    mass: Float[Array, "n *batch"]
    inertia: Float[Array, "3 3 n *batch"]
    inverse_inertia: Float[Array, "3 3 n *batch"]
    payload_mass: Float[Array, "*batch"]
    payload_inertia: Float[Array, "3 3 *batch"]
    """Zero for a point mass."""
    payload_inverse_inertia: Float[Array, "3 3 *batch"]
    attachment: Float[Array, "3 n *batch"]
    hook: Float[Array, "3 n *batch"] | None
    length: Float[Array, "n *batch"]
    """Unstretched, at the start (m)."""
    winch: WinchLimits | None
    axial: Float[Array, "n *batch"]
    """Stiffness times length, E A (N)."""
    viscous: Float[Array, "n *batch"]
    """Damping times length (N s)."""
    mass_per_metre: Float[Array, "n *batch"]
    """Of the cables (kg/m); a single segment has no node and weighs nothing."""
    drag_per_metre: Float[Array, "n *batch"] | None
    """Of the cables across and along alike: force over squared speed and length (N s^2/m^3)."""
    gravity: Float[Array, "*batch"]
    segments: int = eqx.field(static=True, default=1)
    """N, of every cable."""
    turns: int = eqx.field(static=True, default=1)
    """Newton turns a stage of a smooth step takes: one for bodies, two for the nodes' last digits."""

    @property
    def count(self) -> int:
        """Number of vehicles."""
        return self.mass.shape[0]

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
        drag = self.drag_per_metre
        return Segments(
            rest=rest,
            rest_rate=(state.reel + later * state.drive) / count,
            stiffness=self.axial / rest,
            damping=self.viscous / rest,
            node_mass=mass,
            drag=None if drag is None else drag * length / max(count - 1, 1),
        )


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
            SignalKind("cable.nodes", "m", 3 * n * (segments - 1), "places along each cable, xyz by xyz"),
        ),
        drives=(Drive("winch", "m/s", n),) if reels else (),
        switches=(Switch("cut", "cable", n, segments),),
    )
