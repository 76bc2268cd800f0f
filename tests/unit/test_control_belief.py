"""What a controller makes of noise: estimates worth more than measurements, beliefs it cannot fake."""

import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from skyrig.control import Noise
from skyrig.control.cable_belief import CUT, SLACK, TAUT, CableBelief, Margins
from skyrig.control.cable_geometry import Spans
from skyrig.control.estimate import Estimate, Filter, Late, steady_gains
from skyrig.control.gains import Clock
from skyrig.rigs.bodies import Bodies

PERIOD = 0.01
ROUGH = Noise.of(0.01, 0.05, np.radians(1), 0.05)


def believing(distances, told=1.0, noise=ROUGH, reeled=None, rates=None):
    """What is believed of one cable whose ends are so far apart (m) at every tick."""
    sight = Filter.of(noise, PERIOD, 1.0, 3.0)
    attachment = np.array([[0.3], [0.0], [0.0]])
    late = Late.of(Clock(PERIOD))
    it = types.SimpleNamespace(late=late, margins=Margins.of(0.01, 0.02, sight, sight, attachment, noise))
    lengths = np.full(len(distances), told) if reeled is None else told + reeled
    rates = np.gradient(distances, PERIOD) if rates is None else rates

    def tick(belief, now):
        distance, rate, measured = now
        still = jnp.zeros((3, 1))
        span = Spans(still, distance[None], rate[None], still)
        belief = belief.seen(it, span, measured[None])
        return belief, (belief.state[0], belief.length[0])

    begin = CableBelief.start(jnp.array([told]), jnp.asarray(lengths[:1]))
    rows = tuple(map(jnp.asarray, (distances, rates, lengths)))
    states, learnt = jax.lax.scan(tick, begin, rows)[1]
    return np.asarray(states), np.asarray(learnt), it.margins


def wandering(count, deviation, seed=0):
    """Noise as an estimate leaves it: a few ticks long."""
    white = np.random.default_rng(seed).standard_normal(count + 20)
    smooth = np.convolve(white, np.ones(10), "valid")[:count]
    return deviation * smooth / smooth.std()


@pytest.mark.parametrize("wrong", [0.95, 1.0, 1.05])
def test_neither_noise_nor_a_wrong_length_makes_a_cable_slack_or_cut(wrong):
    sight = Filter.of(ROUGH, PERIOD, 1.0, 3.0)
    deviation = float(np.hypot(sight.position, sight.position))
    states, learnt, _ = believing(1.0 + wandering(6000, deviation), told=wrong)
    assert set(states) == {TAUT}
    assert np.abs(learnt[100:] - 1.0).max() < 3 * deviation


def test_first_measurements_are_trusted_no_more_than_they_deserve():
    noise = Noise.of(0.0137)  # speeds are exact, so that the estimate ends far better than it begins
    white = np.random.default_rng(3).standard_normal((2, 400)) * 0.0137
    means = np.cumsum(white[0] - white[1]) / np.arange(1, 401)
    states, _, margins = believing(1.0 + means, noise=noise, rates=np.zeros(400))
    assert set(states) == {TAUT}
    assert margins.slack[0] < 0.02 < margins.after(jnp.zeros(1)).slack[0]


def test_a_cable_whose_ends_meet_is_slack_and_taut_again_when_they_part():
    times = np.arange(0, 3, PERIOD)
    gap = 0.1 * np.clip(np.minimum(times - 1, 2 - times) / 0.2, 0, 1)
    states, _, margins = believing(1.0 - gap)
    deep = gap > float(margins.slack[0]) + 1e-9
    np.testing.assert_array_equal(states, np.where(deep, SLACK, TAUT))


def test_a_cable_that_goes_on_growing_is_cut_for_good():
    times = np.arange(0, 2, PERIOD)
    after = np.maximum(times - 1, 0)
    states, _, _ = believing(1.0 + 5 / 2 * np.minimum(after, 0.3) ** 2 - np.maximum(after - 0.3, 0) * 0.3)
    when = times[np.argmax(states == CUT)] - 1
    assert 0 < when < 0.2, "its ends part at 5 m/s^2"
    assert (states[times > 1 + when] == CUT).all(), "even when its vehicle comes back"


def test_a_load_that_falls_on_a_cable_longer_than_believed_does_not_cut_it():
    """A drop: told 0.95 m, it is 1 m, and the load falls from 0.7 m until the cable is taut."""
    times = np.arange(0, 2, PERIOD)
    states, learnt, _ = believing(np.minimum(0.7 + 9.81 / 2 * times**2, 1.0), told=0.95)
    assert CUT not in states
    assert states[0] == SLACK and states[-1] == TAUT
    assert learnt[-1] == pytest.approx(1.0, abs=0.01)


