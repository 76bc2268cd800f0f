"""Derivatives of flights that plans fly, next to others: `python benchmarks/mpc_gradient.py [PART...]`.

differences  a closed loop of three vehicles, load and plans on elastic cables, 0.2 s, backwards through all
             of it to the networks' parameters, and central differences along random directions of all of
             them. Plans take 20 turns, since the derivative is that of plans that have converged. Steps are
             short because the networks' neurons have kinks: a longer one crosses some.
propagated   planned steps, one after the other: sensitivities that agents hand on to each other (DSP) and
             reverse mode through the same steps, by the weights of every agent.

Some minutes to compile; kept on disk then.
"""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

import skyrig
from skyrig.control.mpc.distributed import DistributedMpc
from skyrig.control.mpc.elastic_flight import Lesson, cost
from skyrig.control.mpc.policy import Policy
from skyrig.control.mpc.sensitivity import flat, gradient, planned_step, propagated, step_of
from skyrig.runs import learning
from skyrig.scenario.vary import varied

CHANGES = {
    "controller.name": "mpc-distributed",
    "loop.control_rate": 50,
    "controller.gains": {"sweeps": 1, "turns": 20},
}
SECONDS, DIRECTIONS, STEPS, SWEEPS = 0.2, 8, (1e-3, 1e-4, 1e-5), 8


def problem() -> tuple[DistributedMpc, Lesson]:
    """A controller and a short flight on the circle."""
    scenario = skyrig.load("three-dragonflies-circle").with_overrides(CHANGES)
    row = varied(scenario, learning.usual(scenario), 1, 0)[0]
    controller = learning.planner(scenario.build())
    built = scenario.with_overrides(row).build()
    return controller, learning.lesson(controller, built, SECONDS, np.random.default_rng(0))


def differences(controller: DistributedMpc, lesson: Lesson) -> None:
    """Reverse mode by the networks' parameters, next to differences."""
    together = jax.tree.map(lambda leaf: leaf[None], lesson)
    policy = Policy.random(*controller.weights, seed=0)
    slope_of = jax.jit(
        jax.value_and_grad(lambda it: learning.mean_cost(controller, it, together)),
        compiler_options=learning.QUICK,
    )
    found, slope = slope_of(policy)
    print(f"cost {float(found):.6e}")
    print(
        f"| direction | derivative | {' | '.join(f'off at {it:g}' for it in STEPS)} |\n|---|---|---|---|---|"
    )
    rng, worst = np.random.default_rng(3), np.zeros(len(STEPS))
    for number in range(DIRECTIONS):
        way = jax.tree.map(lambda leaf: jnp.asarray(rng.standard_normal(leaf.shape)), policy)
        still = {name: 0 * getattr(way, name) for name in ("vehicle_unit", "load_unit")}
        way = dataclasses.replace(way, **still)
        pairs = zip(jax.tree.leaves(slope), jax.tree.leaves(way), strict=True)
        along = sum(float((a * b).sum()) for a, b in pairs)
        ends = np.array([[slope_of(_moved(policy, way, side * h))[0] for side in (-1, 1)] for h in STEPS])
        differences = (ends[:, 1] - ends[:, 0]) / (2 * np.array(STEPS))
        off = np.abs(differences / along - 1)
        print(f"| {number} | {along:+.6e} | {' | '.join(f'{it:.1e}' for it in off)} |", flush=True)
        worst = np.maximum(worst, off)
    print(f"| largest | | {' | '.join(f'{it:.1e}' for it in worst)} |")


def _moved(policy: Policy, way: Policy, length: float) -> Policy:
    return jax.tree.map(lambda a, b: a + length * b, policy, way)


def propagation(controller: DistributedMpc, lesson: Lesson) -> None:
    """Sensitivities handed on, next to reverse mode through the same steps."""
    count = controller.mass.shape[0]
    length, still = controller.length, jnp.zeros((count + 1, 6))
    weights = controller.weights
    team = controller.team(length, still, weights)
    begin = jnp.concatenate([lesson.vehicles, lesson.load[None]])
    guess = controller.begun(lesson.vehicles.T, lesson.load, length).plans
    deaf = jnp.zeros(count, bool)

    def flight(own: Array, cargo: Array) -> tuple[Array, Any]:
        def tick(carry: Any, now: Any) -> tuple[Any, Any]:
            states, plans, total = carry
            seen = jax.lax.stop_gradient(states)
            aims = (now.vehicle_aims, now.load_aim)
            plans, _ = team.plan(seen[:-1], seen[-1], *aims, plans, deaf)
            plans = jax.lax.stop_gradient(plans)
            after = planned_step(team, own, cargo, states, aims, plans)
            return (after, plans.later(), total + cost(now, after)), (states, plans, after)

        (_, _, total), rows = jax.lax.scan(tick, (begin, guess, jnp.zeros(())), lesson.wanted)
        return total, rows

    rows_of_weights = flat(*weights)
    whole, (states, plans, after) = jax.jit(
        jax.grad(flight, (0, 1), has_aux=True), compiler_options=learning.QUICK
    )(*rows_of_weights)

    def stepped(now: Any, states: Array, plans: Any) -> Any:
        return step_of(team, *rows_of_weights, states, (now.vehicle_aims, now.load_aim), plans)

    steps, by_state = jax.jit(
        lambda *rows: jax.lax.map(lambda row: stepped(*row), rows), compiler_options=learning.QUICK
    )(lesson.wanted, states, plans)
    slopes = jax.vmap(jax.grad(cost, 1))(lesson.wanted, after)
    slopes = jnp.concatenate([jnp.zeros_like(slopes[:1]), slopes])
    print("| exchanges | vehicles' weights: relative difference, cosine | load's weights |\n|---|---|---|")

    def show(label: str, found: tuple[Array, Array]) -> None:
        print(f"| {label} | {_beside(found[0], whole[0])} | {_beside(found[1], whole[1])} |", flush=True)

    for sweeps in (1, 2, 3, 5, SWEEPS):
        show(str(sweeps), gradient(slopes, propagated(steps, sweeps)))
    show("none, uncoupled", gradient(slopes, propagated(steps, SWEEPS, coupled=False)))
    show("nothing left out", _everything(steps, by_state, slopes))


def _everything(steps: Any, by_state: Array, slopes: Array) -> tuple[Array, Array]:
    """The gradient by the whole derivatives of the same steps, vehicles by each other among them."""
    count = by_state.shape[1] - 1
    back, own, cargo = jnp.zeros((count + 1, 13)), 0.0, 0.0
    for k in reversed(range(len(by_state))):
        back = back + slopes[k + 1]
        own = own + jnp.einsum("is,isw->iw", back[:-1], steps.own_weights[k])
        cargo = cargo + jnp.einsum("is,isw->w", back[:-1], steps.load_on_own[k])
        cargo = cargo + back[-1] @ steps.load_weights[k]
        back = jnp.einsum("as,asbt->bt", back, by_state[k])
    return jnp.asarray(own), jnp.asarray(cargo)


def _beside(found: Array, whole: Array) -> str:
    a, b = np.asarray(found).ravel(), np.asarray(whole).ravel()
    apart = np.linalg.norm(a - b) / np.linalg.norm(b)
    return f"{apart:.1e}, {a @ b / np.linalg.norm(a) / np.linalg.norm(b):.6f}"


PARTS = {"differences": differences, "propagated": propagation}


def main() -> None:
    """Print the parts asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    given = problem()
    for part in parser.parse_args().parts:
        print(f"\n{part}\n")
        PARTS[part](*given)


if __name__ == "__main__":
    main()
