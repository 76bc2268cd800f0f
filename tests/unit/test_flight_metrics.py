"""Metrics against cases worked out by hand."""

import numpy as np
import pytest
from made_up import flight, replace, tracks

from skyrig.constants import GRAVITY
from skyrig.flight import FlightEvent, ReferenceTrack
from skyrig.flight.distances import closest, to_segment
from skyrig.flight.metrics import metrics, rms, slack_spans, slack_time, tracking
from skyrig.flight.tables import rows


def test_errors_are_three_dimensional_and_over_the_whole_flight() -> None:
    times = np.linspace(0.0, 10.0, 1001)
    # (3, 4, 0) cm away for the whole flight: 5 cm, whatever the window
    away = flight(times, payload=tracks(np.tile([0.03, 0.04, 0.0], (1001, 1))))
    found = tracking(away, (0.0, 10.0))
    assert np.isclose(found["position_rmse"], 0.05) and np.isclose(found["position_peak"], 0.05)
    assert found["window"] == [0.0, 10.0] and found["attitude_rmse"] == 0.0
    # growing as t / 10: mean square 1/3 over the whole, (1 + 0.9 + 0.81) / 3 over the last second
    growing = flight(times, payload=tracks(np.stack([times / 10, 0 * times, 0 * times], axis=1)))
    assert np.isclose(tracking(growing, (0.0, 10.0))["position_rmse"], np.sqrt(1 / 3), rtol=1e-5)
    assert np.isclose(tracking(growing, (9.0, 10.0))["position_rmse"], np.sqrt(2.71 / 3), rtol=1e-5)
    assert tracking(growing, (0.0, 5.0))["position_peak_time"] == 5.0
    whole = metrics(growing)["tracking"]
    assert set(whole) == {"whole", "last 2 s"} and whole["whole"]["window"] == [0.0, 10.0]


def test_uneven_samples_weigh_by_their_time() -> None:
    times = np.concatenate([np.linspace(0, 1, 1001), [2.0]])
    values = np.concatenate([np.ones(1001), [1.0]])
    assert np.isclose(rms(values, times), 1.0)
    assert np.isclose(rms(np.where(times < 1, 0.0, 1.0), times), np.sqrt(1.0 / 2), rtol=1e-3)


def test_attitude_errors_are_the_angle_of_one_turn() -> None:
    times = np.linspace(0, 1, 11)
    turned = np.array([np.cos(0.1), np.sin(0.1) * 0.6, 0.0, np.sin(0.1) * 0.8])
    for sign in (1, -1):  # both quaternions are the same attitude
        found = tracking(flight(times, payload=tracks(np.zeros((11, 3)), sign * turned)), (0, 1))
        assert np.isclose(found["attitude_rmse"], 0.2)


def test_linked_rigs_must_tilt_to_accelerate() -> None:
    times = np.linspace(0, 1, 11)
    a = 1.0966
    tilt = np.arctan2(a, GRAVITY)
    wanted = flight(times, mechanism="links").reference
    assert wanted is not None
    asked = replace(wanted, acceleration=np.tile([a, 0.0, 0.0], (11, 1)))
    demanded = np.array([np.cos(tilt / 2), 0.0, np.sin(tilt / 2), 0.0])  # pitched so that z leans to +x
    level = tracking(flight(times, mechanism="links", reference=asked), (0, 1))
    assert np.isclose(level["attitude_floor"], tilt) and np.isclose(level["attitude_rmse_demanded"], tilt)
    leaning = flight(times, mechanism="links", reference=asked, payload=tracks(np.zeros((11, 3)), demanded))
    found = tracking(leaning, (0, 1))
    assert np.isclose(found["attitude_rmse"], tilt) and abs(found["attitude_rmse_demanded"]) < 1e-7


def test_vehicles_may_have_references_of_their_own() -> None:
    times = np.linspace(0, 1, 11)
    base = flight(times)
    place = base.vehicles.position + [0.0, 0.0, 0.1] * np.array([[1.0], [3.0]])
    wanted = ReferenceTrack(place, 0 * place, 0 * place, base.vehicles.attitude, 0 * place)
    found = tracking(replace(base, reference=None, vehicle_references=wanted), (0, 1))
    assert np.allclose(found["vehicle_position_rmse"], [0.1, 0.3]) and "position_rmse" not in found


