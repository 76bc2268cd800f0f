"""The loop in a user's hands: the same bits as a flight flown at once, whoever decides."""

import pickle

import numpy as np
import pytest

import skyrig
from skyrig.errors import InputError

SHORT = {"duration": 0.3, "noise.position": 0.002, "noise.attitude": 0.01}


def _scenario(name: str = "one-dragonfly-circle", step: float = 0.002, **more: object) -> skyrig.Scenario:
    return skyrig.load(name).with_overrides({**SHORT, "loop.step": step, **more})


def _hold(t, target, seen):
    """Hover thrust and a little damping: enough to be moved by noise."""
    n = len(seen.vehicles.position)
    return np.full(n, 3.6) - 0.2 * seen.vehicles.velocity[:, 2], -0.002 * seen.vehicles.rate


def _same(one: skyrig.Flight, other: skyrig.Flight) -> None:
    assert np.array_equal(one.times, other.times)
    for group, track in one.bodies.items():
        assert np.array_equal(track.position, other.bodies[group].position)
        assert np.array_equal(track.attitude, other.bodies[group].attitude)
    assert one.signals.keys() == other.signals.keys()
    for name, signal in one.signals.items():
        np.testing.assert_array_equal(signal.values, other.signals[name].values, name)
    for group, track in one.measured.items():
        assert np.array_equal(track.position, other.measured[group].position)
    assert one.events == other.events


@pytest.fixture(scope="module")
def steered() -> tuple[skyrig.Session, skyrig.Flight]:
    """A session flown by hand to its end, and what `fly` makes of the same law."""
    session = skyrig.Session(_scenario())
    while not session.done:
        session.step(_hold(session.time, session.target, session.sense()))
    return session, skyrig.fly(_scenario(), controller=_hold)


def test_commands_by_hand_fly_as_a_controller_of_ones_own(steered) -> None:
    session, flown = steered
    _same(session.flight, flown)
    assert session.time == pytest.approx(0.3) and session.tick == 30
    assert session.flight.metrics["tracking"] == flown.metrics["tracking"]


def test_the_scenarios_controller_flies_as_at_once_with_pokes_and_cuts() -> None:
    scenario = _scenario(
        "three-dragonflies-poke",
        duration=0.25,
        happenings=[
            {"type": "poke", "time": 0.05, "impulse": [0.0, 0.02, 0.3]},
            {"type": "cut", "time": 0.123, "cable": 1},
        ],
    )
    session = skyrig.Session(scenario)
    session.step(ticks=10)
    saved = pickle.loads(pickle.dumps(session.save()))
    session.step(ticks=5)
    session.restore(saved)
    assert session.tick == 10 and session.sense().payload is not None
    session.step(ticks=15)
    assert session.done
    flown = skyrig.fly(scenario)
    assert {event.kind for event in flown.events} >= {"poke", "cut", "slack"}
    _same(session.flight, flown)


def test_commands_and_the_controller_take_turns_in_flight(tmp_path) -> None:
    scenario = _scenario(duration=1.5)
    alone = skyrig.fly(scenario)
    session = skyrig.Session(scenario)
    session.step(ticks=20)
    before = session.sense()
    session.step((np.full(1, 4.5), np.zeros((1, 3))), ticks=10)
    saved = pickle.loads(pickle.dumps(session.save()))
    session.step()
    assert session.tick == 31
    session.step(ticks=119)
    flight = session.flight
    assert session.done and np.array_equal(flight.times, alone.times)
    first = flight.times <= 0.2
    for group, track in flight.bodies.items():
        # until the commands come it is the same flight, then another, without a jump
        assert np.array_equal(track.position[first], alone.bodies[group].position[first])
        assert np.abs(np.diff(track.position, axis=0)).max() < 0.01
    ticks = flight.inputs.times
    by_hand = (ticks > 0.199) & (ticks < 0.299)
    assert by_hand.sum() == 10 and (flight.inputs.commanded_thrust[by_hand] == 4.5).all()
    assert (flight.inputs.commanded_thrust[~by_hand] != 4.5).all()
    at = int(np.argmax(by_hand))
    assert np.array_equal(before.payload.position, flight.measured["payload"].position[at, 0])
    # too much thrust lifts it, and the controller brings it back
    off = np.linalg.norm(flight.payload.position - flight.references["payload"].position[:, 0], axis=1)
    assert off[flight.times <= 0.5].max() > 0.02 and off[-1] < 0.5 * off.max()

    other = skyrig.Session(scenario)
    other.restore(saved)
    assert other.tick == 30
    other.step(ticks=120)
    _same(other.flight, flight)
    # what the controller says of itself is not known while others fly; the flight can be kept all the same
    told = flight.signals["cable_belief"].values
    assert np.array_equal(np.isnan(told[:, 0]), by_hand)
    _same(skyrig.Flight.load(flight.save(tmp_path / "turns.npz")), flight)


