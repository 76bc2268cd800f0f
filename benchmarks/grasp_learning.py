"""Learn to grasp with rods, and try what was learned on elements.

    python benchmarks/grasp_learning.py [generations [flights]]

A policy of six numbers is learned by the cross-entropy method in the environment `grasp`, whose fingers are
rods: each generation flies `flights` candidates side by side, keeps the best quarter, and draws anew around
them. What comes out flies from starts that it has not seen, with rods and with the elements they stand for.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from skyrig.envs import Environment, build
from skyrig.scenario import load

NAMES = ("height (m)", "stiffness", "damping", "close within (m)", "closed below (dm)", "lift")
BEGIN = np.array([0.25, 1.0, 0.5, 0.02, 1.4, 0.5])
"""Hovers too high and never closes."""
SPREAD = np.array([0.06, 0.6, 0.4, 0.03, 0.2, 0.4])
REACH = 0.35
"""From the object to the vehicle in hover (m): observations have it as their unit."""
TRIALS = 8


def policy(numbers: jax.Array, seen: jax.Array) -> jax.Array:
    """An action from what is seen: come down, close when near, and lift what is held.

    Args:
        numbers: (6,) `NAMES`.
        seen: (38,) the observation.
    """
    height, stiffness, damping, near, held, lift = numbers
    apart, speed, inner = -REACH * seen[35:38], seen[20:23], seen[18]
    miss = jnp.array([0.0, 0.0, 1.0]) * height - apart
    close = jnp.where(jnp.sqrt((miss * miss).sum()) < near, 1.0, -1.0)
    closing = inner < 1.75  # once begun it goes on
    has = inner < held
    way = jnp.where(has, lift * seen[:3], stiffness * miss)
    return jnp.append(5 * way - damping * speed, jnp.where(closing, 1.0, close))


@eqx.filter_jit
def flown(env: Environment, numbers: jax.Array, keys: jax.Array, periods: int) -> tuple[Any, Any]:
    """Summed rewards and how high the object ends (m), of one flight for each column."""
    state, seen = env.reset(keys)

    def one(now: Any, _: Any) -> Any:
        state, seen, total, over = now
        action = jax.vmap(policy, in_axes=-1, out_axes=-1)(numbers, seen)
        state, seen, reward, failed, _, _ = env.step(state, action[:, None])
        total = total + jnp.where(over, 0.0, reward)
        return (state, seen, total, over | failed), None

    none = jnp.zeros(keys.shape[1])
    (state, _, total, over), _ = jax.lax.scan(one, (state, seen, none, none > 0), length=periods)
    height = state.rig.motion.payload.position[2, 0] - env.task.place[2]
    return total, jnp.where(over, 0.0, height)


def learned(env: Environment, generations: int, flights: int, periods: int) -> np.ndarray:
    """The numbers that the cross-entropy method ends at."""
    random = np.random.default_rng(0)
    middle, spread = BEGIN.copy(), SPREAD.copy()
    for turn in range(generations):
        drawn = middle[:, None] + spread[:, None] * random.normal(size=(len(BEGIN), flights))
        drawn = np.maximum(drawn, 0.0)
        keys = jax.random.split(jax.random.PRNGKey(turn), flights).T
        began = time.process_time()
        total, height = (np.asarray(it) for it in flown(env, jnp.asarray(drawn), keys, periods))
        best = drawn[:, np.argsort(total)[-max(flights // 4, 2) :]]
        middle, spread = best.mean(1), best.std(1) + 0.02 * SPREAD
        print(
            f"generation {turn + 1}: reward {total.mean():.0f} on average, {total.max():.0f} at best, "
            f"{(height > 0.15).sum()} of {flights} lifted, {time.process_time() - began:.0f} s",
            flush=True,
        )
    return middle


def main() -> None:
    """Learn, and print how often the object is lifted by half of its way at least."""
    generations, flights = (int(it) for it in [*sys.argv[1:], "8", "24"][:2])
    rods = build("grasp", seconds=3.5)
    periods = int(rods.limit)
    numbers = learned(rods, generations, flights, periods)
    print(", ".join(f"{name} {value:.3g}" for name, value in zip(NAMES, numbers, strict=True)))
    keys = jax.random.split(jax.random.PRNGKey(999), TRIALS).T
    same = jnp.repeat(jnp.asarray(numbers)[:, None], TRIALS, axis=1)
    for word, env in (("rods", rods), ("elements", build("grasp", load("soft-grasp"), seconds=3.5))):
        began = time.process_time()
        height = np.asarray(flown(env, same, keys, periods)[1])
        spent = time.process_time() - began
        print(
            f"{word}: {(height > 0.15).sum()} of {TRIALS} lifted, heights {height.round(3)} m, {spent:.0f} s"
        )


if __name__ == "__main__":
    main()
