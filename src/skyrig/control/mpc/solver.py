"""Optimal control of one agent over a short horizon, with a fixed bound on the work.

    min  sum_k 1/2 |r_k(x_k, u_k)|^2_w + 1/2 |r_N(x_N)|^2_w      x_{k+1} = f_k(x_k, u_k),   low <= u_k <= high

Costs are weighted squares of residuals, so that a Gauss-Newton model of them is never indefinite. Each turn
linearises along the plan at hand, solves the resulting linear-quadratic problem by a Riccati recursion, the
bounds held by a primal-dual barrier, and takes the best of a few step lengths: the plan so far among them, so
that no turn makes it worse. A plan always obeys its dynamics (it is rolled out) and its bounds; a turn that
gives no number is not taken.

States are arrays of one axis that a problem moves by tangent vectors, so that attitudes are turned and not
added to.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from skyrig.control.mpc.optimality import settled
from skyrig.control.mpc.problem import Bounds, Problem, parted, rolled, total_cost
from skyrig.control.mpc.small import inverse

STEPS = (1.0, 0.5, 0.2, 0.05)
"""Shares of a Newton step that are tried."""
EDGE = 0.05
"""A turn leaves at least this share of the distance that an input had from its bound."""
ROUNDING = 512
"""Costs that differ by so many units in the last place are the same, and the longest of such steps is taken:
near its end the search goes on to where plans, and not only their costs, no longer change."""


class Plan(eqx.Module):
    """States and inputs over the horizon."""

    states: Float[Array, "..."]  # (N+1, nx)
    inputs: Float[Array, "..."]  # (N, nu)
    low_dual: Float[Array, "..."]  # (N, nu)
    """How hard the lower bounds push."""
    high_dual: Float[Array, "..."]  # (N, nu)
    change: Float[Array, "..."]
    """Largest change of an input that the last turn still asked for, as a share of its range: small where
    the plan has converged."""

    @staticmethod
    def of(states: Array, inputs: Array) -> Plan:
        """A first guess."""
        ones = jnp.ones_like(inputs)
        return Plan(states, inputs, ones, ones, jnp.asarray(jnp.inf, inputs.dtype))

    def later(self) -> Plan:
        """The plan as a guess one step later; its last stage is held."""

        def shifted(leaf: Array) -> Array:
            return jnp.concatenate([leaf[1:], leaf[-1:]])

        return Plan(
            states=shifted(self.states),
            inputs=shifted(self.inputs),
            low_dual=shifted(self.low_dual),
            high_dual=shifted(self.high_dual),
            change=self.change,
        )


@partial(jax.named_call, name="optimal_control")
def solve(problem: Problem, bounds: Bounds, start: Array, stages: Any, guess: Plan, turns: int) -> Plan:
    """The best plan found from `start` in so many turns.

    Args:
        problem: What is planned.
        bounds: Of the inputs.
        start: The state now.
        stages: Parameters of every stage and of the end, N + 1 in front of every leaf.
        guess: A plan to begin from: its inputs are rolled out from `start`.
        turns: How many linear-quadratic problems are solved, no more and no less.

    Derivatives are those of the optimum (`skyrig.control.mpc.optimality`), not of the search.
    """
    held = jax.lax.stop_gradient((problem, bounds, start, stages, guess))
    plan = jax.lax.stop_gradient(_found(*held, turns))
    states, inputs = settled(problem, bounds, start, stages, plan.states, plan.inputs)
    return eqx.tree_at(lambda it: (it.states, it.inputs), plan, (states, inputs))


def _found(problem: Problem, bounds: Bounds, start: Array, stages: Any, guess: Plan, turns: int) -> Plan:
    inputs = bounds.inside(guess.inputs)
    states = rolled(problem, start, inputs, stages)
    begun = eqx.tree_at(lambda it: (it.states, it.inputs), guess, (states, inputs))
    cost = total_cost(problem, bounds, states, inputs, stages)

    def turn(carry: tuple[Plan, Array], _: None) -> tuple[tuple[Plan, Array], None]:
        plan, cost = carry
        return _turn(problem, bounds, stages, plan, cost), None

    (plan, _), _ = jax.lax.scan(turn, (begun, cost), None, length=turns)
    return plan


def _turn(problem: Problem, bounds: Bounds, stages: Any, plan: Plan, cost: Array) -> tuple[Plan, Array]:
    feedback, forward = _direction(problem, bounds, stages, plan)

    def tried(share: Array) -> tuple[Array, Array, Array]:
        states, inputs = _taken(problem, bounds, stages, plan, feedback, share * forward)
        return states, inputs, total_cost(problem, bounds, states, inputs, stages)

    states, inputs, costs = jax.vmap(tried)(jnp.asarray(STEPS, cost.dtype))
    costs = jnp.where(jnp.isfinite(costs), costs, jnp.inf)
    same = ROUNDING * jnp.finfo(cost.dtype).eps * jnp.where(jnp.isfinite(cost), jnp.abs(cost), 0.0)
    best = jnp.argmax(costs <= jnp.min(costs) + same)
    better = jnp.isfinite(costs[best]) & (costs[best] <= cost + same)
    change = jnp.max(jnp.abs(forward) / (bounds.high - bounds.low))

    def chosen(new: Array, old: Array) -> Array:
        return jnp.where(better, new[best], old)

    taken = chosen(inputs, plan.inputs)
    step = taken - plan.inputs
    low, high = _duals(bounds, plan, step, taken)
    after = Plan(chosen(states, plan.states), taken, low, high, change)
    return after, jnp.where(better, costs[best], cost)


def _direction(problem: Problem, bounds: Bounds, stages: Any, plan: Plan) -> tuple[Array, Array]:
    """Newton's step for the inputs: feedback of the state's change, and what to add."""
    before, last = parted(stages)
    a, b, cost = jax.vmap(partial(_linear, problem))(plan.states[:-1], plan.inputs, before)
    hxx, hux, huu, gx, gu = cost
    low, high = plan.inputs - bounds.low, bounds.high - plan.inputs
    diagonal = plan.low_dual / low + plan.high_dual / high
    huu = huu + diagonal[:, :, None] * jnp.eye(huu.shape[-1])
    gu = gu + bounds.barrier * (1 / high - 1 / low)

    def step(carry: tuple[Array, Array], now: Any) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        p, g = carry
        a, b, hxx, hux, huu, gx, gu = now
        pa, pb = p @ a, p @ b
        quu, qux = huu + b.T @ pb, hux + b.T @ pa
        both = jnp.concatenate([qux, (gu + b.T @ g)[:, None]], 1)
        solved = -inverse(quu) @ both
        feedback, forward = solved[:, :-1], solved[:, -1]
        p = hxx + a.T @ pa + qux.T @ feedback
        return (0.5 * (p + p.T), gx + a.T @ g + qux.T @ forward), (feedback, forward)

    ends = _final(problem, plan.states[-1], last)
    return jax.lax.scan(step, ends, (a, b, hxx, hux, huu, gx, gu), reverse=True)[1]


def _linear(problem: Problem, x: Array, u: Array, stage: Any) -> tuple[Array, Array, tuple[Array, ...]]:
    """A stage to first order, and its cost to second order (Gauss and Newton's)."""
    size = problem.tangents(x)
    after = problem.advance(x, u, stage)

    def change(d: Array) -> tuple[Array, Array]:
        moved = problem.moved(x, d[:size])
        r, _ = problem.residual(moved, u + d[size:], stage)
        return problem.between(after, problem.advance(moved, u + d[size:], stage)), r

    f, j = jax.jacfwd(change)(jnp.zeros(size + u.shape[0], x.dtype))
    r, w = problem.residual(x, u, stage)
    h, g = (j * w[:, None]).T @ j, j.T @ (w * r)
    return f[:, :size], f[:, size:], (h[:size, :size], h[size:, :size], h[size:, size:], g[:size], g[size:])


def _final(problem: Problem, x: Array, stage: Any) -> tuple[Array, Array]:
    r, w = problem.final(x, stage)
    j = jax.jacfwd(lambda d: problem.final(problem.moved(x, d), stage)[0])(
        jnp.zeros(problem.tangents(x), x.dtype)
    )
    return (j * w[:, None]).T @ j, j.T @ (w * r)


def _taken(
    problem: Problem, bounds: Bounds, stages: Any, plan: Plan, feedback: Array, forward: Array
) -> tuple[Array, Array]:
    """States and inputs after a step, kept inside the bounds."""
    near = bounds.low + EDGE * (plan.inputs - bounds.low)
    far = bounds.high - EDGE * (bounds.high - plan.inputs)

    def step(x: Array, now: Any) -> tuple[Array, tuple[Array, Array]]:
        old, u, k, add, near, far, stage = now
        u = jnp.clip(u + add + k @ problem.between(old, x), near, far)
        after = problem.advance(x, u, stage)
        return after, (after, u)

    before, _ = parted(stages)
    begin = plan.states[0]
    rows = (plan.states[:-1], plan.inputs, feedback, forward, near, far, before)
    _, (states, inputs) = jax.lax.scan(step, begin, rows)
    return jnp.concatenate([begin[None], states]), inputs


def _duals(bounds: Bounds, plan: Plan, step: Array, inputs: Array) -> tuple[Array, Array]:
    """How hard the bounds push after a step, kept near what the barrier would say."""

    def after(dual: Array, gap: Array, new_gap: Array, towards: Array) -> Array:
        wanted = bounds.barrier / gap - dual * towards / gap
        exact = bounds.barrier / new_gap
        return jnp.clip(wanted, 0.1 * exact, 10 * exact)

    low = after(plan.low_dual, plan.inputs - bounds.low, inputs - bounds.low, step)
    high = after(plan.high_dual, bounds.high - plan.inputs, bounds.high - inputs, -step)
    return low, high
