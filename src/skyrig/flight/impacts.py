"""What impacts did: velocities just before and just after cables came to their lengths."""

from __future__ import annotations

import numpy as np

from skyrig.flight.flight import Flight, FlightEvent, Impact
from skyrig.rigs.layout import Tether

MOST = 100
"""Jumps of which both sides are kept, those with the largest numbers."""
AROUND = 0.1
"""How far the picture of the hardest impact goes to either side of it (s)."""


def impacts(flight: Flight) -> tuple[Impact, ...]:
    """The impacts of a flight's cables whose two sides are among its jumps."""
    hits = [it for it in flight.events if it.kind == "impact" and it.owner == "cable" and it.jump is not None]
    cables = [it for it in flight.rig.tethers if it.name == "cable"]
    return tuple(
        _impact(flight, event, cables[event.index])
        for event in hits
        if event.index is not None and event.index < len(cables)
    )


def _impact(flight: Flight, event: FlightEvent, cable: Tether) -> Impact:
    """One impact from both sides of its jump, each side a row."""
    assert event.jump is not None and event.index is not None
    sides = {group: it.at(event.jump) for group, it in flight.jumps.items()}
    craft, load = (sides[end.group].one(end.index) for end in (cable.start, cable.end))
    (top, drift), (end, speed) = craft.point(cable.start.point), load.point(cable.end.point)
    xi = end - top
    xi = xi / np.linalg.norm(xi, axis=1, keepdims=True)
    relative = speed - drift
    along = np.einsum("ti,ti->t", relative, xi)
    mass = flight.rig.mass
    return Impact(
        time=event.time,
        cable=event.index,
        impulse=event.value,
        along=along,
        across=np.linalg.norm(relative - along[:, None] * xi, axis=1),
        payload_velocity=load.velocity,
        vehicle_velocity=craft.velocity,
        momentum=np.sum(
            [
                np.einsum("k,tki->ti", mass[group], it.velocity)
                for group, it in sides.items()
                if group in mass
            ],
            axis=0,
        ),
    )
