"""Derivatives through flights, forward and reverse, against central differences."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rigging import drop, triangle

from skyrig import Poke, Slung, rollout, trim
from skyrig.rigs import Cable, Winch
from skyrig.vehicles import airframe, payload

pytestmark = pytest.mark.slow


def central(function, x, h):
    return (function(x + h) - function(x - h)) / (2 * h)


def smooth_cost(scale):
    """Payload's place after half a second of a taut flight, as a function of thrust, masses and length."""
    rig = triangle()
    hover = trim(rig, [0, 0, 5.0])
    rig = eqx.tree_at(lambda r: r.payload_mass, rig, rig.payload_mass * scale[0])
    rig = eqx.tree_at(lambda r: r.mass, rig, rig.mass.at[1].multiply(scale[1]))
    thrust = jnp.asarray(hover.thrust) * jnp.stack([scale[2], 1.0, 1.1])
    moment = jnp.zeros((3, 3)).at[0, 1].set(2e-4 * scale[3])
    flight = rollout(rig, hover.state, [0, 0.5], thrust, moment)
    return (
        jnp.sum(flight.payload.position[-1] ** 2) + flight.tension[-1, 0] + flight.vehicles.attitude[-1, 0, 1]
    )


def test_smooth_flights_differentiate_exactly():
    scale = jnp.array([1.0, 1.02, 1.03, 1.0])
    reverse = jax.grad(smooth_cost)(scale)
    forward = jax.jacfwd(smooth_cost)(scale)
    np.testing.assert_allclose(forward, reverse, rtol=1e-9)
    for k in range(4):
        slope = central(lambda x, k=k: float(smooth_cost(scale.at[k].set(x))), float(scale[k]), 1e-4)
        np.testing.assert_allclose(reverse[k], slope, rtol=1e-6)


def agree(cost, x, kinds):
    """Reverse mode against central differences over steps that keep the sequence of events."""
    value, flight = cost(x)
    assert [event.kind for event in flight.events if event.kind != "taut"][: len(kinds)] == kinds
    slope = jax.grad(lambda x: cost(x)[0])(x)
    for k in range(len(x)):
        difference = central(lambda v, k=k: float(cost(x.at[k].set(v))[0]), float(x[k]), 1e-5)
        np.testing.assert_allclose(slope[k], difference, rtol=1e-6)
    return slope, flight


def impact_cost(x, restitution=0.0, duration=0.4):
    """Place of the payload of Fig. 16 after the impact, by thrust, mass, length and place."""
    rig, state, thrust = drop()
    rig = eqx.tree_at(
        lambda r: (r.payload_mass, r.restitution), rig, (rig.payload_mass * x[1], jnp.asarray(restitution))
    )
    state = eqx.tree_at(lambda s: s.mode.length, state, state.length * x[2])
    state = eqx.tree_at(
        lambda s: s.payload.position, state, state.payload.position + jnp.array([1.0, 0, 0]) * x[3]
    )
    flight = rollout(rig, state, [0, duration], jnp.asarray(thrust) * x[0])
    place = flight.payload.position[-1] @ jnp.array([1.0, 0.0, 2.0])
    return place + 0.1 * flight.vehicles.velocity[-1, 0, 2], flight


def test_one_impact_differentiates():
    x = jnp.array([1.0, 1.0, 1.0, 0.0])
    reverse, flight = agree(impact_cost, x, ["impact"])
    assert len(flight.events) == 1
    np.testing.assert_allclose(jax.jacfwd(lambda x: impact_cost(x)[0])(x), reverse, rtol=1e-9)


def test_bounces_differentiate_to_rest():
    # fourteen impacts, geometrically faster, and the cable taut in the end
    _, flight = agree(lambda x: impact_cost(x, 0.4, 0.6), jnp.array([1.0, 1.0, 1.0, 0.0]), ["impact"] * 10)
    assert flight.taut[-1, 0]


