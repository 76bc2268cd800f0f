"""The closed loop: clocks, noise, happenings, own controllers, chunks, bad answers."""

import logging

import jax.numpy as jnp
import numpy as np
import pytest

from skyrig import InputError, airframe, closed_loop, fly, load, payload, trim
from skyrig.control import Command, Controller, Function, build
from skyrig.control.interface import Measurement
from skyrig.errors import FlightDiverged
from skyrig.planning import circle, hover
from skyrig.rigs import Cable, Slung
from skyrig.runs.flying import make_controller
from skyrig.sim import Cut, Noise, Outside, Poke, rollout
from skyrig.sim.pilot import blurred, measure

AT = np.array([0.0, 0.0, 1.5])


@pytest.fixture(scope="module")
def single():
    frames = [airframe("dragonfly")]
    rig = Slung.build(frames, payload("point-mass"), [Cable(0.5, (0.0, 0.0, 0.0))])
    return rig, frames, trim(rig, AT), build("cables", rig, frames)


def flown(single, controller=None, reference=None, **options):
    rig, frames, still, own = single
    options = {"duration": 0.5, **options}
    return closed_loop(rig, still.state, controller or own, frames, reference or hover(start=AT), **options)


class Hovering:
    """A stepped controller that holds hover, and counts how often it is asked."""

    def __init__(self, still):
        self.still, self.asked = still, []

    def __call__(self, t, target, seen):
        self.asked.append((t, target, seen))
        return self.still.thrust, self.still.moment


def test_hover_is_held_to_the_last_digits(single):
    flight = flown(single)
    assert np.abs(flight.payload.position - AT).max() < 1e-9
    assert len(flight.times) == 251 and flight.times[-1] == 0.5
    np.testing.assert_allclose(flight.ticks, np.arange(50) / 100, atol=1e-12)
    assert flight.saturated.max() == 0 and [event.kind for event in flight.events] == ["taut"]


def test_commands_are_held_between_ticks_whatever_the_step(single):
    for rate, step in ((50.0, 0.002), (100.0, 0.003), (37.0, 0.004)):
        flight = flown(
            single, reference=circle(radius=0.5, period=4.0, start=AT), control_rate=rate, step=step
        )
        period = 1 / rate
        np.testing.assert_allclose(flight.ticks, np.arange(len(flight.ticks)) * period, atol=1e-12)
        assert np.diff(flight.times).max() <= step * (1 + 1e-9)
        # the same commands, held as long, give the same flight in the open loop
        rig, _, still, _ = single
        again = rollout(
            rig, still.state, np.append(flight.ticks, 0.5), flight.thrust, flight.moment, step=step
        )
        np.testing.assert_array_equal(again.times, flight.times)
        np.testing.assert_allclose(again.payload.position, flight.payload.position, atol=1e-13, rtol=0)


