"""Other flights that lie over the one on show: drawn in one colour each, by its clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skyrig.errors import InputError
from skyrig.flight import meshes
from skyrig.flight.flight import Flight, FlightEvent
from skyrig.flight.frames import of_flight
from skyrig.studio.charts import Beside
from skyrig.studio.look import Look
from skyrig.studio.scene import RigScene

TINTS: tuple[meshes.Colour, ...] = (meshes.OVERLAY, (20, 150, 140), (200, 80, 130), (130, 140, 30))
"""Of everything in the first other flight, the second and so on."""


@dataclass(frozen=True, eq=False)
class FlightOverlay(Beside):
    """Another flight and its drawing."""

    events: tuple[FlightEvent, ...]
    tint: meshes.Colour
    scene: RigScene

    def draw(self, now: float, look: Look) -> None:
        """Show where it was at a moment (s) of its own time."""
        self.scene.draw(self.frames.at(now), set(self.rig.severed(self.events, now)), {}, look)


def laid(page: Any, root: str, flight: Flight, others: Sequence[FlightOverlay]) -> FlightOverlay:
    """A flight over the one on show and those there are, with its drawing at the scene node `root`."""
    if len(others) == len(TINTS):
        raise InputError(f"{len(TINTS)} flights lie over this one already: press No overlay first.")
    taken = {it.tint for it in others}
    tint = next(it for it in TINTS if it not in taken)
    names = [it.name for it in others]
    name = next(it for it in (flight.name, *(f"{flight.name} ({k})" for k in range(2, 9))) if it not in names)
    scene = RigScene(page, root, flight.rig, tint)
    return FlightOverlay(name, of_flight(flight), flight.rig, flight.events, tint, scene)
