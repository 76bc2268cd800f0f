"""A slung rig as numbers: what its parts weigh, where its cables hold, and where everything is."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Bool, Float

from skyrig.rigs.bodies import Bodies
from skyrig.rigs.cables import Cable, WinchLimits
from skyrig.rigs.layout import Drive, EventKind, Group, Layout, SignalKind, Switch
from skyrig.rigs.protocol import Hybrid, State


class Reeled(eqx.Module):
    """Cables on winches."""

    length: Float[Array, "n *batch"]
    """Free length (m)."""
    rate: Float[Array, "n *batch"]
    """Reel-out rate (m/s)."""


class SlungMotion(eqx.Module):
    """What moves in a slung rig."""

    payload: Bodies
    """(3, *batch)."""
    vehicles: Bodies
    """(3, n, *batch)."""
    reeled: Reeled | None
    """None without winches."""


class SlungMode(eqx.Module):
    """What only resets, winches' drives and scissors change in a slung rig."""

    taut: Bool[Array, "n *batch"]
    cut: Bool[Array, "n *batch"]
    length: Float[Array, "n *batch"] | None
    """Free length (m); None with winches, whose lengths move."""
    drive: Float[Array, "n *batch"] | None
    """Reel-out acceleration held over the step (m/s^2); None without winches."""


class SlungState(State):
    """Where a slung rig is: payload, vehicles, cables and which of them are taut."""

    motion: SlungMotion
    mode: SlungMode

    @property
    def payload(self) -> Bodies:
        """(3, *batch)."""
        return self.motion.payload

    @property
    def vehicles(self) -> Bodies:
        """(3, n, *batch)."""
        return self.motion.vehicles

    @property
    def taut(self) -> Bool[Array, "n *batch"]:
        """Cables that pull, or may."""
        return self.mode.taut

    @property
    def cut(self) -> Bool[Array, "n *batch"]:
        """Cables that are cut."""
        return self.mode.cut

    @property
    def length(self) -> Float[Array, "n *batch"]:
        """Free length of each cable (m)."""
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


class SlungParameters(Hybrid):
    """n vehicles and one payload joined by n cables, as arrays."""

    mechanism: ClassVar[str] = "cables"

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
    def layout(self) -> Layout:
        """One payload, n vehicles, n cables."""
        return _layout(self.count, self.winch is not None)

    @property
    def cables(self) -> tuple[Cable, ...]:
        """The cables as objects, as they were given."""
        return tuple(
            Cable(
                self.length[k],
                self.attachment[:, k],
                None if self.hook is None else self.hook[:, k],
                None if self.winch is None else self.winch.of(k),
            )
            for k in range(self.count)
        )


@cache
def _layout(n: int, reels: bool) -> Layout:
    return Layout(
        groups=(Group("payload", 1), Group("vehicles", n)),
        signals=(
            SignalKind("cable.tension", "N", n, "pull along each cable"),
            SignalKind("cable.length", "m", n, "free length of each cable"),
            SignalKind("cable.taut", "", n, "whether each cable is at its length and may pull"),
        ),
        events=(
            EventKind("impact", "cable", "N s", "a slack cable comes to its length with speed"),
            EventKind("taut", "cable", says="a slack cable comes to its length without speed"),
            EventKind("slack", "cable", says="a taut cable lets go"),
        ),
        drives=(Drive("winch", "m/s", n),) if reels else (),
        switches=(Switch("cut", "cable", n),),
    )
