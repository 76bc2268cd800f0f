"""What we claim about many flights at once, measured here and now: `python benchmarks/batches.py`.

Three dragonflies on the triangle, closed loop, 2 ms steps and 100 Hz control, flown through `skyrig.fly_many`
(drawing, checking, building and summing up included), against `mujoco.rollout` of the same rig at 1 ms with
the Euler integrator and no controller. CPU time of all threads; contenders take turns.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import time
from collections.abc import Callable

import jax
import mujoco
import mujoco.rollout
import mujoco_rig
import numpy as np
from rich.console import Console
from rich.table import Table

from skyrig import fly_many, load
from skyrig.rigs import trim

console = Console()
KINDS = {
    "noise": {"noise.position": "uniform(0, 0.002)"},
    "noise and gains": {
        "noise.position": "uniform(0, 0.002)",
        "controller.gains.damping": "uniform(0.8, 1.0)",
    },
    "payload and a cable": {
        "rig.payload.mass": "uniform(0.2, 0.25)",
        "rig.cables[0].length": "uniform(0.45, 0.5)",
    },
}


def spent(call: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall seconds of a call."""
    cpu, wall = time.process_time(), time.perf_counter()
    call()
    return time.process_time() - cpu, time.perf_counter() - wall


def rollout(flights: int, seconds: float) -> Callable[[], object]:
    """MuJoCo's own batches: thrusts held, 1 ms, Euler, all cores."""
    model = mujoco_rig.model(1e-3)
    data = [mujoco.MjData(model) for _ in range(os.cpu_count() or 1)]
    steps = round(seconds / 1e-3)
    state = np.zeros((flights, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    mujoco.mj_getState(model, data[0], state[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state[:] = state[0]
    built = load("three-dragonflies-circle").build()
    thrust = trim(built.rig, [0.0, 0.0, 5.0]).thrust
    control = np.broadcast_to(thrust, (flights, steps, 3))
    return lambda: mujoco.rollout.rollout(model, data, state, control, skip_checks=False)


def per_second(rounds: int, seconds: float) -> None:
    """Simulated seconds per CPU second, 1,024 flights, and MuJoCo's."""
    scenario = load("three-dragonflies-circle").with_overrides({"duration": seconds})
    theirs = 64
    calls: dict[str, tuple[int, Callable[[], object]]] = {
        f"skyrig.fly_many, 1,024 flights, varying {name}": (
            1024,
            lambda how=how: fly_many(scenario, 1024, how, seed=1),
        )
        for name, how in KINDS.items()
    }
    calls["mujoco.rollout, 1 ms, Euler, no controller"] = (theirs, rollout(theirs, seconds))
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _, call in calls.values():
        call()
    for _ in range(rounds):
        for name, (flights, call) in calls.items():
            taken[name].append(spent(call)[0] / flights)
    each = {name: statistics.median(values) for name, values in taken.items()}
    table = Table(title=f"Three vehicles on a rigid payload, {seconds:g} s")
    for column in ("who", "CPU ms a flight", "simulated s per CPU s", "times mujoco.rollout"):
        table.add_column(column, justify="left" if column == "who" else "right")
    base = list(each.values())[-1]
    for name, cost in each.items():
        table.add_row(name, f"{cost * 1e3:.2f}", f"{seconds / cost:,.0f}", f"{base / cost:.1f}")
    console.print(table)


def growth(seconds: float) -> None:
    """Cost of a flight-step of 16,384 flights against 1,024."""
    scenario = load("three-dragonflies-circle").with_overrides({"duration": seconds})
    how = KINDS["noise and gains"]
    fly_many(scenario, 1024, how, seed=1)
    small = statistics.median(
        spent(lambda: fly_many(scenario, 1024, how, seed=1))[0] / 1024 for _ in range(3)
    )
    large = spent(lambda: fly_many(scenario, 16384, how, seed=1))[0] / 16384
    console.print(
        f"A flight of {seconds:g} s: {small * 1e3:.2f} CPU ms in 1,024, {large * 1e3:.2f} in 16,384: "
        f"{large / small:.2f} times."
    )


def cores(seconds: float) -> None:
    """Wall time of 1,024 flights on one thread and on all cores, in turns."""
    scenario = load("three-dragonflies-circle").with_overrides({"duration": seconds})
    for name, how in KINDS.items():
        taken: dict[int | None, list[float]] = {1: [], None: []}
        for _ in range(3):
            for threads, values in taken.items():
                values.append(spent(lambda t=threads, v=how: fly_many(scenario, 1024, v, 1, threads=t))[1])
        one, all_of_them = (statistics.median(values) for values in taken.values())
        console.print(
            f"1,024 flights of {seconds:g} s, varying {name}: {one:.1f} s wall on one thread, "
            f"{all_of_them:.1f} s on {os.cpu_count()}: {one / all_of_them:.2f} times."
        )


def memory(flights: int) -> None:
    """The most memory that many flights of 10 s take, on the rig the first claim is about."""
    scenario = load("three-dragonflies-circle").with_overrides({"duration": 10.0})
    cpu, wall = spent(lambda: fly_many(scenario, flights, KINDS["noise and gains"], seed=1))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    console.print(
        f"{flights:,} flights of 10 s: {most:,.0f} MB at most, {cpu:,.0f} s CPU, {wall:,.0f} s wall."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", type=int, help="measure only the memory of so many flights")
    given = parser.parse_args()
    if given.memory:
        memory(given.memory)
        raise SystemExit
    versions = f"MuJoCo {mujoco.__version__}, JAX {jax.__version__}, {os.cpu_count()} cores"
    console.print(f"{versions}; CPU time, medians of {given.rounds}.")
    per_second(given.rounds, given.seconds)
    growth(min(given.seconds, 2.0))
    cores(given.seconds)
