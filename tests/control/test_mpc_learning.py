"""Learning the weights of plans: derivatives of plans and flights, and networks that fly."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

import skyrig
from skyrig.control.mpc.agents import Weights
from skyrig.control.mpc.policy import LEAST, MIDDLE, MOST, Policy
from skyrig.control.mpc.problem import Bounds, Problem
from skyrig.control.mpc.sensitivity import SensitivityStep, gradient, propagated
from skyrig.control.mpc.small import inverse, largest_singular_value
from skyrig.control.mpc.solver import Plan, solve
from skyrig.errors import InputError
from skyrig.runs.learning import QUICK, learn_weights, lesson, mean_cost, planner, with_policy

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


@pytest.mark.parametrize("size", [1, 4, 8])
def test_inverses_are_those_of_lapack_whatever_the_units(size: int) -> None:
    rng = np.random.default_rng(size)
    root = rng.standard_normal((size, size))
    units = np.logspace(0, 6, size)
    matrix = (root @ root.T + 0.1 * np.eye(size)) * units * units[:, None]
    found = inverse(jnp.asarray(matrix)) * units * units[:, None]
    assert np.allclose(found, np.linalg.inv(matrix / units / units[:, None]), rtol=1e-8)


def test_largest_singular_values_and_their_derivatives_are_those_of_lapack() -> None:
    matrix = np.random.default_rng(4).uniform(-1, 1, (30, 12))
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    found, slope = jax.value_and_grad(lambda it: largest_singular_value(it)[0, 0])(jnp.asarray(matrix))
    assert np.isclose(found, values[0], rtol=1e-12)
    assert np.allclose(slope, np.outer(left[:, 0], right[0]), atol=1e-10)


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


def team_of_matrices(count: int, ticks: int, felt: float) -> tuple[SensitivityStep, Array, list[np.ndarray]]:
    """Random derivatives of a team's steps, slopes, weights; vehicles feel the load by `felt`."""
    rng = np.random.default_rng(3)

    def some(*shape: int, size: float = 0.2) -> Array:
        return jnp.asarray(size * rng.standard_normal((ticks, *shape)))

    steps = SensitivityStep(
        own=some(count, 13, 13),
        by_load=some(count, 13, 13, size=felt),
        load=some(13, 13),
        load_by=some(count, 13, 13),
        own_weights=some(count, 13, 28),
        load_on_own=some(count, 13, 24 + count),
        load_weights=some(13, 24 + count),
    )
    slopes = jnp.asarray(rng.standard_normal((ticks + 1, count + 1, 13)))
    return steps, slopes, [np.zeros((count, 28)), np.zeros(24 + count)]


def along(steps: SensitivityStep, slopes: Array, own: Array, cargo: Array) -> Array:
    """The cost of a linear flight with these weights: what reverse mode differentiates."""
    craft, load, cost = jnp.zeros(own.shape[:1] + (13,)), jnp.zeros(13), jnp.zeros(())
    for k, slope in enumerate(slopes[1:]):
        now = SensitivityStep(*(leaf[k] for leaf in steps))
        moved = jnp.einsum("iab,ib->ia", now.own, craft) + now.by_load @ load
        moved += jnp.einsum("iaw,iw->ia", now.own_weights, own) + now.load_on_own @ cargo
        load = now.load @ load + jnp.einsum("iab,ib->a", now.load_by, craft) + now.load_weights @ cargo
        craft = moved
        cost += jnp.sum(slope[:-1] * craft) + slope[-1] @ load
    return cost


@pytest.mark.parametrize(("count", "felt"), [(1, 0.2), (3, 0.0), (3, 0.2)])
def test_propagated_sensitivities_are_those_of_reverse_mode_but_for_what_they_leave_out(count, felt) -> None:
    """One vehicle leaves nothing out; of several, what they do to each other through the load is missing."""
    steps, slopes, weights = team_of_matrices(count, 5, felt)
    whole = jax.grad(lambda own, cargo: along(steps, slopes, own, cargo), (0, 1))(*map(jnp.asarray, weights))
    found = gradient(slopes, propagated(steps, sweeps=12))
    assert np.allclose(found[1], whole[1], rtol=1e-9, atol=1e-12), "the load hears of everybody"
    exact = np.allclose(found[0], whole[0], rtol=1e-9, atol=1e-12)
    assert exact == (count == 1 or felt == 0.0)


@pytest.mark.slow
def test_a_flight_of_a_team_has_the_derivative_that_differences_find() -> None:
    """By the networks' parameters, through bodies, cables, messages and plans that have converged.

    Forwards, which compiles in half the time; one plan's derivatives are the same both ways, see above.
    """
    gains = {"sweeps": 1, "turns": 20, "horizon": 5}
    changes = {"controller": {"name": "mpc-distributed", "gains": gains}, "loop.control_rate": 50}
    built = skyrig.load("three-dragonflies-circle").with_overrides(changes).build()
    controller = planner(built)
    flights = jax.tree.map(lambda leaf: leaf[None], lesson(controller, built, 0.1, np.random.default_rng(0)))
    begun = Policy.random(*controller.weights, seed=0)
    units = {name: getattr(begun, name) for name in ("vehicle_unit", "load_unit")}

    def cost(policy: Policy) -> Array:
        return mean_cost(controller, dataclasses.replace(policy, **units), flights)

    value = jax.jit(lambda it, way: jax.jvp(cost, (it,), (way,)), compiler_options=QUICK)
    rng, step = np.random.default_rng(3), 1e-5  # longer ones cross the kinks of some neurons
    for _ in range(3):
        way = jax.tree.map(lambda leaf: jnp.asarray(rng.standard_normal(leaf.shape)), begun)
        along = float(value(begun, way)[1])
        ends = [jax.tree.map(lambda a, b, h=h: a + h * b, begun, way) for h in (-step, step)]
        back, ahead = (float(value(it, way)[0]) for it in ends)
        assert (ahead - back) / (2 * step) == pytest.approx(along, rel=1e-4)


def test_only_planners_learn_and_networks_fly_their_own_team() -> None:
    circle = skyrig.load("three-dragonflies-circle")
    with pytest.raises(InputError, match="must be mpc-distributed or mpc-central"):
        learn_weights(circle)
    with pytest.raises(InputError, match="iterations must be at least 1, not 0"):
        learn_weights(circle, iterations=0)
    planned = circle.with_overrides({"controller.name": "mpc-distributed", "loop.control_rate": 50}).build()
    with pytest.raises(InputError, match="rig.vehicles.count must be 4"):
        with_policy(planned, policy(4))
    assert with_policy(planned, policy()).policy is not None


@pytest.mark.parametrize("rows", [[1.0, 2.0], [[1.0, 2.0, -0.1]], 3.0])
def test_obstacles_that_are_none_are_refused(rows) -> None:
    gains = {"obstacles": rows}
    changes = {"controller": {"name": "mpc-distributed", "gains": gains}, "loop.control_rate": 50}
    with pytest.raises(InputError, match="gains.obstacles"):
        planner(skyrig.load("three-dragonflies-circle").with_overrides(changes).build())
