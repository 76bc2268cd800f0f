"""The open-loop drop of RotorTM Fig. 16, against its closed-form solution."""

import numpy as np
import pytest
from rigging import GRAVITY, drop, triangle

from skyrig import Cable, Cut, Poke, Slung, airframe, payload, rollout, trim

FALL = 0.2104129136
BEFORE = [0, 0, -2.0641506823]
AFTER = [-0.461501778, 0, -0.596668557]
VEHICLE_AFTER = [0.129220498, 0, -0.410894995]


@pytest.mark.parametrize("step", [1e-3, 2e-3, 1e-2])
def test_fig_16(step):
    rig, state, thrust = drop()
    # the payload falls freely until |r| = l: (0.15)^2 + (0.3 cos 30 + g t^2 / 2)^2 = 0.5^2
    exact = np.sqrt(2 * (np.sqrt(0.25 - 0.15**2) - 0.3 * np.cos(np.pi / 6)) / GRAVITY)
    assert abs(exact - FALL) < 1e-10
    near = 1e-9
    flight = rollout(rig, state, [0, 0.3], thrust, at=[0, FALL - near, FALL + near, 0.3], step=step)
    (event,) = flight.events
    assert event.kind == "impact" and event.cable == 0
    assert abs(event.time - exact) < 1e-8
    np.testing.assert_allclose(flight.payload.velocity[1], BEFORE, atol=2e-8)
    np.testing.assert_allclose(flight.payload.velocity[2], AFTER, atol=5e-8)
    np.testing.assert_allclose(flight.vehicles.velocity[2, 0], VEHICLE_AFTER, atol=5e-8)
    np.testing.assert_allclose(flight.taut[:, 0], [False, False, True, True])


def test_fig_16_velocities_at_the_impact():
    # the instant itself, from the log's impulse: no time passes between before and after
    rig, state, thrust = drop()
    flight = rollout(rig, state, [0, 0.3], thrust)
    (event,) = flight.events
    xi = np.array([0.15, 0.0, -np.sqrt(0.25 - 0.15**2)]) / 0.5
    before = np.array([0, 0, -GRAVITY * event.time])
    np.testing.assert_allclose(before, BEFORE, atol=1e-8)
    np.testing.assert_allclose(before - event.impulse * xi / 0.07, AFTER, atol=1e-8)
    np.testing.assert_allclose(event.impulse * xi / 0.25, VEHICLE_AFTER, atol=1e-8)


def test_inverted_thrust_lets_go_at_once_and_the_load_falls_freely():
    rig = triangle()
    hover = trim(rig, [0, 0, 20.0])
    flight = rollout(rig, hover.state, [0, 0.3], -hover.thrust, at=[0, 0.1, 0.3])
    assert [event.kind for event in flight.events[3:]] == ["slack"] * 3
    assert all(event.time == 0 for event in flight.events)
    fallen = np.asarray(flight.payload.velocity[:, 2])
    np.testing.assert_allclose(fallen, [0, -0.981, -2.943], atol=1e-12)
    np.testing.assert_allclose(flight.payload.position[-1], [0, 0, 20 - GRAVITY * 0.045], atol=1e-12)
    assert not flight.taut.any() and np.all(flight.tension == 0)


def test_a_slack_vehicle_is_not_moved_by_another_cables_impact():
    rig = triangle()
    hover = trim(rig, [0, 0, 5.0])
    vehicles = np.asarray(hover.state.vehicles.position).T.copy()
    vehicles[0] += [0.0, 0.0, -0.4]  # slack by a good measure
    vehicles[1] += [0.0, 0.0, -0.02]  # arrives soon
    state = rig.state([0, 0, 5.0], vehicles)
    flight = rollout(rig, state, [0, 0.1], hover.thrust)
    impacts = [event for event in flight.events if event.kind == "impact"]
    assert impacts and impacts[0].cable == 1 and impacts[0].time < 0.1
    lone = Slung.build([airframe("dragonfly")], payload("point-mass"), [Cable(5.0)])
    free = rollout(lone, lone.state([0, 0, 9.0], vehicles[:1]), [0, 0.1], hover.thrust[:1])
    np.testing.assert_allclose(flight.vehicles.position[:, 0], free.vehicles.position[:, 0], atol=1e-12)


