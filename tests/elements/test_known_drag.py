"""Controllers that know the drag of still air fly as if there were none."""

from typing import Any

import numpy as np
import pytest

import skyrig

AIR: dict[str, Any] = {
    "world.drag": {"bodies": {"vehicles": {"linear": 0.05, "quadratic": [0.005, 0.005, 0.01]}}},
    "world.payload_drag": {},
    "world.rotor_drag": {"coefficient": 2e-5},
    "world.cable_drag": {"diameter": 0.002},
}
FAST = {
    "reference": {
        "type": "circle",
        "radius": 1.5,
        "period": 4.0,
        "ramp": 4.0,
        "turns": 2,
        "start": [1.5, 0, 1.5],
    },
    "controller.gains": {"observe": 0.0},
}


def peak(flight: Any) -> float:
    """How far the payload was from its reference at most (m)."""
    return float(flight.metrics["tracking"]["whole"]["position_peak"])


@pytest.mark.slow
def test_known_drag_costs_a_tenth_of_what_unknown_drag_does() -> None:
    windy = skyrig.load("one-dragonfly-circle").with_overrides({**FAST, **AIR})
    known = skyrig.fly(windy)
    unknown = skyrig.fly(windy.with_overrides({"controller.gains.drag": 0.0}))
    wrong = skyrig.fly(windy.with_overrides({"controller.gains.drag": 1.2}))
    assert known.verdict.flew and unknown.verdict.flew
    assert peak(known) < 0.1 * peak(unknown)
    assert peak(known) < peak(wrong) < peak(unknown)
    # in a batch every controller knows the drag of its own flight
    many = skyrig.fly_many(windy, 2, {"world.drag.bodies.vehicles.linear": "uniform(0.05, 0.1)"})
    assert np.all(many.metrics["position_peak"] < 2 * peak(known))
    drawn = float(many.inputs["world.drag.bodies.vehicles.linear"][1])
    alone = skyrig.fly(windy.with_overrides({"world.drag.bodies.vehicles.linear": drawn}))
    assert many.metrics["position_peak"][1] == pytest.approx(peak(alone), abs=1e-6)
