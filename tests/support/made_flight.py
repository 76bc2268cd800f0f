"""A flight of made-up numbers, of every part that a flight can have."""

import numpy as np
from made_up import filled, rig

from skyrig.flight import Flight, FlightEvent, Impact, ReferenceTrack, Signal, Track
from skyrig.flight.flight import CableSignals, Inputs


def made() -> Flight:
    """Five moments of two vehicles."""
    rng = np.random.default_rng(1)
    size, n = 5, 2

    def track(*many: int) -> Track:
        return Track(*(rng.normal(size=(*many, k)) for k in (3, 3, 4, 3)))

    return Flight(
        **filled(
            name="made up",
            times=np.arange(size) * 0.1,
            payload=track(size),
            vehicles=track(size, n),
            cables=CableSignals(
                rng.normal(size=(size, n)), rng.normal(size=(size, n)), rng.random((size, n)) > 0.5
            ),
            inputs=Inputs(
                np.arange(size) * 0.1, *(rng.normal(size=(size, n, *e)) for e in ((), (3,), (), (3,), ()))
            ),
            rig=rig(n),
            reference=ReferenceTrack(*(rng.normal(size=(size, k)) for k in (3, 3, 3, 4, 3))),
            measured_payload=track(size),
            measured_vehicles=track(size, n),
            events=(
                FlightEvent(0.1, "poke", "payload", 0, 0.5, "N s"),
                FlightEvent(0.25, "impact", "cable", 1, 0.125, "N s"),
            ),
            impacts=(
                Impact(0.25, 1, 0.125, *(rng.normal(size=s) for s in ((2,), (2,), (2, 3), (2, 3), (2, 3)))),
            ),
            scenario="skyrig: 1\nname: made up  # ünïcode ≥ 7\n",
            metrics={"rmse": 0.5, "none": None, "list": [1, 2]},
            versions={"skyrig": "0"},
            signals={
                "cable_belief": Signal(rng.normal(size=(size, n)), "1", owner="controller", held=True),
                "missing_thrust": Signal(rng.normal(size=(size, n)), "N", owner="controller", held=True),
            },
        )
    )
