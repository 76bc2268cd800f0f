"""Thrust that is missing is found through noise, lag and delay, and told from a mass that is wrong."""

import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from skyrig.control import Noise
from skyrig.control.estimate import Estimate, Filter, Late, lagged
from skyrig.control.gains import Clock
from skyrig.control.thrust_loss import ThrustLoss
from skyrig.rigs.bodies import Bodies

PERIOD, MASS, GRAVITY = 0.01, 0.25, 9.81
WEIGHT = MASS * GRAVITY
ROUGH = Noise.of(0.01, 0.05, np.radians(1), 0.05)
TIMES = np.arange(0, 6, PERIOD)


def hovering(share, noise=ROUGH, believed=1.0, alike=0.0, free=None, seed=0):
    """A vehicle that hangs on nothing and is asked for hover while its rotors give a `share` of it.

    Args:
        share: Of the thrust that is asked for, at every tick.
        noise: Of its measurements.
        believed: Its mass in the controller's eyes, in shares of the truth.
        alike: What all vehicles seem to miss (N).
        free: Whether it hangs on nothing, at every tick; where not, a cable holds it still.
        seed: Of the noise.

    Returns:
        Missing thrust (N), whether it is kept out, and vertical speeds (m/s).
    """
    late = Late.of(Clock(PERIOD, lag=0.02, delay=1))
    sight = Filter.of(noise, PERIOD, 1.0, 3.0)
    it = types.SimpleNamespace(
        mass=jnp.array([believed * MASS]), gravity=jnp.asarray(GRAVITY), late=late, sight=sight
    )

    def body(height, climb):
        place = jnp.zeros((3, 1))
        upright = jnp.array([[1.0], [0.0], [0.0], [0.0]])
        return Bodies(place.at[2].set(height), place.at[2].set(climb), upright, place)

    def tick(carry, now):
        (height, climb, made, waiting), craft, loss = carry
        left, hangs, shake = now
        seen = craft.measured(sight, late, body(height + shake[0], climb + shake[1]))
        speed = seen.bodies.velocity[2]
        loss = loss.seen(it, speed, jnp.array([1.0]) * hangs > 0, jnp.asarray(alike))
        asked = it.mass * GRAVITY + loss.missing - 2 * MASS * speed
        gain = (asked - loss.missing) / it.mass - GRAVITY
        pushed = jnp.zeros((3, 1)).at[2].set(gain)
        mean, made = lagged(made, waiting, late)
        rise = hangs * (left * mean / MASS - GRAVITY)
        state = (height + PERIOD * climb, hangs * (climb + PERIOD * rise), made, asked)
        carry = (state, seen.commanded(pushed, 0 * pushed), loss.commanded(asked))
        return carry, (loss.missing[0], loss.out[0], climb[0])

    zero = jnp.zeros(1)
    weight = zero + believed * WEIGHT
    begin = (
        (zero, zero, weight, weight),
        Estimate.start(body(zero, zero), 1),
        ThrustLoss.none(weight, late),
    )
    shakes = np.random.default_rng(seed).standard_normal((len(TIMES), 2, 1))
    shakes = shakes * np.array([float(noise.position), float(noise.velocity)])[:, None]
    hangs = np.ones(len(TIMES)) if free is None else np.asarray(free, float)
    rows = (jnp.asarray(np.broadcast_to(share, TIMES.shape)), jnp.asarray(hangs), jnp.asarray(shakes))
    return tuple(np.asarray(each) for each in jax.lax.scan(tick, begin, rows)[1])


@pytest.mark.parametrize("seed", [0, 1])
def test_noise_alone_makes_no_thrust_missing(seed):
    missing, out, climb = hovering(1.0, seed=seed)
    assert not out.any()
    assert abs(missing[100:].mean()) < 0.02 * WEIGHT, "no offset: it would sink, or rise"
    assert np.abs(climb).max() < 0.2


@pytest.mark.parametrize("noise", [ROUGH, Noise.of()])
def test_lost_thrust_is_found_soon_and_so_is_its_return(noise):
    share = np.where((TIMES > 2) & (TIMES < 4), 0.65, 1.0)
    missing, out, climb = hovering(share, noise)
    # hover takes 1/0.65 of the weight then
    lost = missing[(TIMES > 3) & (TIMES < 4)].mean()
    assert lost == pytest.approx((1 / 0.65 - 1) * WEIGHT, rel=0.05)
    assert not out[TIMES < 2].any() and not out[TIMES > 4.5].any()
    assert out[(TIMES > 2.2) & (TIMES < 4)].all()
    assert np.abs(climb[(TIMES > 3) & (TIMES < 4)]).max() < 0.25, "it no longer falls"


@pytest.mark.parametrize("believed", [0.9, 1.1])
def test_what_all_miss_alike_is_a_wrong_mass(believed):
    wrong = (1 - believed) * WEIGHT
    missing, out, _ = hovering(1.0, believed=believed, alike=wrong)
    assert missing[200:].mean() == pytest.approx(wrong, rel=0.15)
    assert not out.any()


def test_one_that_hangs_on_its_cable_again_is_soon_believed():
    """A vehicle that misses thrust cannot pull: what was known of it fades while it does."""
    missing, out, _ = hovering(np.where(TIMES < 2, 0.65, 1.0), free=TIMES < 2)
    assert out[(TIMES > 0.5) & (TIMES < 2)].all()
    assert not out[TIMES > 2.6].any() and abs(missing[-1]) < 0.01 * WEIGHT
