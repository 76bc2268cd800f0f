"""Order of accuracy, energy and momenta over long flights."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rigging import box, flat, made_taut, momentum, triangle

from skyrig import Cable, Linked, Slung, airframe, payload, trim
from skyrig.algebra import dot, upward_axis
from skyrig.rigs.slung.motion import spans
from skyrig.sim.batch import advance
from skyrig.sim.log import Log
from skyrig.sim.plant import Effort, Plant
from skyrig.sim.stepping import step


def swinging(rig, push=0.6):
    """Start of a smooth taut swing: trim, with everything moving sideways and the payload turning."""
    hover = trim(rig, [0, 0, 30.0])
    state = hover.state
    speed = push * np.array([1.0, 0.5, 0.0])
    if isinstance(rig, Linked):
        state = rig.state([0, 0, 30.0], payload_velocity=speed, payload_rate=[0.8, -0.6, 1.0])
    else:
        kick = np.zeros((3, rig.count))
        kick[:2] = 0.5 * push * np.random.default_rng(1).normal(size=(2, rig.count))
        state = eqx.tree_at(lambda s: s.payload.velocity, state, jnp.asarray(speed))
        state = eqx.tree_at(lambda s: s.vehicles.velocity, state, jnp.asarray(kick))
        spin = push * np.random.default_rng(2).normal(size=(3, rig.count))
        state = eqx.tree_at(lambda s: s.vehicles.rate, state, jnp.asarray(spin))
        if rig.count > 1:
            state = eqx.tree_at(lambda s: s.payload.rate, state, push * jnp.array([0.3, -0.2, 1.5]))
        state = made_taut(rig, state)
    return state, Effort(jnp.asarray(hover.thrust) * 1.1, jnp.asarray(hover.moment.T))


def rigs():
    load = payload("triangle")
    single = Slung.build([airframe("dragonfly")], payload("point-mass"), [Cable(0.5, hook=(0.01, 0, -0.02))])
    linked = Linked.build(
        [airframe("dragonfly")] * 3, load, load.attachment_points("rigid", 3), [0, 0.4, -1.0]
    )
    return {"single": single, "three": triangle(), "six": box(6), "linked": linked}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["single", "three", "six", "linked"])
def test_fourth_order(name):
    rig = rigs()[name]
    state, inputs = swinging(rig, 0.15 if name == "six" else 0.6)
    ends = {}
    # within the asymptotic range and above rounding: two halvings of one second for every rig
    halvings, finest = ((200, 400, 800) if name == "six" else (100, 200, 400)), 6400
    for steps in (*halvings, finest):
        ends[steps], log = advance(rig, state, inputs, jnp.asarray(1.0 / steps), jnp.asarray(steps))
        assert int(log.count) == 0, "a smooth flight"
    errors = [np.abs(flat(ends[steps]) - flat(ends[finest])).max() for steps in halvings]
    ratios = [coarse / fine for coarse, fine in itertools.pairwise(errors)]
    assert all(15 < ratio < 17 for ratio in ratios), errors


@eqx.filter_jit
def swing(rig, state, inputs, steps, dt):
    """A long swing with the work of the thrusts summed by Simpson's rule, and worst lengths on the way."""

    plant = Plant(rig)

    def power(s):
        return (inputs.thrust * dot(upward_axis(s.vehicles.attitude), s.vehicles.velocity)).sum(0)

    def one(index, carry):
        state, log, work, peak, stretch = carry
        begin = plant.start(state)
        half = step(plant, 0.0, begin, inputs, dt / 2, Log.empty(plant, begin, 4), index)[0].rig
        after, log = step(plant, 0.0, begin, inputs, dt, log, index)
        after = after.rig
        work = work + dt / 6 * (power(state) + 4 * power(half) + power(after))
        kinetic = momentum(rig, after)[2]
        off = jnp.abs(spans(rig, after).distance - after.length).max()
        return after, log, work, jnp.maximum(peak, kinetic), jnp.maximum(stretch, off)

    start = (
        state,
        Log.empty(plant, plant.start(state), 4),
        jnp.asarray(0.0),
        jnp.asarray(0.0),
        jnp.asarray(0.0),
    )
    return jax.lax.fori_loop(0, steps, one, start)


def potential(rig, state):
    height = rig.payload_mass * state.payload.position[2] + (rig.mass * state.vehicles.position[2]).sum()
    return rig.gravity * height


@pytest.mark.slow
def test_energy_balance_of_a_minute_of_swinging():
    rig = triangle()
    hover = trim(rig, [0, 0, 30.0])
    state = eqx.tree_at(lambda s: s.payload.velocity, hover.state, jnp.array([0.5, 0.3, 0.0]))
    state = eqx.tree_at(lambda s: s.payload.rate, state, jnp.array([0.0, 0.0, 0.7]))
    inputs = Effort(jnp.asarray(hover.thrust), jnp.zeros((3, 3)))
    state = made_taut(rig, state)
    after, log, work, peak, stretch = swing(rig, state, inputs, 30000, 2e-3)
    assert int(log.count) == 0 and bool(after.taut.all())
    before_energy = momentum(rig, state)[2] + potential(rig, state)
    after_energy = momentum(rig, after)[2] + potential(rig, after)
    assert abs(after_energy - before_energy - work) < 1e-7 * peak
    assert stretch < 1e-9


@pytest.mark.slow
def test_momenta_without_gravity():
    rig = triangle(gravity=0.0)
    hover = trim(triangle(), [0, 0, 0.0])
    still = Effort(jnp.zeros(3), jnp.zeros((3, 3)))
    state = eqx.tree_at(lambda s: s.payload.rate, hover.state, jnp.array([0.1, 0.2, 1.5]))
    spin = jnp.array([0.0, 0.0, 1.5])
    # everything turns about the vertical together, so that the cables stay taut by centrifugal force
    place = state.vehicles.position
    whirl = jnp.stack([-spin[2] * place[1], spin[2] * place[0], 0 * place[0]])
    state = eqx.tree_at(lambda s: s.vehicles.velocity, state, whirl)
    state = made_taut(rig, state)
    linear, angular, kinetic = momentum(rig, state)
    after, *_ = swing(rig, state, still, 30000, 2e-3)
    linear_after, angular_after, kinetic_after = momentum(rig, after)
    np.testing.assert_allclose(linear_after, linear, rtol=0, atol=1e-9)
    np.testing.assert_allclose(angular_after, angular, rtol=0, atol=1e-9)
    assert kinetic_after <= kinetic * (1 + 1e-9)
