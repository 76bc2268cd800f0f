"""A step too long for how fast things turn is refused in words, not answered with made-up numbers."""

import re

import numpy as np
import pytest

from skyrig import Cable, FlightDiverged, Linked, Slung, airframe, payload, rollout, trim


def bar():
    load = payload("bar")
    points = load.attachment_points("cable", 2)
    return Slung.build([airframe("dragonfly")] * 2, load, [Cable(1.0, point) for point in points])


def whirling(rig, rate, step):
    """A twentieth of a second with the payload turning about the vertical at `rate` (rad/s), cables slack."""
    hover = trim(rig, [0, 0, 5.0])
    high = np.asarray(hover.state.vehicles.position).T - [0, 0, 0.5]
    state = rig.state([0, 0, 5.0], high, payload_rate=[0.0, 0.0, rate])
    return rollout(rig, state, [0.0, 0.05], np.asarray(hover.thrust), step=step)


def test_a_whirling_bar_is_refused_at_a_long_step_and_flown_at_a_short_one():
    rig = bar()
    with pytest.raises(FlightDiverged) as caught:
        whirling(rig, 300.0, 0.01)
    found = re.fullmatch(
        r"Near t = 0\.01 s the payload turns at 300 rad/s, too fast for a step of 0\.01 s: "
        r"it must stay below 0\.0033 s\.",
        str(caught.value),
    )
    assert found, caught.value
    flown = whirling(rig, 300.0, 0.001)
    # nothing but gravity acts on the bar, which turns about a principal axis
    np.testing.assert_allclose(flown.payload.rate, np.tile([0, 0, 300.0], (len(flown.times), 1)), atol=1e-6)


def test_a_linked_rig_that_spins_too_fast_is_refused_too():
    rig = Linked.build([airframe("dragonfly")] * 2, payload("bar"), [[-0.3, 0, 0], [0.3, 0, 0]], [0.0, 0.0])
    state = rig.state([0, 0, 5.0], payload_rate=[0.0, 0.0, 150.0])
    with pytest.raises(FlightDiverged, match="turns at 150 rad/s, too fast for a step of 0.01 s"):
        rollout(rig, state, [0.0, 0.05], np.zeros(2), step=0.01)
    rollout(rig, state, [0.0, 0.05], np.zeros(2), step=0.002)
