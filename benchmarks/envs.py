"""How many environment steps a second, policy excluded: `python benchmarks/envs.py`.

An environment step is one control period: 20 ms, ten physics steps of 2 ms, events on, starts included.
Actions are drawn beforehand. Wall time counts here, since the claim is about two cores; CPU time stands
beside it. The fastest of the rounds is shown as well as the median: other work on the machine only slows.
"""

from __future__ import annotations

import os
import statistics
import time

import jax
import numpy as np
from rich.console import Console
from rich.table import Table

from skyrig.envs import Many, build

FLOWN, ROUNDS = 102_400, 7


def measure(step, actions: list[np.ndarray]) -> tuple[float, float, float]:
    """Median and best steps a second by wall time, and median by CPU time, of one batch's `step`."""
    count = actions[0].shape[0]
    steps = min(max(FLOWN // count, 10), 500)
    for action in actions[:10]:
        step(action)
    walls, cpus = [], []
    for _ in range(ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        for k in range(steps):
            out = step(actions[k % len(actions)])
        jax.block_until_ready(out)
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    flown = count * steps
    return flown / statistics.median(walls), flown / min(walls), flown / statistics.median(cpus)


def main() -> None:
    console = Console()
    table = Table(title="Environment steps a second")
    for column in ("task", "flights", "threads", "median", "best", "a CPU second", "events a step"):
        table.add_column(column, justify="left" if column == "task" else "right")
    rng = np.random.default_rng(0)
    cases = (
        ("hover", 1024, 2, "next"),
        ("hover", 1024, 1, "next"),
        ("hover", 16384, 2, "next"),
        ("recover", 1024, 2, "next"),
        ("carry", 1024, 2, "next"),
        ("hover", 1, 1, "next"),
    )
    for task, count, threads, mode in cases:
        env = build(task)
        many = Many(env, count, mode, threads)
        many.reset(np.asarray(jax.random.split(jax.random.PRNGKey(0), count)))
        size = env.count * env.action_size
        actions = [0.3 * rng.standard_normal((count, size), dtype=np.float32) for _ in range(50)]
        events = []

        def step(action, many=many, events=events):
            out = many.step(action)
            events.append(out.info["events"])
            return out

        median, best, cpu = measure(step, actions)
        rate = float(np.mean([np.mean(each) for each in events]))
        table.add_row(
            task, f"{count:,}", str(threads), f"{median:,.0f}", f"{best:,.0f}", f"{cpu:,.0f}", f"{rate:.4f}"
        )
        many.close()
    console.print(table)
    console.print(f"JAX {jax.__version__}, {os.cpu_count()} cores, float64 physics.")


if __name__ == "__main__":
    main()
