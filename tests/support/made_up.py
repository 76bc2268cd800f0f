"""Flights made up by hand, for what is worked out from them."""

from dataclasses import replace
from typing import Any

import numpy as np

from skyrig.flight import Flight, Track, Wanted
from skyrig.flight.flight import Cables, Inputs, RigData

LEVEL = np.array([1.0, 0.0, 0.0, 0.0])


def tracks(position: np.ndarray, attitude: np.ndarray = LEVEL) -> Track:
    many = position.shape[:-1]
    return Track(
        position, np.zeros_like(position), np.broadcast_to(attitude, (*many, 4)).copy(), 0 * position
    )


def flight(times: np.ndarray, count: int = 2, mechanism: str = "cables", **changes: Any) -> Flight:
    """Vehicles in a row one metre apart, two metres above a payload at rest in the origin."""
    n, size = count, len(times)
    places = np.stack([np.arange(n) - (n - 1) / 2, np.zeros(n), np.full(n, 2.0)], axis=1)
    cables = n if mechanism == "cables" else 0
    made = Flight(
        name="made up",
        times=times,
        payload=tracks(np.zeros((size, 3))),
        vehicles=tracks(np.broadcast_to(places, (size, n, 3)).copy()),
        cables=Cables(
            np.ones((size, cables)), np.full((size, cables), 2.0), np.ones((size, cables), dtype=bool)
        ),
        inputs=Inputs(
            times[:-1],
            np.ones((size - 1, n)),
            np.zeros((size - 1, n, 3)),
            np.ones((size - 1, n)),
            np.zeros((size - 1, n, 3)),
            np.zeros((size - 1, n)),
        ),
        rig=RigData(
            mechanism=mechanism,
            payload_mass=0.5,
            payload_is_point=False,
            payload_corners=np.zeros((1, 3)),
            vehicle_mass=np.full(n, 1.0),
            vehicle_radius=np.full(n, 0.2),
            vehicle_thrust_max=np.full(n, 20.0),
            attachments=np.zeros((n, 3)),
            hooks=np.zeros((n, 3)),
        ),
        reference=Wanted(
            *(np.zeros((size, 3)) for _ in range(3)), np.tile(LEVEL, (size, 1)), np.zeros((size, 3))
        ),
    )
    return replace(made, **changes)
