"""A slung rig as numbers: what its parts weigh, where its cables hold, and where everything is."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Bool, Float

from skyrig.rigs.bodies import Bodies
from skyrig.rigs.cables import Cable
from skyrig.rigs.layout import Drive, EventKind, Group, Layout, SignalKind, Switch
from skyrig.rigs.on_cables import CableState, CableTeam, Reeled
from skyrig.rigs.protocol import Hybrid


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


class SlungState(CableState):
    """Where a slung rig is: payload, vehicles, cables and which of them are taut."""

    motion: SlungMotion
    mode: SlungMode

    @property
    def taut(self) -> Bool[Array, "n *batch"]:
        """Cables that pull, or may."""
        return self.mode.taut

    @property
    def cut(self) -> Bool[Array, "n *batch"]:
        """Cables that are cut."""
        return self.mode.cut


class SlungParameters(CableTeam, Hybrid):
    """n vehicles and one payload joined by n cables, as arrays."""

    mechanism: ClassVar[str] = "cables"

    restitution: Float[Array, "*batch"]

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
