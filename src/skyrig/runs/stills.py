"""What statics found as a flight that nobody flew: for the studio, playback and pictures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from skyrig.flight.flight import Flight, FlightEvent, Inputs, Signal, Track
from skyrig.flight.records import PAYLOAD, TEAM
from skyrig.flight.rig import rig_data
from skyrig.runs.assembly import versions
from skyrig.scenario import Scenario

if TYPE_CHECKING:
    from skyrig.statics.stories import Story


def still_flight(scenario: Scenario, story: Story) -> Flight:
    """A flight whose bodies are where a story has them, each moment in balance with its vehicles.

    Velocities are zero: nothing moves by itself here, moments only follow one another.

    Args:
        scenario: Whose team it is.
        story: The moments.
    """
    held = {id(it): it for it in story.held}
    rows = np.array([list(held).index(id(it)) for it in story.held])
    every = list(held.values())
    tension = np.stack([it.tension for it in every])[rows]
    thrust = np.stack([np.linalg.norm(it.thrust, axis=1) for it in every])[rows]
    count = tension.shape[1]
    crafts = np.stack([it.vehicles for it in every])[rows]
    leans = np.stack([it.vehicle_attitude for it in every])[rows]
    length = np.tile(every[0].team.length, (len(rows), 1))
    still = np.zeros((len(rows), count, 3))
    taut = tension > 1e-9 * every[0].team.weight
    signals = {
        "cable.tension": Signal(tension, "N", "tension", "cable"),
        "cable.length": Signal(length, "m", "free length", "cable"),
        "cable.taut": Signal(taut, "", "whether it is taut", "cable"),
    }
    load = Track(
        story.position[:, None],
        np.zeros((len(rows), 1, 3)),
        story.attitude[:, None],
        np.zeros((len(rows), 1, 3)),
    )
    return Flight(
        name=scenario.name,
        times=story.times,
        bodies={PAYLOAD: load, TEAM: Track(crafts, still, leans, still)},
        inputs=Inputs(story.times, thrust, still, thrust, still, np.zeros_like(thrust)),
        rig=replace(rig_data(scenario.parts), marks=story.marks, shades=story.shades),
        signals=signals,
        events=tuple(FlightEvent(time, word) for time, word in story.chapters),
        scenario=scenario.to_yaml(),
        versions=versions(),
    )