def test_what_is_sensed_is_noisy_and_stays_the_same_until_the_next_step(steered) -> None:
    session, flown = steered
    again = skyrig.Session(_scenario())
    first = again.sense()
    assert np.array_equal(first.vehicles.position, again.sense().vehicles.position)
    assert np.array_equal(first.vehicles.position, flown.measured["vehicles"].position[0])
    assert not np.array_equal(first.vehicles.position, flown.bodies["vehicles"].position[0])
    truth = again.built.rig.bodies(again.state)["vehicles"].position
    assert np.array_equal(np.asarray(truth).T, flown.bodies["vehicles"].position[0])


def test_a_saved_session_goes_on_as_if_it_had_never_stopped(steered) -> None:
    session, _ = steered
    other = skyrig.Session(_scenario())
    for _ in range(12):
        other.step(_hold(other.time, other.target, other.sense()))
    saved = pickle.loads(pickle.dumps(other.save()))
    other.step((np.full(1, 9.0), np.zeros((1, 3))), ticks=5)  # somewhere else
    other.restore(saved)
    assert other.tick == 12
    while not other.done:
        other.step(_hold(other.time, other.target, other.sense()))
    _same(other.flight, session.flight)
    with pytest.raises(InputError, match="same scenario"):
        skyrig.Session(_scenario(duration=0.4)).restore(saved)


def test_rotors_one_by_one_turn_the_vehicle_and_stop_at_their_limits() -> None:
    session = skyrig.Session(_scenario())
    airframe = session.built.team.airframes[0]
    each = np.full((1, 4), 0.9)
    each[0, 0] = 1e3
    session.step(rotors=each, ticks=3)
    flight, mixing = session.flight, airframe.mixing
    made = np.array([np.broadcast_to(airframe.thrust_max, 4)[0], 0.9, 0.9, 0.9])
    assert 0.9 < made[0] < 1e3
    np.testing.assert_allclose(flight.inputs.thrust[:, 0], (mixing @ made)[0], rtol=1e-12)
    np.testing.assert_allclose(flight.inputs.moment[:, 0], np.tile((mixing @ made)[1:], (3, 1)), rtol=1e-12)
    np.testing.assert_allclose(flight.inputs.commanded_thrust[:, 0], (mixing @ each[0])[0], rtol=1e-12)
    assert flight.inputs.saturated[0, 0] == 0.25


def test_body_rates_are_reached() -> None:
    session = skyrig.Session(skyrig.load("one-dragonfly-circle").with_overrides({"duration": 0.4}))
    session.step(thrust=[3.6], rates=[[0.0, 0.0, 0.5]], ticks=40)
    np.testing.assert_allclose(session.sense().vehicles.rate[0], [0.0, 0.0, 0.5], atol=0.02)


def test_what_cannot_be_is_said_in_a_sentence(steered) -> None:
    session, _ = steered
    with pytest.raises(InputError, match="duration is over after 0.3 s"):
        session.step((np.ones(1), np.zeros((1, 3))))
    with pytest.raises(InputError, match="duration is over after 0.3 s"):
        session.step()
    fresh = skyrig.Session(_scenario(), keep=False)
    with pytest.raises(InputError, match="one of command, rates and rotors"):
        fresh.step((np.ones(1), np.zeros((1, 3))), rotors=np.ones((1, 4)))
    with pytest.raises(InputError, match="thrust goes with rates"):
        fresh.step(thrust=[1.0])
    with pytest.raises(InputError, match="command must hold moment of shape 1x3"):
        fresh.step((np.ones(1), np.zeros(3)))
    with pytest.raises(InputError, match="rotors"):
        fresh.step(rotors=np.ones((1, 3)))
    fresh.step((np.ones(1), np.zeros((1, 3))))
    with pytest.raises(InputError, match="keeps no steps"):
        _ = fresh.flight
    with pytest.raises(InputError, match="pace"):
        skyrig.Session(_scenario(), pace=0.0)


def test_a_flight_that_stops_making_sense_says_when() -> None:
    session = skyrig.Session(_scenario(step=0.01, duration=2.0))
    with pytest.raises(skyrig.FlightDiverged, match="t = "):
        session.step((np.full(1, 8.0), [[0.3, 0.3, 0.0]]), ticks=200)