def test_the_same_seed_gives_the_same_bits_and_another_does_not(single):
    noise = Noise.of(1e-3, 1e-3, 1e-3, 1e-3)
    one, same, other = (flown(single, noise=noise, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(one.payload.position, same.payload.position)
    assert not np.array_equal(one.payload.position, other.payload.position)


def test_noise_is_what_it_says_and_truth_is_recorded_apart(single):
    std = (2e-3, 3e-3, 4e-3, 5e-3)
    flight = flown(single, noise=Noise.of(*std), duration=20.0)
    rows = np.searchsorted(flight.times, flight.ticks + 1e-9, side="right") - 1
    true, told = flight.vehicles, flight.measured_vehicles
    for name, size in zip(("position", "velocity", "rate"), (std[0], std[1], std[3]), strict=True):
        off = np.asarray(getattr(told, name)) - np.asarray(getattr(true, name))[rows]
        assert abs(off.mean()) < 5 * size / np.sqrt(off.size)
        assert off.std() == pytest.approx(size, rel=0.05)
    q, p = np.asarray(true.attitude)[rows, 0], np.asarray(told.attitude)[:, 0]
    np.testing.assert_allclose(np.linalg.norm(p, axis=1), 1, atol=1e-12)
    angle = 2 * np.arccos(np.clip(np.abs((p * q).sum(1)), 0, 1))
    assert np.sqrt((angle**2).mean() / 3) == pytest.approx(std[2], rel=0.05)


def test_noise_turns_on_the_manifold(single):
    """q times exp(sigma / 2), in the body frame: RotorTM's eq. 76."""
    from scipy.spatial.transform import Rotation

    rig, _, still, _ = single
    seen = measure(rig, still.state)
    shake = jnp.zeros((4, 3, 2)).at[2, :, 1].set(jnp.array([0.3, -0.2, 0.5]))
    told = blurred(seen, Noise.of(attitude=2.0), shake)
    level = Rotation.from_quat(np.asarray(seen.vehicles.attitude[:, 0]), scalar_first=True)
    turn = level * Rotation.from_rotvec([0.6, -0.4, 1.0])
    expected = turn.as_quat(scalar_first=True)
    np.testing.assert_allclose(
        told.vehicles.attitude[:, 0] * np.sign(told.vehicles.attitude[0, 0]),
        expected * np.sign(expected[0]),
        atol=1e-12,
    )


def test_what_happens_outside_sets_in_on_time(single):
    rig, frames, still, _ = single
    hold = Hovering(still)
    outside = Outside(
        times=np.array([0.0, 0.123, 0.2]),
        forces={"payload": np.array([[0, 0, 0], [0.1, 0, 0], [0, 0, 0.0]])[:, None]},
        thrust_share=np.array([[1.0], [1.0], [0.5]]),
    )
    flight = closed_loop(rig, still.state, hold, frames, hover(start=AT), duration=0.3, outside=outside)
    before = flight.times <= 0.123 + 1e-12
    assert np.abs(flight.payload.position[before] - AT).max() < 1e-12
    masses = float(rig.payload_mass), float(rig.mass[0])
    momentum = masses[0] * flight.payload.velocity + masses[1] * flight.vehicles.velocity[:, 0]
    k = np.searchsorted(flight.times, 0.2)
    assert momentum[k, 0] == pytest.approx(0.1 * 0.077, rel=1e-4)  # the thrust tilts a little with the pull
    assert flight.thrust[-1, 0] == pytest.approx(0.5 * flight.commanded_thrust[-1, 0])
    assert flight.ticks[np.searchsorted(flight.ticks, 0.1229)] == pytest.approx(0.123)
    assert len(hold.asked) == 30, "the controller acts at its own ticks only"


def test_pokes_and_cuts_happen_at_their_times(single):
    rig, frames, still, own = single
    events = closed_loop(
        rig, still.state, own, frames, hover(start=AT), duration=0.4,
        happenings=[Poke(0.1003, np.array([0.0, 0.0, 0.02])), Cut(0.3, 0)],
    ).events  # fmt: skip
    kinds = [(event.kind, event.time) for event in events]
    assert kinds[:3] == [("taut", 0.0), ("poke", 0.1003), ("slack", pytest.approx(0.1003))]
    assert kinds[-1] == ("cut", 0.3)


def test_any_length_runs_the_same_compiled_code(single, caplog):
    flown(single, duration=0.2)
    rig, frames, still, _ = single
    with caplog.at_level(logging.WARNING, logger="jax"):
        import jax

        with jax.log_compiles():
            flown(single, duration=7.3, control_rate=90.0, step=0.0015, seed=9)
            gains = build("cables", rig, frames, gains={"position": 1.7})
            flown(single, gains, circle(radius=0.3, period=9.0, start=AT), duration=3.0)
    compiled = [record.message for record in caplog.records if "Finished XLA compilation" in record.message]
    assert not [line for line in compiled if "_fly" in line], compiled


def test_a_python_controller_sees_what_a_compiled_one_sees(single):
    rig, _, still, own = single
    hold = Hovering(still)
    noise = Noise.of(1e-3, 1e-3, 1e-3, 1e-3)
    reference = circle(radius=0.5, period=4.0, start=AT)
    stepped = flown(single, hold, reference, noise=noise, seed=5, duration=0.1)
    t, target, seen = hold.asked[3]
    assert t == 0.03 and len(hold.asked) == 10
    np.testing.assert_array_equal(target.payload.position, reference.sample(np.array([0.03])).position[0])
    np.testing.assert_array_equal(seen.vehicles.position, stepped.measured_vehicles.position[3])
    assert seen.vehicles.attitude.shape == (1, 4) and seen.payload.position.shape == (3,)

    class Compiled(Controller):
        def __call__(self, memory, t, target, measurement):
            return memory, Command(jnp.asarray(still.thrust), jnp.asarray(still.moment).T)

    whole = flown(single, Compiled(), reference, noise=noise, seed=5, duration=0.1)
    np.testing.assert_allclose(whole.payload.position, stepped.payload.position, atol=1e-13, rtol=0)
    assert isinstance(measure(rig, still.state), Measurement)


def test_a_function_keeps_its_memory(single):
    def counting(memory, t, target, seen):
        return memory + 1, Command(0 * seen.length + 3.0, 0 * seen.vehicles.rate)

    assert flown(single, Function(counting, jnp.zeros(()))).memory == 50


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda t, target, seen: None, "must return thrust and moment"),
        (lambda t, target, seen: ([1.0, 2.0], np.zeros((1, 3))), "thrust of shape 1, not 2"),
        (lambda t, target, seen: (["much"], np.zeros((1, 3))), "numbers as thrust"),
        (lambda t, target, seen: ([np.nan], np.zeros((1, 3))), "thrust that is not finite at t = 0 s"),
    ],
)
def test_bad_answers_are_told_in_a_sentence(single, answer, words):
    with pytest.raises(InputError, match=words):
        flown(single, answer)


