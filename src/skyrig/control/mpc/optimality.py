"""How plans change with what they were made from: derivatives of optimal control at its solution.

At the best plan, with costates lambda_k = H_x and the Hamiltonian H_k = l_k + lambda_{k+1}.f_k (the barrier
of the bounds among l_k), H_u = 0. Differentiated along a change of the problem's parameters p, of its stages,
bounds and start, these conditions are those of a linear-quadratic problem,

    min  sum 1/2 dz^T H_zz dz + (H_zp dp).dz       dx_{k+1} = A dx + B du + f_p dp,    dz = (dx, du),

which one Riccati recursion at the solution solves, whatever the way on which the plan was found. What it
solves is linear in dp, so that the same recursion, transposed, serves derivatives backwards. Plans that have
not converged get the derivative that they would have if they had.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from skyrig.control.mpc.problem import Bounds, Problem, parted
from skyrig.control.mpc.small import inverse


def passed(tree: Any, share: Array | None) -> Any:
    """The same numbers, of whose derivative only a share is passed on; all of it if None is said."""
    if share is None:
        return tree

    def part(leaf: Array) -> Array:
        still = jax.lax.stop_gradient(leaf)
        return still + share * (leaf - still) if eqx.is_inexact_array(leaf) else leaf

    return jax.tree.map(part, tree)


@eqx.filter_custom_jvp
def settled(
    problem: Problem, bounds: Bounds, start: Array, stages: Any, states: Array, inputs: Array
) -> tuple[Array, Array]:
    """States and inputs of a plan that was found, with the derivative of the best one."""
    return states, inputs


@settled.def_jvp
def _settled_jvp(primals: Any, tangents: Any) -> Any:
    problem, bounds, _, stages, states, inputs = primals
    before, last = parted(stages)
    size = states.shape[1]

    def end(problem: Problem, stages: Any) -> Array:
        return jax.grad(lambda x: _squares(problem.final(x, parted(stages)[1])))(states[-1])

    def costate(after: Array, now: Any) -> tuple[Array, Array]:
        z, stage = now
        return _conditions(problem, bounds, z, stage, after)[0][:size], after

    z = jnp.concatenate([states[:-1], inputs], axis=1)
    _, costates = jax.lax.scan(costate, end(problem, stages), (z, before), reverse=True)

    def conditions(problem: Problem, bounds: Bounds, stages: Any) -> tuple[Array, Array]:
        each = jax.vmap(lambda *row: _conditions(problem, bounds, *row))
        return each(z, parted(stages)[0], costates)

    def second(z: Array, stage: Any, costate: Array) -> tuple[Array, Array]:
        return jax.jacfwd(lambda z: _conditions(problem, bounds, z, stage, costate))(z)

    factors = _factored(
        *jax.vmap(second)(z, before, costates),
        jax.hessian(lambda x: _squares(problem.final(x, last)))(states[-1]),
    )
    given = (tangents[0], tangents[1], tangents[3])
    _, (slope, offset) = eqx.filter_jvp(conditions, (problem, bounds, stages), given)
    _, final = eqx.filter_jvp(end, (problem, stages), (tangents[0], tangents[3]))
    asked = ((size,), tangents[2]), (z.shape, slope), (states[1:].shape, offset), ((size,), final)
    given = (jnp.zeros(shape, z.dtype) if it is None else it for shape, it in asked)
    return (states, inputs), _solved(factors, *given)


def _conditions(
    problem: Problem, bounds: Bounds, z: Array, stage: Any, costate: Array
) -> tuple[Array, Array]:
    """The Hamiltonian's slope along state and input, and the state that follows."""
    size = costate.shape[0]

    def hamiltonian(z: Array) -> tuple[Array, Array]:
        x, u = z[:size], z[size:]
        after = problem.advance(x, u, stage)
        return _squares(problem.residual(x, u, stage)) + bounds.cost(u) + costate @ after, after

    return jax.grad(hamiltonian, has_aux=True)(z)


def _squares(weighted: tuple[Array, Array]) -> Array:
    r, w = weighted
    return 0.5 * jnp.sum(w * r * r)


def _factored(h: Array, f: Array, end: Array) -> tuple[Array, ...]:
    """Of every stage: A, B, P of what comes after, feedback, and the inverse of the inputs' part."""
    size = end.shape[0]
    a, b = f[:, :, :size], f[:, :, size:]

    def step(p: Array, now: Any) -> tuple[Array, tuple[Array, Array, Array]]:
        a, b, h = now
        inverted = inverse(h[size:, size:] + b.T @ p @ b)
        cross = h[size:, :size] + b.T @ p @ a
        feedback = inverted @ cross
        before = h[:size, :size] + a.T @ p @ a - cross.T @ feedback
        return 0.5 * (before + before.T), (p, feedback, inverted)

    return a, b, *jax.lax.scan(step, end, (a, b, h), reverse=True)[1]


def _solved(
    factors: tuple[Array, ...], begin: Array, slope: Array, offset: Array, final: Array
) -> tuple[Array, Array]:
    """Changes of states and inputs of the linear-quadratic problem."""
    a, b, p, feedback, inverted = factors
    size = begin.shape[0]

    def backward(s: Array, now: Any) -> tuple[Array, Array]:
        a, b, p, feedback, inverted, slope, offset = now
        s = s + p @ offset
        q = slope[size:] + b.T @ s
        return slope[:size] + a.T @ s - feedback.T @ q, -inverted @ q

    def forward(x: Array, now: Any) -> tuple[Array, tuple[Array, Array]]:
        a, b, feedback, add, offset = now
        u = add - feedback @ x
        after = a @ x + b @ u + offset
        return after, (after, u)

    rows = (a, b, p, feedback, inverted, slope, offset)
    _, add = jax.lax.scan(backward, final, rows, reverse=True)
    _, (states, inputs) = jax.lax.scan(forward, begin, (a, b, feedback, add, offset))
    return jnp.concatenate([begin[None], states]), inputs
