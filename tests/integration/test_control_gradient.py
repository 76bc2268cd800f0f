"""Derivatives of a flight with respect to what a controller is made of."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from control_loop import PERIOD, SUBSTEPS, linked, slung

from skyrig import trim
from skyrig.control import Actuators, build, row, targets
from skyrig.planning import circle
from skyrig.rigs import Loads
from skyrig.rigs.protocol import moved
from skyrig.sim.pilot import measure

TICKS = 20
REFERENCE = circle(radius=1, period=6, start=(0, 0, 1))
SAMPLE = REFERENCE.sample(8.0 + PERIOD * np.arange(TICKS))


def advanced(rig, state, inputs, dt):
    """One classical Runge-Kutta step without events, which differentiates backwards."""
    k1 = rig.derivative(0.0, state, inputs)
    k2 = rig.derivative(0.0, moved(state, k1, dt / 2), inputs)
    k3 = rig.derivative(0.0, moved(state, k2, dt / 2), inputs)
    k4 = rig.derivative(0.0, moved(state, k3, dt), inputs)
    mean = jax.tree.map(lambda a, b, c, d: (a + 2 * b + 2 * c + d) / 6, k1, k2, k3, k4)
    return moved(state, mean, dt)


def cost(rig, controller, actuators, wanted, start):
    """Mean square distance from the reference over a smooth flight that starts off it."""

    def tick(carry, k):
        state, memory = carry
        memory, command = controller(memory, k * PERIOD, row(wanted, k), measure(rig, state))
        made = actuators(command)
        inputs = Loads(made.thrust, made.moment)
        dt = jnp.asarray(PERIOD / SUBSTEPS)
        state = jax.lax.scan(lambda s, _: (advanced(rig, s, inputs, dt), None), state, length=SUBSTEPS)[0]
        away = rig.bodies(state)["payload"].only().position - wanted.payload.position[k, 0]
        return (state, memory), (away**2).sum()

    memory = controller.start(measure(rig, start))
    return jax.lax.scan(tick, (start, memory), jnp.arange(TICKS))[1].mean()


@pytest.mark.slow
@pytest.mark.parametrize("joint", ["cables", "links"])
def test_gradients_match_differences(joint):
    rig, airframes = slung(3, 1.0) if joint == "cables" else linked()
    controller = build(joint, rig, airframes)
    actuators = Actuators.build(airframes)
    start = trim(rig, SAMPLE.position[0, 0] + [0.05, -0.03, 0.02]).state
    mass = (lambda c: c.payload_mass) if joint == "cables" else (lambda c: c.mass)

    def parts(it):
        return it.gains.position, it.gains.damping, mass(it)

    own, wanted = parts(controller), targets(controller, SAMPLE)

    def of(factors):
        """Cost with the position gains, the damping and the believed mass scaled; and the same beside it."""
        scaled = eqx.tree_at(parts, controller, tuple(f * leaf for f, leaf in zip(factors, own, strict=True)))
        found = cost(rig, scaled, actuators, wanted, start)
        return found, found

    one = jnp.ones(3)
    # both modes work on both; backwards through many vehicles takes long to compile
    differentiate = jax.jacfwd if joint == "cables" else jax.grad
    both = jax.jit(differentiate(of, has_aux=True))  # one program for the slope and the differences
    slope = np.asarray(both(one)[0])
    assert np.isfinite(slope).all() and np.all(slope != 0)
    h = 1e-5
    differences = [float(both(one.at[i].add(h))[1] - both(one.at[i].add(-h))[1]) / (2 * h) for i in range(3)]
    np.testing.assert_allclose(slope, differences, rtol=1e-5)


@pytest.mark.slow
def test_what_is_computed_ahead_differentiates_too():
    rig, airframes = slung(3, 1.0)
    controller = build("cables", rig, airframes)

    def nominal(mass):
        """Vehicles' angular accelerations for a believed payload mass."""
        return eqx.tree_at(lambda c: c.payload_mass, controller, mass).prepare(sample).vehicle_spin

    sample = REFERENCE.sample(np.array([8.0, 9.0]))
    mass, h = controller.payload_mass, 1e-5
    _, slope = jax.jit(lambda m: jax.jvp(nominal, (m,), (1.0,)))(mass)
    np.testing.assert_allclose(slope, (nominal(mass + h) - nominal(mass - h)) / (2 * h), atol=1e-7)


@pytest.mark.slow
def test_gradients_are_finite_even_at_rest():
    """Where errors vanish, norms of them have no direction; nothing may turn NaN."""
    for n, load in ((1, "point-mass"), (3, "triangle")):
        rig, airframes = slung(n, 0.5, load)
        controller = build("cables", rig, airframes)
        seen = measure(rig, trim(rig, [0.0, 0.0, 1.0]).state)
        still = circle(radius=1, period=6, start=(0, 0, 1)).sample(np.zeros(1))
        wanted = row(targets(controller, still), 0)

        def total(controller, seen, wanted=wanted):
            memory, command = controller(controller.start(seen), 0.0, wanted, seen)
            return command.thrust.sum() + command.moment.sum() + memory.push.sum()

        slopes = eqx.filter_jit(eqx.filter_grad(lambda pair: total(*pair)))((controller, seen))
        for leaf in jax.tree.leaves(slopes):
            assert np.isfinite(leaf).all()