def test_reeling_is_no_slack():
    times = np.arange(0, 2, PERIOD)
    reeled = -0.25 * times
    states, learnt, _ = believing(1.0 + reeled, reeled=reeled, told=1.0)
    assert set(states) == {TAUT}
    np.testing.assert_allclose(learnt, 1.0 + reeled, atol=1e-6)


def test_gains_are_one_without_noise_and_less_with_more():
    np.testing.assert_array_equal(steady_gains(np.array([0, 0, PERIOD, 1.0]))[0], np.eye(2))
    small, large = (
        steady_gains(np.array([0.01 * it, 0.05 * it, PERIOD, 1.0]))[0].diagonal() for it in (1, 4)
    )
    assert np.all(large < small) and np.all(small < 1)


@pytest.mark.parametrize(
    "value, rate, push", [(0.01, 0.05, 1.0), (1e-3, 0.2, 3.0), (1e-6, 0.1, 500.0), (1e-3, 2e-5, 300.0)]
)
def test_gains_are_those_of_the_steady_filter(value, rate, push):
    gain, deviations = steady_gains(np.array([value, rate, PERIOD, push]))
    assert (gain >= 0).all() and (gain.diagonal() <= 1).all()
    assert (deviations <= [value, rate]).all(), "a measurement never makes less known"
    step, blur = np.array([[1.0, PERIOD], [0.0, 1.0]]), np.diag([value, rate]) ** 2
    kick = push * np.array([PERIOD**2 / 2, PERIOD])
    if push < 100:  # else the equation loses its digits
        ahead = scipy.linalg.solve_discrete_are(step.T, np.eye(2), np.outer(kick, kick), blur)
        np.testing.assert_allclose(gain, ahead @ np.linalg.inv(ahead + blur), rtol=1e-6)


def falling(count):
    """A body that falls and spins up, tick by tick."""
    for k in range(count):
        t = k * PERIOD
        position = jnp.array([0.0, 0.0, -9.81 / 2 * t * t])
        angle = t * t / 2
        attitude = jnp.array([jnp.cos(angle / 2), jnp.sin(angle / 2), 0.0, 0.0])
        yield Bodies(position, jnp.array([0.0, 0.0, -9.81 * t]), attitude, jnp.array([t, 0.0, 0.0]))


@pytest.mark.parametrize("noise", [Noise.of(), ROUGH])
def test_an_estimate_is_the_measurement_without_noise_and_better_than_it_with(noise):
    late, sight = Late.of(Clock(PERIOD)), Filter.of(noise, PERIOD, 1.0, 3.0)
    random = np.random.default_rng(1)
    push, spin = jnp.array([0.0, 0.0, -9.81]), jnp.array([1.0, 0.0, 0.0])
    known, errors = None, []
    for body in falling(100):
        blur = [float(it) * random.standard_normal(3) for it in (noise.position, noise.velocity, noise.rate)]
        seen = Bodies(body.position + blur[0], body.velocity + blur[1], body.attitude, body.rate + blur[2])
        known = Estimate.start(seen, 0) if known is None else known
        known = known.measured(sight, late, seen).commanded(push, spin)
        errors.append(
            [
                [np.abs(each.position - body.position).mean(), np.abs(each.rate - body.rate).mean()]
                for each in (known.bodies, seen)
            ]
        )
        if float(noise.position) == 0:
            jax.tree.map(np.testing.assert_array_equal, known.bodies, seen)
    if float(noise.position) > 0:
        estimated, measured = np.mean(errors[40:], axis=0)
        assert np.all(estimated < np.array([0.5, 0.7]) * measured)


def test_what_is_due_after_delay_and_lag_is_where_commands_take_hold():
    """Told one angular acceleration after another, two periods late and through a lag, a body turns so."""
    lag, delay = 0.03, 2
    late = Late.of(Clock(PERIOD, lag, delay))
    sight = Filter.of(Noise.of(), PERIOD, 1.0, 3.0)
    told = [4.0, -2.0, 6.0, 1.0, -3.0, 0.0]
    angle = rate = spin = 0.0
    still = jnp.zeros(3)

    def body():
        turned = jnp.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])
        return Bodies(still, still, turned, jnp.array([0.0, 0.0, rate]))

    known, expected = Estimate.start(body(), delay), []
    fine = 2000
    for k, command in enumerate([*told, 0.0, 0.0, 0.0]):
        known = known.measured(sight, late, body())
        ahead = known.due(late)
        expected.append((k, float(ahead.rate[2])))
        known = known.commanded(still, jnp.array([0.0, 0.0, command]))
        acting = told[k - delay] if 0 <= k - delay < len(told) else 0.0
        for _ in range(fine):
            h = PERIOD / fine
            spin += h * (acting - spin) / lag
            rate += h * spin
            angle += h * rate
    # with lag T, rate + T spin grows by the commands alone: at tick k those up to k are in effect when due
    for k, found in expected:
        assert found == pytest.approx(PERIOD * sum(told[:k]), abs=2e-4)
