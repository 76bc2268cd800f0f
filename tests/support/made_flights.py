"""Flights made up by hand from a bundled scenario's parts: nothing is flown, nothing is compiled."""

from dataclasses import replace

import numpy as np
from made_up import filled

from skyrig.flight.flight import CableSignals, Flight, FlightEvent, Impact, Inputs, ReferenceTrack, Track
from skyrig.flight.metrics import metrics
from skyrig.runs.assembly import rig_data
from skyrig.scenario import load
from skyrig.turns import turn

STEP = 0.002


def level(*shape: int) -> np.ndarray:
    return np.broadcast_to([1.0, 0.0, 0.0, 0.0], (*shape, 4)).copy()


def impact(time: float, cable: int, impulse: float) -> Impact:
    sides = np.array([1.5, 0.0]), np.array([0.2, 0.1])
    return Impact(time, cable, impulse, *sides, *(np.arange(6.0).reshape(2, 3) for _ in range(3)))


def made_flight(
    name: str = "three-dragonflies-poke",
    duration: float = 2.0,
    start: float = 0.0,
    hits: tuple[tuple[float, int, float], ...] = ((1.0, 1, 0.0706), (1.2, 0, 1e-6), (1.3, 0, 2e-6)),
) -> Flight:
    """A rig that sways gently, cable by cable vertical, with the impacts (time, cable, impulse) given."""
    scenario = load(name)
    parts = scenario.parts
    n, cables = parts.count, len(parts.tethers)
    times = start + np.arange(0.0, duration + STEP / 2, STEP)
    size = len(times)
    place = np.stack([0.1 * np.sin(times), 0.02 * np.cos(3 * times), 1.5 + 0 * times], axis=1)
    still = np.zeros((size, 3))
    payload = Track(place, still, level(size), still)
    ends = place[:, None] + turn(level(size, 1), parts.points)
    up = np.array([0.0, 0.0, parts.lengths[0] if cables else 0.0])
    vehicles = Track(ends + up, np.zeros((size, n, 3)), level(size, n), np.zeros((size, n, 3)))
    tension = np.full((size, cables), 0.9) + 0.01 * np.arange(cables)
    lengths = np.full((size, cables), up[2])
    ticks = times[::5]
    held = [np.full((len(ticks), n, *extra), 3.0 + k) for k, extra in enumerate(((), (3,), (), (3,)))]
    measured = [Track(*(part[::5] for part in vars(body).values())) for body in (payload, vehicles)]
    hits = tuple(hit for hit in hits if hit[1] < cables)
    rows = [FlightEvent(time, "impact", "cable", cable, impulse, "N s") for time, cable, impulse in hits]
    flight = Flight(
        **filled(
            name=scenario.name,
            times=times,
            payload=payload,
            vehicles=vehicles,
            cables=CableSignals(tension, lengths, np.ones((size, cables), bool)),
            inputs=Inputs(ticks, *held, np.zeros((len(ticks), n))),
            rig=rig_data(parts),
            reference=ReferenceTrack(place + [0.00312, 0.0, 0.0], still, still, level(size), still),
            measured_payload=measured[0],
            measured_vehicles=measured[1],
            events=(FlightEvent(start + 0.5, "poke", "payload", 0, 0.1, "N s"), *rows),
            impacts=tuple(impact(*hit) for hit in hits),
            scenario=scenario.to_yaml(),
        )
    )
    return replace(flight, metrics=metrics(flight, wall_seconds=4.0))