def test_a_flight_that_diverges_says_when_and_which_body(single):
    def mad(memory, t, target, seen):
        return memory, Command(0 * seen.length + jnp.where(t > 0.05, jnp.nan, 2.9), 0 * seen.vehicles.rate)

    with pytest.raises(FlightDiverged, match=r"turned non-finite at t = 0\.06"):
        flown(single, Function(mad))


@pytest.mark.slow
def test_more_events_than_a_chunk_has_room_for_are_all_found(single, monkeypatch):
    from skyrig.sim import chunked, stepper

    pokes = [Poke(0.02 * k + 0.01, np.array([0.0, 0.0, 0.004])) for k in range(12)]
    whole = flown(single, happenings=pokes)
    monkeypatch.setattr(chunked, "ROOM", 4)
    halves = flown(single, happenings=pokes)
    assert len(whole.events) > 20
    assert [(e.kind, e.time) for e in halves.events] == [(e.kind, e.time) for e in whole.events]
    np.testing.assert_array_equal(halves.payload.position, whole.payload.position)

    def held(t, target, seen):
        return np.full(1, 3.3), np.zeros((1, 3))

    stepped = flown(single, held, happenings=pokes)
    monkeypatch.setattr(stepper, "ROOM", 1)
    tight = flown(single, held, happenings=pokes)
    assert len(stepped.events) > 20
    assert [(e.kind, e.time) for e in tight.events] == [(e.kind, e.time) for e in stepped.events]
    np.testing.assert_allclose(tight.payload.position, stepped.payload.position, atol=1e-12)


def test_a_wrong_mass_told_is_flown_with():
    base = load("one-dragonfly-circle").with_overrides(
        {"duration": 3.0, "reference": {"type": "hover", "start": [0, 0, 1.5]}}
    )
    right, wrong = fly(base), fly(base.with_overrides({"controller.model": {"payload": {"mass": 0.04}}}))
    assert right.metrics["tracking"]["whole"]["position_peak"] < 1e-9
    assert wrong.metrics["tracking"]["whole"]["position_peak"] > 1e-3
    assert wrong.rig.payload_mass == right.rig.payload_mass == 0.07
    share = fly(base.with_overrides({"controller.factors": {"payload_mass": 0.04 / 0.07}}))
    np.testing.assert_allclose(share.payload.position, wrong.payload.position, atol=1e-12)
    assert share.rig.payload_mass == 0.07


def test_factors_scale_what_the_controller_believes_and_nothing_else():
    factors = {
        "vehicle_mass": 1.1,
        "vehicle_inertia": [1.05, 0.95, 1.0],
        "payload_mass": 0.9,
        "payload_inertia": 1.05,
        "cable_length": [1.0, 1.05, 0.95],
    }
    known = load("three-dragonflies-circle")
    right, wrong = known.build(), known.with_overrides({"controller.factors": factors}).build()
    believed, truth = make_controller(wrong), make_controller(right)
    for name in ("mass", "inertia", "payload_mass", "payload_inertia", "length"):
        np.testing.assert_array_equal(getattr(wrong.rig, name), getattr(right.rig, name))
    np.testing.assert_allclose(believed.mass, 1.1 * truth.mass)
    np.testing.assert_allclose(believed.inertia, np.array([1.05, 0.95, 1.0]) * truth.inertia)
    np.testing.assert_allclose(believed.payload_mass, 0.9 * truth.payload_mass)
    np.testing.assert_allclose(believed.payload_inertia, 1.05 * truth.payload_inertia)
    np.testing.assert_allclose(believed.length, np.array([1.0, 1.05, 0.95]) * truth.length)


@pytest.mark.parametrize("delay", [1, 3])
def test_a_delayed_command_takes_effect_whole_periods_later(single, delay):
    """What was answered first is taken to have been given before the start."""
    hover_thrust = single[2].thrust

    def rising(t, target, seen):
        return (1 + 0.1 * t) * hover_thrust, single[2].moment

    flight = flown(single, controller=rising, delay=delay)
    since = np.maximum(flight.ticks - 0.01 * delay, 0.0)
    np.testing.assert_allclose(flight.commanded_thrust[:, 0], (1 + 0.1 * since) * hover_thrust[0])
