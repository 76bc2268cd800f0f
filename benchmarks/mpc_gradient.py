"""A learning flight's gradient next to differences: `python benchmarks/mpc_gradient.py`.

A closed loop of three vehicles, load and plans on elastic cables, 0.2 s, backwards through all of it.
Some minutes to compile; kept on disk then.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

import skyrig
from skyrig.control.mpc.policy import Policy
from skyrig.runs import learning
from skyrig.scenario.vary import varied

CHANGES = {"controller.name": "mpc-distributed", "loop.control_rate": 50, "controller.gains.sweeps": 1}
DIRECTIONS, STEPS = 8, (1e-4, 1e-5)


def main() -> None:
    scenario = skyrig.load("three-dragonflies-circle").with_overrides(CHANGES)
    row = varied(scenario, learning.usual(scenario), 1, 0)[0]
    controller = learning.planner(scenario.build())
    lesson = learning.lesson(controller, scenario.with_overrides(row).build(), 0.2, np.random.default_rng(0))
    together = jax.tree.map(lambda leaf: leaf[None], lesson)
    policy = jax.tree.map(lambda leaf: leaf[None], Policy.random(*controller.weights, seed=0))
    cost = jax.value_and_grad(lambda it, lessons: learning.mean_cost(controller, it, lessons))
    value = jax.jit(jax.vmap(cost, (0, None)), compiler_options=learning.QUICK)
    found, slope = value(policy, together)
    print(f"cost {float(found[0]):.6e}")
    units = {"vehicle_unit", "load_unit"}
    rng = np.random.default_rng(3)
    for number in range(DIRECTIONS):
        way = jax.tree.map(lambda leaf: jnp.asarray(rng.standard_normal(leaf.shape)), policy)
        still = {name: 0 * getattr(way, name) for name in units}
        way = dataclasses.replace(way, **still)
        along = sum(
            float((a * b).sum()) for a, b in zip(jax.tree.leaves(slope), jax.tree.leaves(way), strict=True)
        )
        for step in STEPS:
            ends = [
                float(value(jax.tree.map(lambda a, b, h=h: a + h * b, policy, way), together)[0][0])
                for h in (step, -step)
            ]
            difference = (ends[0] - ends[1]) / (2 * step)
            print(f"direction {number}: {along:+.6e}, differences at {step:g}: {difference:+.6e}", flush=True)


if __name__ == "__main__":
    main()