def test_start_modes():
    rig, _, thrust = drop()
    at_rest = rig.state([0, 0, 1.0], [[0, 0, 1.5]])
    assert np.asarray(at_rest.taut).tolist() == [True]
    apart = rig.state([0, 0, 1.0], [[0, 0, 1.5]], vehicle_velocity=[[0, 0, 0.1]])
    flight = rollout(rig, apart, [0, 0.1], thrust)
    assert flight.events[0].kind == "impact" and flight.events[0].time == 0.0
    # inelastic: one speed for both along the cable, momentum kept
    np.testing.assert_allclose(flight.vehicles.velocity[0, 0, 2], 0.25 * 0.1 / 0.32, rtol=1e-12)
    towards = rig.state([0, 0, 1.0], [[0, 0, 1.5]], vehicle_velocity=[[0, 0, -0.1]])
    assert np.asarray(towards.taut).tolist() == [False]
    resting = rollout(rig, at_rest, [0, 0.01], np.asarray(thrust) * 1.28)
    assert [event.kind for event in resting.events] == ["taut"]


def test_a_graze_inside_a_step_is_seen():
    # the payload flies up past the vehicle's level and back: the span peaks between two ends of a 10 ms step
    rig = Slung.build([airframe("dragonfly")], payload("point-mass"), [Cable(1.0)])
    rise = 1.0 + 4e-5  # would overshoot by 40 micrometres, for about 6 ms
    speed = np.sqrt(2 * GRAVITY * 0.5)
    peak = speed / GRAVITY
    start = [0, 0, 2.0 + rise - 0.5]
    for shift in (0.0, 0.0025, 0.005, 0.0075):
        late = 0.01 * np.ceil(peak / 0.01) - peak + shift
        height, climb = start[2] - speed * late - GRAVITY * late**2 / 2, speed + GRAVITY * late
        state = rig.state([0, 0, height], [[0, 0, 2.0]], payload_velocity=[0, 0, climb])
        flight = rollout(rig, state, [0, 0.5], [0.25 * GRAVITY], step=0.01)
        assert flight.events and flight.events[0].kind == "impact", shift
        hit = peak - np.sqrt(2 * 4e-5 / GRAVITY) + late
        assert abs(flight.events[0].time - hit) < 1e-9
    state = rig.state([0, 0, start[2] - 8e-5], [[0, 0, 2.0]], payload_velocity=[0, 0, speed])
    assert not rollout(rig, state, [0, 0.4], [0.25 * GRAVITY], step=0.01).events


def test_reporting_does_not_change_the_flight():
    rig, state, thrust = drop()
    plain = rollout(rig, state, [0, 0.5], thrust)
    odd = rollout(rig, state, [0, 0.5], thrust, at=np.linspace(0, 0.5, 77))
    np.testing.assert_array_equal(plain.final.payload.position, odd.final.payload.position)
    fine = rollout(rig, state, [0, 0.5], thrust, at=odd.times, step=5e-4)
    np.testing.assert_allclose(odd.payload.position, fine.payload.position, atol=1e-9)


def test_poke_cut_and_ground():
    rig = triangle()
    hover = trim(rig, [0, 0, 0.5])
    happenings = [Poke(0.1, [0, 0, 0.25], [0.3, 0, 0]), Cut(0.3, 0), Cut(0.301, 1), Cut(0.301, 2)]
    flight = rollout(rig, hover.state, [0, 1.0], hover.thrust, happenings=happenings)
    kinds = [event.kind for event in flight.events]
    assert kinds[:4] == ["taut"] * 3 + ["poke"]
    poke = flight.events[3]
    assert poke.impulse == 0.25 and poke.time == 0.1
    assert "slack" in kinds[4:6], "an upward poke loosens the cable above it"
    assert [event.cable for event in flight.events if event.kind == "cut"] == [0, 1, 2]
    (ground,) = [event for event in flight.events if event.kind == "ground"]
    after = flight.times > 0.302
    np.testing.assert_allclose(np.diff(flight.payload.velocity[after, 2]) / 2e-3, -GRAVITY, atol=1e-9)
    height = np.interp(ground.time, flight.times, flight.payload.position[:, 2])
    assert abs(height) < 1e-5