@pytest.mark.parametrize("restitution", [0.0, 0.3])
def test_a_poke_that_loosens_a_cable_differentiates(restitution):
    def cost(x):
        rig = triangle()
        hover = trim(rig, [0, 0, 5.0])
        changed = (rig.payload_mass * x[1], jnp.asarray(restitution))
        rig = eqx.tree_at(lambda r: (r.payload_mass, r.restitution), rig, changed)
        thrust = jnp.asarray(hover.thrust) * jnp.stack([x[0], 1.0, 1.05])
        poke = Poke(0.1, [0, 0, 0.15], [0.3, 0, 0])
        flight = rollout(rig, hover.state, [0, 0.6], thrust, happenings=[poke])
        place = flight.payload.position[-1] @ jnp.array([1.0, 0.5, 2.0])
        return place + 0.1 * flight.vehicles.velocity[-1, 0, 2], flight

    _, flight = agree(cost, jnp.array([1.03, 1.0]), ["poke", "slack", "impact"])
    bounces = [event for event in flight.events if event.kind == "impact"]
    assert flight.taut[-1].all() and (len(bounces) > 5) == (restitution > 0)


def test_the_time_of_an_impact_differentiates():
    def when(length):
        rig, state, thrust = drop()
        state = eqx.tree_at(lambda s: s.mode.length, state, jnp.reshape(length, (1,)))
        return rollout(rig, state, [0, 0.3], jnp.asarray(thrust)).event_times[0]

    # |r|^2 = l^2 with r_z = 0.3 cos 30 + g t^2 / 2: dt/dl = l / (r_z g t)
    depth = np.sqrt(0.25 - 0.15**2)
    time = np.sqrt(2 * (depth - 0.3 * np.cos(np.pi / 6)) / 9.81)
    np.testing.assert_allclose(jax.grad(when)(0.5), 0.5 / (depth * 9.81 * time), rtol=1e-8)


def test_no_nan_at_slack_cables_and_zero_lengths():
    rig = Slung.build([airframe("dragonfly")] * 2, payload("point-mass"), [Cable(1.0), Cable(1.0)])

    def cost(thrust):
        # the first vehicle sits on the payload: its span has no direction
        state = rig.state([0, 0, 5.0], [[0, 0, 5.0], [0.3, 0, 5.2]])
        flight = rollout(rig, state, [0, 0.02], thrust)
        return jnp.sum(flight.vehicles.position**2) + jnp.sum(flight.payload.position**2)

    slope = jax.grad(cost)(jnp.array([2.5, 2.5]))
    assert np.all(np.isfinite(slope))
    np.testing.assert_allclose(
        slope[1], central(lambda x: float(cost(jnp.array([2.5, x]))), 2.5, 1e-4), rtol=1e-6
    )


def test_pokes_and_winches_differentiate():
    load = payload("triangle")
    cables = [Cable(1.0, p, winch=Winch(0.5, 2.0, 0.5, 1.5)) for p in load.attachment_points("cable", 3)]
    rig = Slung.build([airframe("dragonfly")] * 3, load, cables)
    hover = trim(rig, [0, 0, 5.0])

    def cost(x):
        flight = rollout(
            rig,
            hover.state,
            [0, 0.1, 0.35],
            jnp.asarray(hover.thrust) * x[0],
            winch=jnp.array([0.0, 0.1, 0.2]) * x[1],
            happenings=[Poke(0.05, [0.05, 0.02, -0.02], [0.1, 0.05, 0.0])],
        )
        return jnp.sum(flight.payload.position[-1] ** 2) + jnp.sum(flight.cable_length[-1])

    x = jnp.array([1.02, 1.0])
    reverse = jax.grad(cost)(x)
    for k in range(2):
        slope = central(lambda v, k=k: float(cost(x.at[k].set(v))), float(x[k]), 1e-5)
        np.testing.assert_allclose(reverse[k], slope, rtol=1e-5)
