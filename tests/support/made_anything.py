"""A flight of a rig that nobody knows: no payload, no cables, signals and events of its own."""

from dataclasses import replace

import numpy as np
from made_up import LEVEL, tracks

from skyrig.flight import Flight, FlightEvent, ReferenceTrack, Signal
from skyrig.flight.flight import Inputs
from skyrig.flight.metrics import metrics
from skyrig.flight.rig import RigData
from skyrig.rigs.layout import End, Tether
from skyrig.vehicles import Payload, airframe
from skyrig.vehicles.shapes import Box

SIZE = np.array([0.2, 0.1, 0.06])


def made_anything(grip: float = 0.02, count: int = 101) -> Flight:
    """Two vehicles hold an object by bands; the file names a mechanism whose Python file is not there."""
    times = np.linspace(0.0, 2.0, count)
    up = np.stack([0.1 * np.sin(times), 0 * times, 1.0 + 0.1 * times], axis=1)
    body = tracks(up[:, None])
    team = tracks(up[:, None] + np.array([[-0.4, 0.0, 0.6], [0.4, 0.0, 0.6]]))
    aim = [up[:, None] + [0.01, 0.0, 0.0], *(np.zeros((count, 1, 3)) for _ in range(2))]
    still = np.broadcast_to(LEVEL, (count, 1, 4)).copy()
    ticks = times[::5]
    held = [np.full((len(ticks), 2, *extra), 3.0) for extra in ((), (3,), (), (3,))]
    load = Payload(name="thing", mass=0.5, shape=Box(SIZE))
    flight = Flight(
        name="anything",
        times=times,
        bodies={"vehicles": team, "object": body},
        inputs=Inputs(ticks, *held, np.zeros((len(ticks), 2))),
        rig=RigData(
            mechanism="bands",
            words="on rubber bands",
            airframes=(airframe("dragonfly"), airframe("hummingbird")),
            loads={"object": (load,)},
            tethers=tuple(
                Tether("band", End("vehicles", k, (0.0, 0.0, -0.03)), End("object", 0, (side, 0.0, 0.03)))
                for k, side in enumerate((-0.1, 0.1))
            ),
        ),
        references={"object": ReferenceTrack(*aim, still, np.zeros((count, 1, 3)))},
        measured={"object": body.at(slice(None, None, 5)), "vehicles": team.at(slice(None, None, 5))},
        signals={
            "band.tension": Signal(np.stack([2 + times, 2 - times], axis=1), "N", "pull of a band", "band"),
            "gripper.gap": Signal(grip * (2 - times)[:, None], "m", "between the fingers", "gripper"),
            "mood": Signal(np.arange(float(len(ticks)))[:, None], "1", owner="controller", held=True),
        },
        events=(
            FlightEvent(0.5, "closed", "gripper", 0, 0.02, "m", (0.02,), 0),
            FlightEvent(1.0, "cut", "band", 1),
        ),
        jumps={name: tracks(np.zeros((1, 2, k, 3))) for name, k in (("vehicles", 2), ("object", 1))},
        scenario="skyrig: 1\nname: anything\nrig: {mechanism: bands, bands: 2}\n",
    )
    return replace(flight, metrics=metrics(flight))