def test_slack_spans_come_from_the_events() -> None:
    times = np.linspace(0, 10, 11)
    happened = (
        FlightEvent(0.0, "taut", "cable", 0),
        FlightEvent(1.25, "slack", "cable", 0),
        FlightEvent(1.75, "impact", "cable", 0, 0.2, "N s"),
        FlightEvent(3.0, "slack", "cable", 1),
        FlightEvent(3.5, "taut", "cable", 1),
        FlightEvent(8.5, "cut", "cable", 1),
    )
    flown = flight(times, events=happened)
    assert slack_spans(flown, 0) == [(1.25, 1.75)]
    assert slack_spans(flown, 1) == [(3.0, 3.5), (8.5, 10.0)] and slack_time(flown, 1) == 2.0
    found = metrics(flown)
    assert found["events"] == {"cut": 1, "impact": 1, "slack": 2, "taut": 1}
    # the samples, a second apart, saw none of it
    assert flown.cables.tension.min() == 1.0
    assert [cable["tension_min"] for cable in found["cables"]] == [0.0, 0.0]
    assert found["cables"][0]["impacts"] == 1 and found["cables"][0]["impulse_max"] == 0.2
    hanging = np.zeros((11, 2), dtype=bool)
    loose = replace(flown, events=(), cables=replace(flown.cables, taut=hanging))
    assert slack_time(loose, 0) == 10.0


def test_saturation_is_a_share_of_time() -> None:
    flown = flight(np.linspace(0, 1, 11))
    busy = np.zeros((10, 2))
    busy[:3, 0] = 0.25
    busy[2:4, 1] = 1.0
    found = metrics(replace(flown, inputs=replace(flown.inputs, saturated=busy)))["saturation"]
    assert np.isclose(found["share"], 0.4) and np.allclose(found["vehicles"], [0.3, 0.2])


def test_distances_are_between_surfaces() -> None:
    times = np.linspace(0, 1, 11)
    flown = flight(times, count=3)
    near = flown.vehicles.position.copy()
    near[4, 2] = near[4, 1] + [0.5, 0.0, 0.0]
    found = closest(replace(flown, vehicles=tracks(near)))["closest_vehicles"]
    assert found is not None
    assert np.isclose(found["distance"], 0.1) and (found["time"], found["pair"]) == (times[4], [1, 2])
    # the middle cable is the z axis from 2 to 0: a vehicle at (-0.3, 0, 1) is 0.3 m from it
    near = flown.vehicles.position.copy()
    near[7, 0] = [-0.3, 0.0, 1.0]
    close = closest(replace(flown, vehicles=tracks(near)))["closest_cable"]
    assert close is not None
    assert np.isclose(close["distance"], 0.1) and close["pair"] == [1, 0]
    gone = replace(flown, vehicles=tracks(near), events=(FlightEvent(0.5, "cut", "cable", 1),))
    still = closest(gone)["closest_cable"]
    assert still is not None and still["distance"] > 0.1
    assert closest(flight(times, count=1)) == {"closest_vehicles": None, "closest_cable": None}
    assert closest(flight(times, mechanism="links"))["closest_cable"] is None


@pytest.mark.parametrize(
    "point, apart", [([0, 0, 3], 1.0), ([0, 0, -1], 1.0), ([0.5, 0, 1], 0.5), ([3, 4, 2], 5.0)]
)
def test_a_segment_ends(point: list[float], apart: float) -> None:
    one = np.asarray([point], dtype=float)
    assert np.isclose(to_segment(one, np.array([[0, 0, 2.0]]), np.zeros((1, 3)))[0], apart)


def test_the_real_time_factor_is_handed_in_and_tables_carry_units() -> None:
    found = metrics(flight(np.linspace(0, 10, 11)), windows={"middle": (4.0, 6.0)}, wall_seconds=0.5)
    assert found["real_time_factor"] == 20.0 and set(found["tracking"]) == {"whole", "middle"}
    lines = {name: (value, unit) for name, value, unit in rows(found)}
    assert lines["position error, rms (middle, 4 to 6 s)"] == (0.0, "m")
    assert lines["flown at, compilation included"] == (20.0, "x real time")
