"""Learning the weights of plans: derivatives of plans and flights, and networks that fly."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from skyrig.control.mpc.agents import Weights
from skyrig.control.mpc.policy import LEAST, MIDDLE, MOST, Policy
from skyrig.control.mpc.problem import Bounds, Problem
from skyrig.control.mpc.solver import Plan, solve
from skyrig.errors import InputError

STEPS = 6


class Pendulum(Problem):
    """Angle and rate; the input is a moment, bounded, and the weights are what is learned."""

    weights: Array

    def advance(self, x: Array, u: Array, stage: Array) -> Array:
        rate = x[1] + 0.1 * (stage * jnp.sin(x[0]) + u[0] * jnp.cos(0.3 * x[0]))
        return jnp.stack([x[0] + 0.1 * rate, rate])

    def residual(self, x: Array, u: Array, stage: Array) -> tuple[Array, Array]:
        return jnp.concatenate([jnp.sin(x), u]), self.weights[:3]

    def final(self, x: Array, stage: Array) -> tuple[Array, Array]:
        return x, self.weights[3:]


def swung(given: Array) -> Array:
    """A number that depends on the whole plan, by weights (5), bounds (2), start (2) and stages (7)."""
    weights, low, high, start, stages = given[:5], given[5:6], given[6:7], given[7:9], given[9:]
    guess = Plan.of(jnp.tile(start, (STEPS + 1, 1)), jnp.zeros((STEPS, 1)))
    plan = solve(Pendulum(weights), Bounds(low, high, jnp.asarray(1e-2)), start, stages, guess, 60)
    return jnp.sum(jnp.sin(1 + jnp.arange(STEPS)) * plan.inputs[:, 0]) + jnp.sum(plan.states[2] ** 2)


def test_a_plan_has_the_derivative_of_the_best_plan_while_a_bound_is_at_work() -> None:
    given = jnp.array([4.0, 1, 0.3, 20, 5, -0.9, 0.8, 0.7, -0.4, *(2.0 + 0.1 * np.arange(STEPS + 1))])
    both = jax.jit(lambda it: (jax.grad(swung)(it), jax.jacfwd(swung)(it)))
    backwards, forwards = both(given)
    shift = 1e-2 * np.eye(len(given))
    ahead, back, far, behind = (jax.jit(jax.vmap(swung))(given + k * shift) for k in (1, -1, 2, -2))
    differences = (8 * (ahead - back) - (far - behind)) / 12e-2
    assert np.abs(differences).min() > 0 or np.count_nonzero(differences) >= len(given) - 1
    np.testing.assert_allclose(backwards, forwards, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(backwards, differences, rtol=1e-4, atol=1e-6 * np.abs(differences).max())


def policy(count: int = 3, seed: int = 0, spread: float = 1.0) -> Policy:
    rng = np.random.default_rng(1)
    own = Weights(*(jnp.asarray(rng.uniform(1, 9, (count, k))) for k in (12, 12, 4)))
    return Policy.random(
        own, Weights(*(jnp.asarray(rng.uniform(1, 9, k)) for k in (12, 12, count))), seed, spread
    )


def test_networks_answer_gently_and_within_bounds() -> None:
    ready = policy(spread=3.0).normalised()
    for layers in (ready.vehicles, ready.load):
        for matrix, _ in layers:
            assert np.allclose(np.linalg.norm(matrix, 2, axis=(-2, -1)), 1)
    rng = np.random.default_rng(2)
    one, other = (
        ready.weights(*(jnp.asarray(100 * rng.standard_normal(s)) for s in ((3, 6), 12))) for _ in "ab"
    )
    for own, load in (one, other):
        share = np.concatenate([own.stage, own.final, own.effort], 1) / ready.vehicle_unit
        assert share.min() >= LEAST and share.max() <= MOST and share.std() > 10
        assert np.shape(load.effort) == (3,)
    flat = policy(spread=0.0).weights(jnp.zeros((3, 6)), jnp.zeros(12))[0]
    assert np.allclose(
        np.concatenate([flat.stage, flat.final], 1) / policy().vehicle_unit[:, :24], MIDDLE, rtol=0.3
    )


def test_networks_are_written_and_read_whole(tmp_path) -> None:
    file = tmp_path / "policy.npz"
    file.write_bytes(policy().content())
    for a, b in zip(jax.tree.leaves(policy()), jax.tree.leaves(Policy.read(file)), strict=True):
        assert np.array_equal(a, b)
    file.write_bytes(policy().content()[:200])
    with pytest.raises(InputError, match="cannot be read as networks of weights"):
        Policy.read(file)
