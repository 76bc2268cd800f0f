"""Thousands of random flights with slack, taut, cut and hooked cables: nothing breaks, nothing is made up."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rigging import audited, flat, random_inputs, random_rig, random_state

from skyrig.rigs.slung.motion import motion
from skyrig.sim.batch import pick, spread, stack
from skyrig.sim.log import OK, Log
from skyrig.sim.plant import Plant, PlantState
from skyrig.sim.stepping import step

STEPS, PART, DT = 150, 30, 2e-3


# hundreds of flights at once: here quick machine code pays
@partial(jax.jit, compiler_options={"xla_backend_optimization_level": 3})
def fly(rig, state, inputs, impulse, point, cut):
    """Three tenths of a second in five parts: a poke in front of the second, a cut in front of the fourth."""

    def one(carry, index):
        state, log, worst = carry
        part = index // PART
        poked = rig.poke(state, "payload", impulse[:, None], point[:, None])
        state = jax.tree.map(lambda a, b: jnp.where(index == PART, a, b), poked, state)
        severed = rig.switch(state, "cut", cut)
        state = jax.tree.map(lambda a, b: jnp.where(index == 3 * PART, a, b), severed, state)
        held, elements = jax.tree.map(lambda leaf: leaf[part], inputs)
        plant = Plant(rig, elements)
        begun = plant.start(state)
        after, log = step(plant, 0.0, begun, held, DT, log, index)
        state = after.rig
        _, tension, span, _ = motion(rig, state, plant.loads(0.0, after, held))
        over = jnp.where(state.cut, -1.0, span.distance - state.length).max(0)
        worst = jnp.maximum(worst, jnp.stack([over, -tension.min(0)]))
        return (state, log, worst), None

    begin = PlantState(state, None, {})
    start = (state, Log.empty(Plant(rig), begin, 800), jnp.full((2, *rig.like(state).shape), -jnp.inf))
    return jax.lax.scan(one, start, jnp.arange(STEPS))[0]


def flights(seed, n, count, **kinds):
    rng = np.random.default_rng(seed)
    rigs = [audited(random_rig(rng, n, **kinds)) for _ in range(count)]
    states = [random_state(rng, rig) for rig in rigs]
    inputs = [stack([random_inputs(rng, rig) for _ in range(5)]) for rig in rigs]
    inputs = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, -2, 0), stack(inputs))
    impulse = rng.normal(size=(3, count)) * [float(rig.payload_mass) for rig in rigs]
    point = rng.uniform(-0.2, 0.2, (3, count))
    cut = rng.uniform(size=(n, count)) < 0.2
    return stack(rigs), stack(states), inputs, jnp.asarray(impulse), jnp.asarray(point), jnp.asarray(cut)


@pytest.mark.slow
@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("kind", ["plain", "hooks", "bouncy"])
def test_random_hybrid_flights(n, kind):
    # 6 team sizes x 3 kinds x 112 = 2,016 flights
    kinds = {"plain": {}, "hooks": {"hooks": True}, "bouncy": {"restitution": 0.4, "point": n == 1}}[kind]
    arguments = flights(100 * n + len(kind), n, 112, **kinds)
    state, log, worst = fly(*arguments)
    assert np.all(np.isfinite(flat(state)))
    np.testing.assert_array_equal(np.asarray(log.trouble), OK)
    assert np.max(worst[0]) <= 1e-9, "a cable was stretched"
    assert np.max(worst[1]) <= 1e-9, "a cable pushed"
    assert int(log.reset.events["impact"].who.sum()) > 50 * n, "impacts happened"
    assert int(log.reset.events["slack"].who.sum()) > 10 * n, "releases happened"


def apart(state, other, before):
    """How far two ends of one step differ, each kind of quantity against its size before or after the step.

    A batch is compiled to other instructions than a flight alone, so the two round differently, in whatever
    way the processor at hand has. Rounding is in proportion to a quantity's size: 1e-12 m for places of a
    metre, 1e-11 rad/s for rates of ten, so no fixed number of rad/s would mean the same on every machine.
    """

    def bodies(state, kind):
        return np.concatenate([np.ravel(getattr(body, kind)) for body in (state.payload, state.vehicles)])

    worst = 0.0
    for kind in ("position", "velocity", "attitude", "rate"):
        one, two, start = (bodies(it, kind) for it in (state, other, before))
        size = max(1.0, np.abs(two).max(), np.abs(start).max())
        worst = max(worst, float(np.abs(one - two).max()) / size)
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_a_batch_equals_its_flights(n):
    # 2,000 random states, one step each: native batch, vmap and a loop
    count = 500
    rng = np.random.default_rng(n)
    rigs = [random_rig(rng, n, hooks=n % 2 == 0) for _ in range(count)]
    states = [random_state(rng, rig) for rig in rigs]
    inputs = [random_inputs(rng, rig) for rig in rigs]

    def one(rig, state, inputs):
        held, elements = inputs
        plant = Plant(rig, elements)
        begin = plant.start(state)
        end, log = step(plant, 0.0, begin, held, 0.01, Log.empty(plant, begin, 16), jnp.asarray(0))
        return end.rig, log

    together = eqx.filter_jit(one)(stack(rigs), stack(states), stack(inputs))
    mapped = jax.jit(jax.vmap(one, in_axes=-1, out_axes=-1))(stack(rigs), stack(states), stack(inputs))
    together, mapped = jax.device_get((together, mapped))
    alone = eqx.filter_jit(one)
    for k in range(count):
        lonely = alone(rigs[k], states[k], inputs[k])
        for whole in (together, mapped):
            assert apart(pick(whole[0], k), lonely[0], states[k]) < 1e-12
            np.testing.assert_array_equal(pick(whole[1], k).count, lonely[1].count)
            np.testing.assert_array_equal(pick(whole[0], k).mode.taut, lonely[0].taut)
    with jax.disable_jit():
        eager = jax.device_get(one(stack(rigs[:20]), stack(states[:20]), stack(inputs[:20])))
    for k in range(20):  # of each size: 80 in all
        assert apart(pick(eager[0], k), pick(together[0], k), states[k]) < 1e-12


def test_the_same_flight_gives_the_same_bits():
    arguments = flights(7, 3, 8)
    first, second = fly(*arguments), fly(*arguments)
    np.testing.assert_array_equal(flat(first[0]), flat(second[0]))


def test_spread_repeats():
    rng = np.random.default_rng(0)
    rig = random_rig(rng, 2)
    many = spread(rig, 3)
    np.testing.assert_array_equal(many.mass[:, 2], rig.mass)
